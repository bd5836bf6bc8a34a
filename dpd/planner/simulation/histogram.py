"""Streaming percentiles: a fixed histogram with 128 buckets per power of two.

A bucket is at most 0.8 % wide, so a percentile is exact to 0.4 %, whatever the number of values.
The bucket follows from the binary exponent and mantissa, which is exact on every machine.
"""

from math import frexp, ldexp

import numpy as np
import numpy.typing as npt

from dpd.planner.simulation.compilation import compiled

_PER_OCTAVE = 128
_LOWEST_EXPONENT = -24
_OCTAVES = 48
BUCKETS = _OCTAVES * _PER_OCTAVE
"""Buckets from 60 nanoseconds to 194 days, in seconds."""


@compiled
def bucket(seconds: float) -> int:
    """Return the bucket of a duration; what is out of range counts in the outermost one."""
    if seconds <= 0.0:
        return 0
    mantissa, exponent = frexp(seconds)
    octave = exponent - _LOWEST_EXPONENT
    if octave < 0:
        return 0
    if octave >= _OCTAVES:
        return BUCKETS - 1
    return octave * _PER_OCTAVE + int((mantissa - 0.5) * 2 * _PER_OCTAVE)


def percentile(histogram: npt.NDArray[np.int64], share: float) -> float:
    """Return the duration below which `share` (0 to 1) of the values lie; 0 without values."""
    total = int(histogram.sum())
    if total == 0:
        return 0.0
    rank = share * (total - 1)
    cumulative = np.cumsum(histogram)
    index = int(np.searchsorted(cumulative, rank, side="right"))
    before = int(cumulative[index]) - int(histogram[index])
    within = (rank - before + 0.5) / int(histogram[index])
    low, high = _edge(index), _edge(index + 1)
    return low + (high - low) * min(1.0, within)


def _edge(index: int) -> float:
    octave, step = divmod(index, _PER_OCTAVE)
    return ldexp(0.5 + step / (2 * _PER_OCTAVE), octave + _LOWEST_EXPONENT)
