"""Sweeps for the plots: latency against load, and latency against the routing threshold."""

from dataclasses import dataclass, replace

from dpd.planner.evaluate import Outcome, evaluate
from dpd.planner.report_text import COLOCATED, SAME_GPUS
from dpd.planner.search import Progress
from dpd.planner.verdict import Answer

LOADS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


@dataclass(frozen=True)
class Curves:
    """Outcomes by load factor or threshold."""

    disaggregated: tuple[tuple[float, Outcome], ...]
    colocated: tuple[tuple[float, Outcome], ...]
    """With the same number of GPUs as the disaggregated plan, or the best there is."""
    colocated_name: str
    thresholds: tuple[tuple[float, Outcome], ...]


def curves(answer: Answer, *, progress: Progress = lambda _: None) -> Curves:
    """Simulate both topologies over `LOADS`, and the disaggregated plan over thresholds."""
    findings = answer.findings
    return Curves(
        disaggregated=_over_load(answer, findings.disaggregated, progress),
        colocated=_over_load(answer, findings.same_gpus or findings.colocated, progress),
        colocated_name=SAME_GPUS if findings.same_gpus else COLOCATED,
        thresholds=_over_threshold(answer, progress),
    )


def _over_load(
    answer: Answer, outcome: Outcome | None, progress: Progress
) -> tuple[tuple[float, Outcome], ...]:
    if outcome is None:
        return ()
    question = answer.question
    points = []
    for load in LOADS:
        progress(f"{outcome.plan.describe()} at {load:g} x load")
        traffic = question.traffic.scaled(question.traffic.load * load)
        points.append((load, evaluate(outcome.plan, question, traffic=traffic)))
    return tuple(points)


def _over_threshold(answer: Answer, progress: Progress) -> tuple[tuple[float, Outcome], ...]:
    outcome = answer.findings.disaggregated
    if outcome is None or not answer.question.has_threshold:
        return ()
    limit = answer.question.max_model_len
    thresholds = [0, *(1 << power for power in range(9, 18) if 1 << power < limit)]
    points = []
    for threshold in thresholds:
        progress(f"threshold {threshold}")
        plan = replace(outcome.plan, routing_threshold=threshold)
        points.append((float(threshold), evaluate(plan, answer.question)))
    return tuple(points)
