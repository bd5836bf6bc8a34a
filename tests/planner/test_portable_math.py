"""Portable functions beside the library's."""

from statistics import NormalDist

import numpy as np

from dpd.planner import portable_math


def test_log_and_exp_agree_with_the_library() -> None:
    """To a few units in the last place."""
    values = np.exp(np.linspace(-40, 5, 4001))
    assert np.allclose(portable_math.log(values), np.log(values), rtol=1e-14, atol=1e-15)
    powers = np.linspace(-30, 30, 4001)
    assert np.allclose(portable_math.exp(powers), np.exp(powers), rtol=1e-14)


def test_normal_quantile_agrees_with_the_library() -> None:
    """To the approximation's 1.2e-9, centre and tails."""
    shares = np.array([1e-9, 1e-4, 0.02, 0.0243, 0.3, 0.5, 0.77, 0.98, 1 - 1e-6])
    exact = [NormalDist().inv_cdf(float(share)) for share in shares]
    assert np.allclose(portable_math.normal_quantile(shares), exact, rtol=2e-9, atol=1e-12)
