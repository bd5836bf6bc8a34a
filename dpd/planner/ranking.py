"""Which of two outcomes is better, and whether by enough to leave a default for it."""

from math import inf

from dpd.planner.evaluate import Outcome
from dpd.planner.question import Question

_ENOUGH = 0.98


def rank(outcome: Outcome, question: Question) -> tuple[float, ...]:
    """Return what a better plan has less of.

    First come plans that meet everything, by cost and latency; then those that miss targets, by
    the worst miss; then those that cannot keep up, by the requests that they leave unfinished.
    """
    if question.is_open_ended:
        return (0, outcome.usd_per_million_tokens, outcome.result.e2e.p95)
    if outcome.result.is_overloaded:
        rate = outcome.result.request_rate
        return (2, 1 / rate if rate else inf, outcome.nodes)
    if not outcome.is_good:
        return (1, outcome.worst_ratio, outcome.nodes)
    latency = outcome.worst_ratio if question.has_targets else outcome.result.e2e.p95
    return (0, outcome.usd_per_hour, latency)


def better(one: Outcome | None, other: Outcome | None, question: Question) -> Outcome | None:
    """Return the better of two outcomes, the first where they are equal."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other, key=lambda outcome: rank(outcome, question))


def is_clearly_better(one: Outcome, other: Outcome, question: Question) -> bool:
    """Return whether a value is worth leaving the default for: by more than 2 %."""
    mine, others = rank(one, question), rank(other, question)
    return mine[:1] < others[:1] or (
        mine[:1] == others[:1]
        and any(a < _ENOUGH * b for a, b in zip(mine[1:], others[1:], strict=True))
        and mine < others
    )
