"""Where the disaggregated plan departs from AWS's advice, which `dpd check` repeats, and why."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpd.planner.defaults import (
    HIGH_REQUESTS_PER_SECOND,
    LARGE_MODEL_PARAMETERS,
    LONG_ANSWER_TOKENS,
    LONG_PROMPT_TOKENS,
)
from dpd.planner.estimate import Lengths
from dpd.planner.evaluate import Outcome, evaluate, seconds_text
from dpd.planner.memory import GIB
from dpd.planner.question import Question
from dpd.planner.tuning import may_be_advised, prompts_bytes


@dataclass(frozen=True)
class Condition:
    """One of the conditions under which AWS's guide advises disaggregation."""

    text: str
    value: str
    is_met: bool


def conditions(
    question: Question, *, inputs: float, outputs: float, rate: float
) -> tuple[Condition, ...]:
    """Return AWS's conditions; prompt and answer are medians in tokens, the rate a second's."""
    model = question.model
    kind = "mixture of experts" if model.is_mixture_of_experts else "dense"
    size = f"{kind}, {model.parameters / 1e9:.1f}e9 parameters"
    is_large = not model.is_mixture_of_experts and model.parameters >= LARGE_MODEL_PARAMETERS
    return (
        Condition(
            f"a dense model of {LARGE_MODEL_PARAMETERS / 1e9:.0f}e9 parameters or more",
            size,
            is_large,
        ),
        Condition(
            f"prompts of {LONG_PROMPT_TOKENS:,} tokens or more",
            f"median {inputs:.0f}",
            inputs >= LONG_PROMPT_TOKENS,
        ),
        Condition(
            f"{HIGH_REQUESTS_PER_SECOND} requests a second or more",
            f"{rate:.2f}",
            rate >= HIGH_REQUESTS_PER_SECOND,
        ),
        Condition(
            f"answers of {LONG_ANSWER_TOKENS} tokens or more",
            f"median {outputs:.0f}",
            outputs >= LONG_ANSWER_TOKENS,
        ),
    )


def departures(question: Question, outcome: Outcome, lengths: Lengths) -> Iterator[str]:
    """Yield why a plan has values that `dpd check` warns of."""
    plan = outcome.plan
    threshold = plan.routing_threshold
    if 0 < threshold < LONG_PROMPT_TOKENS:
        yield (
            f"threshold {threshold}, although `dpd check` advises {LONG_PROMPT_TOKENS} or more "
            f"(DPD003): {_why_lower(question, outcome, lengths)}"
        )
    if 0 < plan.pd_buffer_bytes < (needed := prompts_bytes(plan, question)):
        yield (
            f"PD buffer of {plan.pd_buffer_bytes / GIB:g} GiB, although `dpd check` advises "
            f"{needed / GIB:g} (DPD306): a prompt of {threshold} tokens for each of "
            f"{plan.decode_max_num_seqs} sequences in decode has no room beside vLLM, and fewer "
            "sequences are slower"
        )


def _why_lower(question: Question, outcome: Outcome, lengths: Lengths) -> str:
    far = lengths.remote(outcome.plan.routing_threshold).inputs
    if not may_be_advised(outcome.plan.routing_threshold, lengths, question):
        return (
            f"the prompts above it begin at {int(far.min())} tokens, and the router's estimate "
            "needs some distance from them"
        )
    other = evaluate(replace(outcome.plan, routing_threshold=LONG_PROMPT_TOKENS), question)
    worse = [
        f"{name} p95 {seconds_text(mine.p95)} would be {seconds_text(others.p95)}"
        for name, mine, others in (
            ("TTFT", outcome.result.ttft, other.result.ttft),
            ("inter-token latency", outcome.result.itl, other.result.itl),
            ("end to end", outcome.result.e2e, other.result.e2e),
        )
        if others.p95 > mine.p95
    ]
    return f"with {LONG_PROMPT_TOKENS} {', '.join(worse) or 'it does worse'}"
