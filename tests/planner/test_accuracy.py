"""The planner beside published measurements: the bounds that it promises to keep."""

from pathlib import Path

import pytest

from dpd.planner.accuracy import (
    BLOG_CONCURRENCY,
    blog_changes,
    blog_comparisons,
    mean_error,
    nim_comparisons,
)
from dpd.planner.accuracy_page import page

PAGE = Path(__file__).parents[2] / "docs" / "planner-accuracy.md"


@pytest.mark.parametrize("row", nim_comparisons(), ids=lambda row: f"{row.case}-{row.quantity}")
def test_colocated_rows_are_within_their_bounds(row: object) -> None:
    """ITL and throughput within 10 %, TTFT within 35 % below the knee."""
    concurrency = int(row.case.rsplit(" ", 1)[1])
    if row.quantity == "TTFT ms":
        if concurrency < 100:
            assert abs(row.error) <= 0.35
    else:
        assert abs(row.error) <= 0.10


def test_the_knee_is_at_the_right_concurrency() -> None:
    """Time to first token jumps between 50 and 100, not before, as it does in the measurement."""
    ttft = {r.case: (r.ours, r.measured) for r in nim_comparisons() if r.quantity == "TTFT ms"}
    (ours_50, measured_50), (ours_100, measured_100) = (
        next(value for case, value in ttft.items() if case.endswith(f" {users}"))
        for users in (50, 100)
    )
    assert ours_100 / ours_50 > 5
    assert measured_100 / measured_50 > 5
    assert ours_50 < 1000


def test_the_blog_is_met_on_average() -> None:
    """Direction of every quantity, and a mean error of at most 8 points."""
    rows = blog_comparisons()
    assert all(row.ours * row.measured > 0 for row in rows)
    assert mean_error([row.points for row in rows]) <= 8


@pytest.mark.parametrize("gpu", ["H100", "H200"])
def test_the_gain_in_inter_token_latency_grows_with_concurrency(gpu: str) -> None:
    """The order of the blog's points."""
    gains = [-blog_changes(gpu)[users]["itl"] for users in BLOG_CONCURRENCY]
    assert gains == sorted(gains)


def test_eight_thousand_tokens_cross_in_single_digit_milliseconds() -> None:
    """Row 8 of the published numbers, Llama 70B over 3,200 Gbit/s."""
    from dpd.catalog.models import model_architectures
    from dpd.planner.accuracy import MODEL
    from dpd.planner.constants import default_constants
    from dpd.planner.memory import kv_bytes_per_token_per_rank, kv_transfer_bytes_per_rank

    size = kv_bytes_per_token_per_rank(model_architectures()[MODEL], tensor_parallel=8)
    amount = kv_transfer_bytes_per_rank(8000, kv_bytes_per_token=size)
    assert 0.001 < amount / (50e9 * default_constants().efa_efficiency) < 0.010


def test_the_page_in_the_repository_is_what_the_planner_computes() -> None:
    """Run `make planner-accuracy` after a change of the model."""
    assert PAGE.read_text(encoding="utf-8") == page()
