"""Runs a deployment under traffic and sums up what its users see."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from dpd.planner.deployment import Deployment, KvTransfer
from dpd.planner.memory import KV_CHUNK_TOKENS
from dpd.planner.sampling import arrivals, request_count
from dpd.planner.simulation import state as at
from dpd.planner.simulation.events import FULL, run
from dpd.planner.simulation.histogram import percentile
from dpd.planner.traffic import Traffic

_SLOTS = 1 << 16
_WARM_UP_SHARE = 0.2
_REQUESTS_TO_JUDGE = 200
_BACKLOG_SHARE = 0.1
_NO_TRANSFER = KvTransfer(
    seconds_per_chunk=0.0,
    store_seconds_per_prompt=0.0,
    handoff_seconds=0.0,
    retrieve_seconds_per_token=0.0,
    buffer_chunks=0,
)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Percentiles of one latency in seconds, exact to 0.4 %."""

    mean: float
    p50: float
    p90: float
    p95: float
    p99: float

    def at(self, share: float) -> float:
        """Return the percentile of a share: 0.5, 0.9, 0.95 or 0.99."""
        return {0.5: self.p50, 0.9: self.p90, 0.95: self.p95, 0.99: self.p99}[share]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a simulation measured, after its warm-up."""

    ttft: Latency
    itl: Latency
    """Mean inter-token latency of a request."""
    token_gap: Latency
    """Time between two tokens, over all tokens."""
    e2e: Latency
    request_rate: float
    """Finished requests per second; of an overloaded run, all of it with the drain at its end."""
    output_token_rate: float
    good_share: float
    """Share of the requests within all targets."""
    prefill_utilization: float
    """Busy share of the prefill workers, over the whole run; 0 when colocated."""
    decode_utilization: float
    decode_batch_fill: float
    """Share of the decode workers' places for sequences that is taken, averaged over time."""
    decode_kv_fill: float
    """Share of their KV cache that is reserved, likewise."""
    remote_share: float
    """Share of the requests that went to a prefill worker."""
    buffer_waits: int
    """Transfers that found the PD buffer full."""
    is_overloaded: bool
    """Requests arrive faster than they are finished: latencies grow with the length of the run."""
    requests: int
    seconds: float
    """Simulated time."""
    mean_in_system: float
    """Requests in the system, averaged over time."""
    latency_sum: float
    busy_seconds: tuple[float, ...]
    steps: tuple[int, ...]
    prompt_tokens: int
    """Prompt tokens that the workers computed."""
    decode_tokens: int
    """Tokens that came from decode steps; a colocated prompt brings its first token itself."""


