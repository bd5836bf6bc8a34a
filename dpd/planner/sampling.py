"""Draws requests from a traffic profile, in blocks of bounded size, the same on every machine."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpd.planner import portable_math
from dpd.planner.traffic import Fixed, Length, Lognormal, Traffic

BLOCK = 16_384
PREFIX_BLOCK_TOKENS = 16
"""vLLM's prefix cache keeps whole blocks of so many tokens (`--block-size`)."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Arrivals(NamedTuple):
    """A block of requests in order of arrival."""

    times: Floats
    """Seconds; infinite where a request waits for a user of the closed loop."""
    inputs: Ints
    cached: Ints
    """Prompt tokens that the prefix cache already holds."""
    outputs: Ints


def request_count(traffic: Traffic, wanted: int) -> int:
    """Return how many requests can be drawn: a trace has only so many."""
    return min(wanted, len(traffic.trace.arrivals)) if traffic.trace else wanted


def arrivals(
    traffic: Traffic, *, requests: int, seed: int, max_model_len: int
) -> Iterator[Arrivals]:
    """Yield blocks of requests.

    Prompt and answer together are cut to `max_model_len`, as a client of vLLM must.
    """
    if traffic.trace is not None:
        yield from _recorded(traffic, requests, max_model_len)
        return
    # Raw 64-bit output of PCG64 is stable across numpy versions; derived methods are not.
    source = np.random.PCG64(seed)
    now = 0.0
    for start in range(0, requests, BLOCK):
        count = min(BLOCK, requests - start)
        gaps, kinds, inputs, outputs = (_uniform(source, count) for _ in range(4))
        if traffic.users:
            issued = np.arange(start, start + count)
            times = np.where(issued < traffic.users, 0.0, np.inf)
        else:
            assert traffic.profile.rate is not None
            times = now + np.cumsum(-portable_math.log(gaps)) / (
                traffic.profile.rate * traffic.load
            )
            now = float(times[-1])
        yield _mixed(traffic, times, kinds, inputs, outputs, max_model_len)


def _uniform(source: np.random.PCG64, count: int) -> Floats:
    """Return values strictly between 0 and 1."""
    whole = (source.random_raw(count) >> np.uint64(12)).astype(np.float64)
    values: Floats = (whole + 0.5) * 2.0**-52
    return values


def _mixed(
    traffic: Traffic, times: Floats, kinds: Floats, inputs: Floats, outputs: Floats, limit: int
) -> Arrivals:
    classes = traffic.profile.classes
    shares = np.cumsum([c.share for c in classes])
    chosen = np.searchsorted(shares / shares[-1], kinds, side="right").clip(0, len(classes) - 1)
    input_tokens, output_tokens = np.ones_like(chosen), np.ones_like(chosen)
    prefix = np.zeros(len(chosen))
    for number, kind in enumerate(classes):
        mine = chosen == number
        input_tokens[mine] = _lengths(traffic, kind.input, inputs[mine])
        output_tokens[mine] = _lengths(traffic, kind.output, outputs[mine])
        prefix[mine] = kind.shared_prefix
    input_tokens, output_tokens = _cut(input_tokens, output_tokens, limit)
    whole_blocks = (input_tokens * prefix).astype(np.int64) // PREFIX_BLOCK_TOKENS
    # vLLM always computes the last token of a prompt itself.
    cached = np.minimum(whole_blocks * PREFIX_BLOCK_TOKENS, input_tokens - 1)
    return Arrivals(times, input_tokens, cached, output_tokens)


def _lengths(traffic: Traffic, length: Length, shares: Floats) -> Ints:
    if isinstance(length, Fixed):
        return np.full(len(shares), length.tokens, dtype=np.int64)
    if isinstance(length, Lognormal):
        factor = portable_math.exp(portable_math.normal_quantile(shares) * length.sigma)
        return np.maximum(1, np.rint(length.median * factor)).astype(np.int64)
    measured = np.array(traffic.lengths[length.file], dtype=np.int64)
    return measured[(shares * len(measured)).astype(np.int64)]


def _cut(inputs: Ints, outputs: Ints, limit: int) -> tuple[Ints, Ints]:
    inputs = np.minimum(inputs, limit - 1)
    return inputs, np.minimum(outputs, limit - inputs)


def _recorded(traffic: Traffic, requests: int, limit: int) -> Iterator[Arrivals]:
    trace = traffic.trace
    assert trace is not None
    for start in range(0, min(requests, len(trace.arrivals)), BLOCK):
        part = slice(start, min(start + BLOCK, requests))
        inputs, outputs = _cut(
            np.array(trace.inputs[part], dtype=np.int64),
            np.array(trace.outputs[part], dtype=np.int64),
            limit,
        )
        times = np.array(trace.arrivals[part]) / traffic.load
        yield Arrivals(times, inputs, np.zeros_like(inputs), outputs)
