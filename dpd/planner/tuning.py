"""Tunes what matters less than replicas, and keeps to AWS's advice where that costs nothing."""

from collections.abc import Callable
from dataclasses import replace

from dpd.planner.defaults import LONG_PROMPT_TOKENS, OUTSIDE_BYTES
from dpd.planner.estimate import Lengths
from dpd.planner.evaluate import Outcome
from dpd.planner.memory import GIB, RUNTIME_OUTSIDE_BYTES, kv_transfer_bytes_per_rank
from dpd.planner.plan import Plan
from dpd.planner.question import Question
from dpd.planner.ranking import is_clearly_better

DECODE_SEQUENCES = (32, 64, 128, 256)
_SEQUENCES_STEP = 8
_BATCHED_TOKENS = (2048, 4096, 8192, 16_384)
_BUFFERS = (16 * GIB, 32 * GIB)
CLEARANCE = 0.9
"""The router estimates tokens, so a threshold keeps 10 % distance from the prompts above it."""

Attempt = Callable[[Plan], Outcome | None]
"""Simulates a plan; nothing where it cannot run."""


def tuned(best: Outcome, question: Question, lengths: Lengths, attempt: Attempt) -> Outcome:
    """Return the plan with one value after the other at its best."""

    def preferred(plan: Plan, over: Outcome) -> Outcome | None:
        """Return what a plan does, unless it is clearly worse."""
        outcome = attempt(plan)
        is_worse = outcome is None or is_clearly_better(over, outcome, question)
        return None if is_worse else outcome

    if may_be_advised(best.plan.routing_threshold, lengths, question):
        advised = replace(best.plan, routing_threshold=LONG_PROMPT_TOKENS)
        best = preferred(advised, best) or best
    steps: list[list[dict[str, int]]] = [
        [{"prefill_max_num_batched_tokens": tokens} for tokens in _BATCHED_TOKENS],
        [{"decode_max_num_batched_tokens": tokens} for tokens in _BATCHED_TOKENS],
    ]
    if best.result.buffer_waits and best.plan.pd_buffer_bytes:
        steps.append([{"pd_buffer_bytes": size} for size in _BUFFERS])
    for options in steps:
        for option in options:
            outcome = attempt(replace(best.plan, **option))
            if outcome is not None and is_clearly_better(outcome, best, question):
                best = outcome
    # The smallest batch limit that changes nothing protects inter-token latency in a burst.
    smaller = [size for size in DECODE_SEQUENCES if size < best.plan.decode_max_num_seqs]
    for sequences in smaller:
        if outcome := preferred(replace(best.plan, decode_max_num_seqs=sequences), best):
            best = outcome
            break
    for plan in _covered(best.plan, question):
        if outcome := preferred(plan, best):
            return outcome
    return best


def may_be_advised(threshold: int, lengths: Lengths, question: Question) -> bool:
    """Return whether 4,096 tokens are a threshold to try in place of a lower one."""
    far, now = lengths.remote(LONG_PROMPT_TOKENS).inputs, lengths.remote(threshold).inputs
    if not 0 < threshold < LONG_PROMPT_TOKENS < question.max_model_len or len(far) == 0:
        return False
    return len(far) != len(now) or bool(far.min() * CLEARANCE >= LONG_PROMPT_TOKENS)


def prompts_bytes(plan: Plan, question: Question) -> int:
    """Return what the shortest prompts from prefill take in the PD buffer, one for each sequence.

    `dpd check` advises a buffer of that size (DPD306).
    """
    tokens, kv_bytes = max(1, plan.routing_threshold), question.kv_bytes(plan.tensor_parallel)
    one = kv_transfer_bytes_per_rank(tokens, kv_bytes_per_token=kv_bytes)
    return one * plan.decode_max_num_seqs


def _covered(plan: Plan, question: Question) -> list[Plan]:
    """Return plans whose PD buffer holds a prompt for each sequence, the largest batch first."""
    if not plan.pd_buffer_bytes:
        return []
    memory = question.memory(
        plan.tensor_parallel, is_disaggregated=True, pd_buffer_bytes=plan.pd_buffer_bytes
    )
    spare = memory.outside_spare_bytes - (OUTSIDE_BYTES - RUNTIME_OUTSIDE_BYTES)
    most = (plan.pd_buffer_bytes + max(0, spare)) // GIB * GIB
    one = prompts_bytes(replace(plan, decode_max_num_seqs=1), question)
    held = most // one // _SEQUENCES_STEP * _SEQUENCES_STEP
    plans = []
    for sequences in sorted({plan.decode_max_num_seqs, held, *DECODE_SEQUENCES}, reverse=True):
        size = max(plan.pd_buffer_bytes, -(-one * sequences // GIB) * GIB)
        if 0 < sequences <= plan.decode_max_num_seqs and size <= most:
            plans.append(replace(plan, decode_max_num_seqs=sequences, pd_buffer_bytes=size))
    return plans
