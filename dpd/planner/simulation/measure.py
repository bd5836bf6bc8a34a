"""What is counted when a token or a request is finished."""

from dpd.planner.simulation.compilation import compiled
from dpd.planner.simulation.histogram import bucket
from dpd.planner.simulation.queues import free
from dpd.planner.simulation.state import E2E, ITL, TOKEN_GAP, TTFT, State


@compiled
def advance(state: State, now: float) -> None:
    """Move the clock and add up the number of requests in the system over time."""
    tally = state.tally[0]
    tally.area += tally.in_system * (now - tally.now)
    tally.now = now


@compiled
def is_in_window(state: State) -> bool:
    """Return whether the clock is between the first and the last recorded arrival."""
    tally = state.tally[0]
    inside: bool = tally.window_start < tally.now <= tally.window_end
    return inside


@compiled
def count_first_token(state: State) -> None:
    """Count a token that no other one came before."""
    if is_in_window(state):
        state.tally[0].window_tokens += 1


@compiled
def count_tokens(state: State, sequences: int, gaps: int, seconds: float) -> None:
    """Count one token of each of `sequences`, `gaps` of which followed another token."""
    if is_in_window(state):
        tally = state.tally[0]
        tally.window_tokens += sequences
        tally.gaps += gaps
        tally.gap_sum += gaps * seconds
        state.histograms[TOKEN_GAP, bucket(seconds)] += gaps


@compiled
def finish(state: State, slot: int) -> None:
    """Record a finished request and free its slot."""
    requests, settings, tally = state.requests, state.settings[0], state.tally[0]
    now = tally.now
    index = requests[slot].index
    e2e = now - requests[slot].arrival
    tally.finished += 1
    tally.in_system -= 1
    tally.latencies += e2e
    if is_in_window(state):
        tally.window_finished += 1
    if settings.first_recorded <= index < settings.after_recorded:
        ttft = requests[slot].first_token - requests[slot].arrival
        gaps = requests[slot].output_tokens - 1
        itl = (now - requests[slot].first_token) / gaps if gaps > 0 else 0.0
        tally.recorded += 1
        state.histograms[TTFT, bucket(ttft)] += 1
        state.histograms[E2E, bucket(e2e)] += 1
        tally.ttft_sum += ttft
        tally.e2e_sum += e2e
        if gaps > 0:
            state.histograms[ITL, bucket(itl)] += 1
            tally.itl_sum += itl
        good = ttft <= settings.ttft_target and e2e <= settings.e2e_target
        if good and itl <= settings.itl_target:
            tally.good += 1
    free(state, slot)
    if settings.closed_loop:
        tally.free_users += 1
