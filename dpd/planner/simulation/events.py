"""The event loop: the next of all step ends, transfers and arrivals, until arrivals run out."""

from math import inf

from dpd.planner.simulation.compilation import compiled
from dpd.planner.simulation.measure import advance
from dpd.planner.simulation.queues import push
from dpd.planner.simulation.state import NONE, Floats, Ints, State
from dpd.planner.simulation.transfer import arrive
from dpd.planner.simulation.worker import begin_step, end_step

MORE_ARRIVALS, DRAINED, FULL = 0, 1, 2


@compiled
def run(
    state: State, times: Floats, inputs: Ints, cached: Ints, outputs: Ints, is_last: bool
) -> int:
    """Run until the given arrivals are used up, or, after the last ones, until all is done.

    Under a closed loop an infinite arrival time means: when a user is free.
    """
    settings, tally = state.settings[0], state.tally[0]
    workers, links = state.workers, state.links
    total = settings.prefill_workers + settings.decode_workers
    arrival = total + settings.decode_workers  # events: workers, then links, then this
    position = 0
    while True:
        has_more = position < len(times)
        if not has_more and not is_last:
            return MORE_ARRIVALS
        event, next_time = arrival, inf
        if has_more and tally.free_users > 0:
            tally.free_users -= 1
            next_time = tally.now
        else:
            if has_more:
                next_time = times[position]
            for worker in range(total):
                if workers[worker].step_ends < next_time:
                    next_time = workers[worker].step_ends
                    event = worker
            for link in range(settings.decode_workers):
                slot = links[link].flying_head
                if slot != NONE and state.requests[slot].ready_at < next_time:
                    next_time = state.requests[slot].ready_at
                    event = total + link
            if next_time == inf:
                return DRAINED
            advance(state, next_time)
        if event == arrival:
            if tally.free_head == NONE:
                return FULL
            worker = _issue(state, inputs[position], cached[position], outputs[position])
            position += 1
        elif event < total:
            worker = event
            end_step(state, worker)
        else:
            worker = settings.prefill_workers + event - total
            arrive(state, event - total)
        if workers[worker].step_ends == inf:
            begin_step(state, worker)


@compiled
def _issue(state: State, input_tokens: int, cached_tokens: int, output_tokens: int) -> int:
    """Let a request arrive now, in a slot that is free; return the worker that it waits for."""
    settings, tally = state.settings[0], state.tally[0]
    requests, workers = state.requests, state.workers
    slot = tally.free_head
    tally.free_head = requests[slot].link
    now = tally.now
    index = tally.issued
    if index == settings.first_recorded:
        tally.window_start = now
    if index == settings.after_recorded - 1:
        tally.window_end = now
        tally.finished_at_last_arrival = tally.finished
    tally.issued += 1
    tally.in_system += 1
    requests[slot].index = index
    requests[slot].arrival = now
    requests[slot].input_tokens = input_tokens
    requests[slot].output_tokens = output_tokens
    requests[slot].left_tokens = input_tokens - cached_tokens
    first, after = settings.prefill_workers, settings.prefill_workers + settings.decode_workers
    if settings.prefill_workers > 0 and input_tokens >= settings.routing_threshold:
        first, after = 0, settings.prefill_workers
        tally.remote += 1
    worker: int = first
    for other in range(first + 1, after):
        if workers[other].present < workers[worker].present:
            worker = other
    workers[worker].present += 1
    push(workers.waiting_head, workers.waiting_tail, requests.link, worker, slot)
    return worker