def simulate(
    deployment: Deployment,
    traffic: Traffic,
    *,
    requests: int,
    max_model_len: int,
    seed: int = 0,
    limits: tuple[float, float, float] = (inf, inf, inf),
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Run so many requests through the deployment.

    Args:
        deployment: The workers.
        traffic: The requests.
        requests: How many to send; a trace may have fewer.
        max_model_len: Longest prompt and answer together.
        seed: The same seed gives the same result on any machine.
        limits: TTFT, inter-token latency and end-to-end time in seconds of a good request.
        progress: Called with the number of requests after every block.
    """
    requests = request_count(traffic, requests)
    state = _new_state(deployment, traffic, requests, max_model_len, limits)
    sent, status = 0, 0
    for block in arrivals(traffic, requests=requests, seed=seed, max_model_len=max_model_len):
        sent += len(block.times)
        status = run(
            state, block.times, block.inputs, block.cached, block.outputs, sent == requests
        )
        if status == FULL:
            break
        if progress:
            progress(sent)
    return _result(state, traffic, is_full=status == FULL)


def _new_state(
    deployment: Deployment,
    traffic: Traffic,
    requests: int,
    max_model_len: int,
    good: tuple[float, float, float],
) -> at.State:
    prefill, decode = deployment.prefill or deployment.decode, deployment.decode
    transfer = deployment.transfer or _NO_TRANSFER
    smallest = min(prefill.kv_cache_tokens, decode.kv_cache_tokens)
    if deployment.is_disaggregated:
        smallest = min(smallest, transfer.buffer_chunks * KV_CHUNK_TOKENS)
    if smallest < max_model_len:
        raise ValueError(f"a request of {max_model_len} tokens never finishes in {smallest}")
    first = min(int(requests * _WARM_UP_SHARE), requests - 1)
    settings = {
        "prefill_workers": deployment.prefill_replicas,
        "decode_workers": deployment.decode_replicas,
        "routing_threshold": deployment.routing_threshold,
        "prefill_sequences": prefill.max_num_seqs,
        "prefill_batched_tokens": prefill.max_num_batched_tokens,
        "prefill_kv_tokens": prefill.kv_cache_tokens,
        "prefill_chunks": int(prefill.is_chunked),
        "decode_sequences": decode.max_num_seqs,
        "decode_batched_tokens": decode.max_num_batched_tokens,
        "decode_kv_tokens": decode.kv_cache_tokens,
        "decode_chunks": int(decode.is_chunked),
        "buffer_chunks": transfer.buffer_chunks,
        "closed_loop": int(traffic.users > 0),
        "first_recorded": first,
        # The last users of a closed loop have the machine to themselves.
        "after_recorded": max(first + 1, requests - traffic.users),
        "transfer_per_chunk": transfer.seconds_per_chunk,
        "handoff": transfer.handoff_seconds,
        "store_per_prompt": transfer.store_seconds_per_prompt,
        "retrieve_per_token": transfer.retrieve_seconds_per_token,
        "ttft_target": good[0],
        "itl_target": good[1],
        "e2e_target": good[2],
    }
    slots = traffic.users + 1 if traffic.users else _SLOTS
    return at.new_state(deployment, settings, slots=slots, longest_output=max_model_len)


def _result(state: at.State, traffic: Traffic, *, is_full: bool) -> Result:
    tally, settings = state.tally[0], state.settings[0]
    recorded = max(1, int(tally.recorded))
    split = int(settings.prefill_workers)
    busy = state.workers.busy_seconds
    seconds = float(tally.now)
    is_overloaded = is_full or _falls_behind(state, traffic)
    request_rate, output_token_rate = _whole_run(state) if is_overloaded else _in_window(state)
    with_gaps = max(1, int(state.histograms[at.ITL].sum()))
    return Result(
        ttft=_latency(state.histograms[at.TTFT], tally.ttft_sum / recorded),
        itl=_latency(state.histograms[at.ITL], tally.itl_sum / with_gaps),
        token_gap=_latency(state.histograms[at.TOKEN_GAP], tally.gap_sum / max(1, tally.gaps)),
        e2e=_latency(state.histograms[at.E2E], tally.e2e_sum / recorded),
        request_rate=request_rate,
        output_token_rate=output_token_rate,
        good_share=float(tally.good / recorded),
        prefill_utilization=float(busy[:split].mean() / seconds) if split else 0.0,
        decode_utilization=float(busy[split:].mean() / seconds),
        decode_batch_fill=_fill(state.workers.batch_seconds[split:], settings.decode_sequences)
        / seconds,
        decode_kv_fill=_fill(state.workers.kv_seconds[split:], settings.decode_kv_tokens) / seconds,
        remote_share=float(tally.remote / tally.issued),
        buffer_waits=int(tally.buffer_waits),
        is_overloaded=is_overloaded,
        requests=int(tally.finished),
        seconds=seconds,
        mean_in_system=float(tally.area / seconds),
        latency_sum=float(tally.latencies),
        busy_seconds=tuple(float(value) for value in busy),
        steps=tuple(int(value) for value in state.workers.steps),
        prompt_tokens=int(tally.prompt_tokens),
        decode_tokens=int(tally.decode_tokens),
    )


def _falls_behind(state: at.State, traffic: Traffic) -> bool:
    """Return whether a tenth of what arrived is left over, of the whole run and of its window.

    The window alone is noisy in short runs; in the whole one a high rate leaves many requests at
    work when the last one arrives, without any queue.
    """
    tally, settings = state.tally[0], state.settings[0]
    if traffic.users or tally.issued < _REQUESTS_TO_JUDGE:
        return False
    kept_up = 1 - _BACKLOG_SHARE
    recorded = int(settings.after_recorded - settings.first_recorded)
    return bool(
        tally.finished_at_last_arrival < kept_up * tally.issued
        and tally.window_finished < kept_up * recorded
    )


def _in_window(state: at.State) -> tuple[float, float]:
    """Return requests and output tokens a second between the first and last recorded arrival."""
    tally = state.tally[0]
    window = float(tally.window_end) - float(tally.window_start)
    if not 0 < window < inf:
        return 0.0, 0.0
    return float(tally.window_finished / window), float(tally.window_tokens / window)


def _whole_run(state: at.State) -> tuple[float, float]:
    """Return the same of a run that is nothing but queue: from its start to its end.

    While arrivals last, such a run may only read prompts and finish nothing.
    """
    tally = state.tally[0]
    first_tokens = tally.finished * (1 - tally.remote / tally.issued)
    seconds = float(tally.now)
    return float(tally.finished) / seconds, float(tally.decode_tokens + first_tokens) / seconds


def _fill(integral: at.Floats, places: int) -> float:
    return float(integral.mean()) / float(places)


def _latency(histogram: at.Ints, mean: float) -> Latency:
    return Latency(
        mean=float(mean),
        p50=percentile(histogram, 0.5),
        p90=percentile(histogram, 0.9),
        p95=percentile(histogram, 0.95),
        p99=percentile(histogram, 0.99),
    )
