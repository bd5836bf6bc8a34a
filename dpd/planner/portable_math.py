"""Logarithm, exponential and normal quantile from exact operations only.

The last bit of a library's `log` or `exp` differs between machines, and one bit can turn the order
of two events around. Additions, multiplications and square roots do not differ.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.70710678118654752440

# P. J. Acklam's rational approximation of the normal quantile, relative error below 1.2e-9.
_CENTRE = (
    (-39.69683028665376, 220.9460984245205, -275.9285104469687,
     138.3577518672690, -30.66479806614716, 2.506628277459239),
    (-54.47609879822406, 161.5858368580409, -155.6989798598866,
     66.80131188771972, -13.28068155288572, 1.0),
)  # fmt: skip
_TAIL = (
    (-0.007784894002430293, -0.3223964580411365, -2.400758277161838,
     -2.549732539343734, 4.374664141464968, 2.938163982698783),
    (0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1.0),
)  # fmt: skip
_TAIL_BELOW = 0.02425


def log(values: Floats) -> Floats:
    """Return the natural logarithm of positive values."""
    mantissa, exponent = np.frexp(values)
    low = mantissa < _SQRT_HALF
    mantissa = np.where(low, mantissa * 2, mantissa)
    exponent = (exponent - low).astype(np.float64)
    ratio = (mantissa - 1) / (mantissa + 1)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for odd in range(23, 0, -2):  # 2 * artanh(ratio), ratio below 0.172
        series = series * square + 1 / odd
    result: Floats = 2 * ratio * series + exponent * _LN2_LOW + exponent * _LN2_HIGH
    return result


def exp(values: Floats) -> Floats:
    """Return e to the power of values between -700 and 700."""
    power = np.floor(values * 1.4426950408889634 + 0.5)
    rest = (values - power * _LN2_HIGH) - power * _LN2_LOW
    series = np.ones_like(rest)
    for term in range(16, 0, -1):
        series = 1 + rest * series / term
    return np.ldexp(series, power.astype(np.int64))


def normal_quantile(shares: Floats) -> Floats:
    """Return the standard normal quantile of shares strictly between 0 and 1."""
    lower = np.minimum(shares, 1 - shares)
    distance = np.sqrt(-2 * log(lower))
    tail = _polynomial(_TAIL[0], distance) / _polynomial(_TAIL[1], distance)
    tail = np.where(shares < 0.5, tail, -tail)
    offset = shares - 0.5
    square = offset * offset
    centre = _polynomial(_CENTRE[0], square) / _polynomial(_CENTRE[1], square) * offset
    return np.where(lower < _TAIL_BELOW, tail, centre)


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    result = np.zeros_like(x)
    for coefficient in coefficients:
        result = result * x + coefficient
    return result
