"""Linked queues of request slots."""

from dpd.planner.simulation.compilation import compiled
from dpd.planner.simulation.state import NONE, Ints, State


@compiled
def push(head: Ints, tail: Ints, link: Ints, queue: int, slot: int) -> None:
    """Append a slot to one of the queues that `head` and `tail` describe."""
    link[slot] = NONE
    if head[queue] == NONE:
        head[queue] = slot
    else:
        link[tail[queue]] = slot
    tail[queue] = slot


@compiled
def pop(head: Ints, link: Ints, queue: int) -> int:
    """Remove the first slot of a queue that is not empty."""
    slot: int = head[queue]
    head[queue] = link[slot]
    return slot


@compiled
def free(state: State, slot: int) -> None:
    """Give a slot back."""
    state.requests[slot].link = state.tally[0].free_head
    state.tally[0].free_head = slot
