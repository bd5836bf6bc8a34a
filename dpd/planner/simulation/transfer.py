"""KV transfer: PD buffer of the decode worker, in chunks, and the network link into it.

Transfers to one decode worker follow each other, as its link is what they share. A transfer
starts when the whole prompt fits into the buffer; LMCache 0.4.3 allocates chunk by chunk, which
can only deadlock where this waits.
"""

from dpd.planner import memory
from dpd.planner.simulation.compilation import compiled
from dpd.planner.simulation.queues import pop, push
from dpd.planner.simulation.state import NONE, State

_chunks = compiled(memory.kv_chunks)


@compiled
def send(state: State, slot: int) -> None:
    """Queue a prefilled prompt for the decode worker with the fewest requests."""
    settings, workers, links = state.settings[0], state.workers, state.links
    link = settings.decode_workers - 1
    for other in range(settings.decode_workers - 1):
        present = workers[settings.prefill_workers + other].present
        if present < workers[settings.prefill_workers + link].present:
            link = other
    workers[settings.prefill_workers + link].present += 1
    push(links.queued_head, links.queued_tail, state.requests.link, link, slot)
    _start(state, link)
    if links[link].queued_head != NONE:
        state.tally[0].buffer_waits += 1


@compiled
def release_buffer(state: State, link: int, input_tokens: int) -> None:
    """Free the chunks of a prompt that the decode worker has copied out."""
    state.links[link].buffer_used -= _chunks(input_tokens)
    _start(state, link)


@compiled
def arrive(state: State, link: int) -> None:
    """Hand the first transfer on a link over to its decode worker."""
    links, workers = state.links, state.workers
    slot = pop(links.flying_head, state.requests.link, link)
    worker = state.settings[0].prefill_workers + link
    push(workers.ready_head, workers.ready_tail, state.requests.link, worker, slot)


@compiled
def _start(state: State, link: int) -> None:
    settings, links, requests = state.settings[0], state.links, state.requests
    while links[link].queued_head != NONE:
        slot = links[link].queued_head
        chunks = _chunks(requests[slot].input_tokens)
        if links[link].buffer_used + chunks > state.settings[0].buffer_chunks:
            return
        pop(links.queued_head, requests.link, link)
        links[link].buffer_used += chunks
        starts = max(links[link].free_at, state.tally[0].now)
        links[link].free_at = starts + chunks * settings.transfer_per_chunk
        requests[slot].ready_at = links[link].free_at + settings.handoff
        push(links.flying_head, links.flying_tail, requests.link, link, slot)
