"""State of a running simulation: records in arrays of fixed size, so that memory stays flat.

A request lives in a slot from arrival to its last token. Queues of slots are linked through
`link`, as a slot is in one queue at a time; `step_link` joins what one step starts or finishes.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from dpd.planner.deployment import Deployment
from dpd.planner.simulation.histogram import BUCKETS
from dpd.planner.step_time import StepCosts

NONE = -1
TTFT, ITL, TOKEN_GAP, E2E = range(4)
"""Rows of the histograms."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Records: TypeAlias = Any
"""A numpy record array, whose fields no type checker knows."""

_SETTINGS = {
    "prefill_workers": "i8",
    "decode_workers": "i8",
    "routing_threshold": "i8",
    "prefill_sequences": "i8",
    "prefill_batched_tokens": "i8",
    "prefill_kv_tokens": "i8",
    "prefill_chunks": "i8",  # 0: a prompt runs in one step, whatever the token budget
    "decode_sequences": "i8",
    "decode_batched_tokens": "i8",
    "decode_kv_tokens": "i8",
    "decode_chunks": "i8",
    "buffer_chunks": "i8",
    "closed_loop": "i8",  # 1: a finished request lets its user send the next one
    "first_recorded": "i8",  # requests before it warm up
    "after_recorded": "i8",  # requests from it on drain
    "transfer_per_chunk": "f8",
    "handoff": "f8",
    "store_per_prompt": "f8",
    "retrieve_per_token": "f8",
    "ttft_target": "f8",
    "itl_target": "f8",
    "e2e_target": "f8",
}
_REQUEST = {
    "index": "i8",
    "arrival": "f8",
    "first_token": "f8",
    "input_tokens": "i8",
    "output_tokens": "i8",
    "left_tokens": "i8",  # prompt tokens that no step has taken yet
    "ready_at": "f8",  # when the KV cache has reached the decode worker
    "link": "i8",
    "step_link": "i8",
}
_WORKER = {  # prefill workers first, then decode (or colocated) workers
    "step_ends": "f8",  # infinite while idle
    "step_seconds": "f8",
    "busy_seconds": "f8",
    "batch_seconds": "f8",  # sequences in the batch, integrated over the steps
    "kv_seconds": "f8",  # tokens reserved in the KV cache, likewise
    "steps": "i8",
    "running": "i8",  # sequences that decode one token in this step
    "context": "i8",  # tokens in the KV cache of the running sequences
    "kv_used": "i8",
    "partial": "i8",  # slot of the prompt that is split over steps
    "waiting_head": "i8",
    "waiting_tail": "i8",
    "present": "i8",  # requests waiting, prefilling or running
    "ready_head": "i8",  # transferred requests that wait for a place in the batch
    "ready_tail": "i8",
    "started_head": "i8",  # transferred requests whose first step this is
    "started": "i8",
    "prompts_head": "i8",  # prompts whose last chunk is in this step
}
_LINK = {  # network link and PD buffer of a decode worker
    "free_at": "f8",
    "buffer_used": "i8",
    "queued_head": "i8",
    "queued_tail": "i8",
    "flying_head": "i8",
    "flying_tail": "i8",
}
_TALLY = {
    "now": "f8",
    "free_head": "i8",
    "free_users": "i8",
    "ring_mask": "i8",
    "issued": "i8",
    "finished": "i8",
    "in_system": "i8",
    "finished_at_last_arrival": "i8",
    "recorded": "i8",
    "good": "i8",
    "remote": "i8",
    "buffer_waits": "i8",
    "prompt_tokens": "i8",
    "decode_tokens": "i8",
    "window_start": "f8",
    "window_end": "f8",
    "window_tokens": "i8",
    "window_finished": "i8",
    "gaps": "i8",
    "gap_sum": "f8",
    "area": "f8",  # requests in the system, integrated over time
    "latencies": "f8",  # end-to-end times of all requests
    "ttft_sum": "f8",
    "itl_sum": "f8",
    "e2e_sum": "f8",
}


class State(NamedTuple):
    """Everything that the compiled functions read and change."""

    settings: Records
    costs: Records
    """`StepCosts` of prefill workers, then of decode workers."""
    requests: Records
    workers: Records
    links: Records
    finishing: Ints
    """Ring of list heads, worker * ring size + step: sequences whose last step it is."""
    tally: Records
    histograms: Ints


def new_state(
    deployment: Deployment, settings: dict[str, float], *, slots: int, longest_output: int
) -> State:
    """Return an empty system with room for `slots` requests at once."""
    workers = deployment.prefill_replicas + deployment.decode_replicas
    ring = 1 << (longest_output + 1).bit_length()
    state = State(
        settings=_records(1, _SETTINGS),
        costs=_records(2, dict.fromkeys(StepCosts._fields, "f8")),
        requests=_records(slots, _REQUEST),
        workers=_records(workers, _WORKER),
        links=_records(deployment.decode_replicas, _LINK),
        finishing=np.full(workers * ring, NONE, dtype=np.int64),
        tally=_records(1, _TALLY),
        histograms=np.zeros((4, BUCKETS), dtype=np.int64),
    )
    for name, value in settings.items():
        state.settings[name] = value
    for place, worker in enumerate((deployment.prefill or deployment.decode, deployment.decode)):
        state.costs[place] = tuple(worker.costs)
    state.requests.link[:-1] = np.arange(1, slots)
    state.workers.step_ends = np.inf
    state.tally.ring_mask = ring - 1
    state.tally.free_head = 0
    state.tally.window_start = state.tally.window_end = np.inf
    return state


def _records(size: int, fields: dict[str, str]) -> Records:
    records = np.zeros(size, dtype=np.dtype(list(fields.items()), align=True)).view(np.recarray)
    for name in fields:
        if name.endswith(("head", "tail", "link", "partial")):
            records[name] = NONE
    return records
