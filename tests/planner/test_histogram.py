"""Streaming percentiles beside exact ones."""

import numpy as np
import pytest

from dpd.planner.simulation.histogram import BUCKETS, bucket, percentile


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.99])
def test_percentiles_are_exact_to_one_bucket(share: float) -> None:
    """Within 0.8 % of the exact percentile, over five orders of magnitude."""
    values = np.exp(np.random.default_rng(1).normal(-3, 2, 20_000))
    histogram = np.zeros(BUCKETS, dtype=np.int64)
    for value in values:
        histogram[bucket(float(value))] += 1
    assert percentile(histogram, share) == pytest.approx(np.quantile(values, share), rel=0.008)


def test_buckets_rise_with_the_value() -> None:
    """A longer time is never in a lower bucket, and out of range is the outermost one."""
    times = [0.0, 1e-9, 1e-6, 0.0299, 0.03, 0.0301, 1.0, 59.0, 3600.0, 1e9]
    buckets = [bucket(time) for time in times]
    assert buckets == sorted(buckets)
    assert buckets[0] == 0
    assert buckets[-1] == BUCKETS - 1


def test_no_values_have_no_percentile() -> None:
    """An empty histogram says 0."""
    assert percentile(np.zeros(BUCKETS, dtype=np.int64), 0.5) == 0
