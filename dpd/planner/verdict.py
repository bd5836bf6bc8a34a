"""Whether to disaggregate, with the numbers that say so."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpd.errors import UserError
from dpd.planner.advice import Condition, conditions, departures
from dpd.planner.estimate import Lengths, prefill_worker_saturation
from dpd.planner.evaluate import Outcome, evaluate, seconds_text
from dpd.planner.question import Question
from dpd.planner.ranking import rank
from dpd.planner.search import Findings, Progress, search, why_not

Verdict = Literal["disaggregated", "colocated"]

_CLEARLY_BETTER = 0.9
"""At equal cost the simpler topology wins unless the other is 10 % faster, the model's error."""
_MODEL_ERROR = {"ttft": 0.35, "itl": 0.10, "e2e": 0.20}
_OTHER_SEEDS = 3
_CALIBRATED_GPUS = ("H100", "H200", "B200")


@dataclass(frozen=True)
class Answer:
    """What the planner says."""

    question: Question
    findings: Findings
    verdict: Verdict
    chosen: Outcome
    reasons: tuple[str, ...]
    conditions: tuple[Condition, ...]
    confidence: tuple[str, ...]
    saturation: float
    """Requests per second that one prefill worker of the disaggregated plan can take."""


def answer(
    question: Question, *, topology: Verdict | None = None, progress: Progress = lambda _: None
) -> Answer:
    """Return the verdict, or the one that `topology` insists on.

    Raises:
        UserError: the model does not fit, or no plan meets the targets: which, and by how much.
    """
    findings = search(question, progress=progress)
    _refuse_impossible(question, findings, topology)
    verdict = topology or _verdict(question, findings)
    chosen = findings.disaggregated if verdict == "disaggregated" else findings.colocated
    if chosen is None:
        reason = why_not(question, is_disaggregated=verdict == "disaggregated")
        raise UserError(f"no {verdict} plan can run: {reason}")
    saturation = 0.0
    if findings.disaggregated is not None:
        plan = findings.disaggregated.plan
        saturation = prefill_worker_saturation(question, plan, findings.lengths)
    return Answer(
        question=question,
        findings=findings,
        verdict=verdict,
        chosen=chosen,
        reasons=(
            *_reasons(question, findings, saturation),
            *_headroom_reasons(question, findings, progress),
        ),
        conditions=_conditions(question, findings.lengths, chosen),
        confidence=(*_confidence(question, chosen, progress), *_close_calls(findings, chosen)),
        saturation=saturation,
    )


def _verdict(question: Question, findings: Findings) -> Verdict:
    one, other = findings.disaggregated, findings.colocated
    if one is None or other is None:
        return "colocated" if one is None else "disaggregated"
    mine, others = rank(one, question), rank(other, question)
    if mine[:2] != others[:2]:
        return "disaggregated" if mine[:2] < others[:2] else "colocated"
    return "disaggregated" if mine[2] < _CLEARLY_BETTER * others[2] else "colocated"


def _refuse_impossible(question: Question, findings: Findings, topology: Verdict | None) -> None:
    allowed = {"disaggregated": findings.disaggregated, "colocated": findings.colocated}
    found = [o for name, o in allowed.items() if o is not None and topology in (None, name)]
    if not found or any(outcome.is_good for outcome in found):
        return
    best = min(found, key=lambda outcome: rank(outcome, question))
    what = f"the best plan of up to {question.max_nodes} nodes ({best.plan.describe()})"
    lines = [f"target cannot be met: {miss} with {what}" for miss in best.misses]
    if best.result.is_overloaded:
        lines.append(
            f"traffic cannot be served: {what} finishes {best.result.request_rate:.2f} requests a "
            f"second of {findings.lengths.rate:.2f}; raise --max-nodes or lower the rate"
        )
    raise UserError(*lines)


def _reasons(question: Question, findings: Findings, saturation: float) -> tuple[str, ...]:
    reasons = []
    one, other = findings.disaggregated, findings.colocated
    if one is None:
        reason = why_not(question, is_disaggregated=True)
        reasons.append(f"no disaggregated plan can run: {reason}")
    else:
        same, half = findings.same_gpus, findings.half_gpus
        rate = findings.lengths.remote(one.plan.routing_threshold).rate
        load = f"; the traffic brings {rate:.2f}" if np.isfinite(rate) else ""
        reasons.append(
            f"one prefill worker saturates at {saturation:.2f} prompts a second{load}, "
            f"and the plan has {one.plan.prefill_replicas}"
        )
        reasons += departures(question, one, findings.lengths)
        if same is not None:
            reasons.append(_compared(one, same, f"colocated on the same {same.gpus} GPUs"))
        if half is not None:
            reasons.append(_compared(one, half, "colocated on half the GPUs"))
    if one is not None and other is not None:
        reasons.append(
            f"cheapest plan that meets the targets: disaggregated {_price(one)}, "
            f"colocated {_price(other)}"
        )
    return tuple(reasons)


def _headroom_reasons(
    question: Question, findings: Findings, progress: Progress
) -> tuple[str, ...]:
    one, same = findings.disaggregated, findings.same_gpus
    if one is None or same is None or question.is_open_ended:
        return ()
    progress("looking for the highest load")
    mine, others = (f"{headroom(question, outcome):.2g}" for outcome in (one, same))
    return (
        f"per GPU: the disaggregated plan stays within the targets up to {mine} times this load, "
        f"colocated on the same {same.gpus} GPUs up to {others} times",
    )


def _compared(one: Outcome, other: Outcome, name: str) -> str:
    mine, others = one.result, other.result
    change = f" ({mine.itl.p50 / others.itl.p50 - 1:+.0%})" if others.itl.p50 else ""
    return (
        f"against {name}: inter-token latency p50 {seconds_text(mine.itl.p50)} to "
        f"{seconds_text(others.itl.p50)}{change}, time to first "
        f"token p50 {seconds_text(mine.ttft.p50)} to {seconds_text(others.ttft.p50)}, output "
        f"{mine.output_token_rate:.0f} to {others.output_token_rate:.0f} tokens/s"
        + (" (it cannot keep up)" if others.is_overloaded else "")
    )


def _price(outcome: Outcome) -> str:
    if not outcome.is_good:
        return f"none (best: {outcome.plan.describe()})"
    return f"${outcome.usd_per_hour:.2f}/h ({outcome.plan.describe()})"


def _conditions(question: Question, lengths: Lengths, chosen: Outcome) -> tuple[Condition, ...]:
    return conditions(
        question,
        inputs=float(np.median(lengths.inputs)),
        outputs=float(np.median(lengths.outputs)),
        rate=lengths.rate if np.isfinite(lengths.rate) else chosen.result.request_rate,
    )


def _confidence(question: Question, chosen: Outcome, progress: Progress) -> tuple[str, ...]:
    """Return how sure the numbers are: chance, the model's known error, and what it leaves out."""
    progress("repeating with other seeds")
    runs = [chosen]
    if question.traffic.trace is None:
        runs += [
            evaluate(chosen.plan, question, seed=question.seed + step)
            for step in range(1, _OTHER_SEEDS + 1)
        ]
    lines = []
    for name, values in (
        ("TTFT p95", [run.result.ttft.p95 for run in runs]),
        ("inter-token latency p95", [run.result.itl.p95 for run in runs]),
    ):
        low, high = seconds_text(min(values)), seconds_text(max(values))
        if len(runs) > 1:
            lines.append(f"{name} over {len(runs)} seeds: {low} to {high}")
    lines.append(
        "model error where it was measured: inter-token latency and throughput within "
        f"{_MODEL_ERROR['itl']:.0%}, TTFT within {_MODEL_ERROR['ttft']:.0%} below saturation "
        "(docs/planner-accuracy.md)"
    )
    close = [
        name
        for name, error in _MODEL_ERROR.items()
        for _, ratio in _ratios(question, chosen, name)
        if ratio * (1 + error) > 1
    ]
    if close:
        lines.append(
            f"low: within that error {', '.join(dict.fromkeys(close))} may miss its target"
        )
    if question.instance.gpu not in _CALIBRATED_GPUS:
        lines.append(
            f"low: no step time of {question.instance.gpu} was compared with a measurement"
        )
    if question.model.is_mixture_of_experts:
        lines.append("low: no mixture of experts was compared with a measurement")
    return tuple(lines)


def _close_calls(findings: Findings, chosen: Outcome) -> tuple[str, ...]:
    """Return the plan of the other topology that would win but for a miss within the error."""
    colocated = (findings.colocated, findings.same_gpus, findings.half_gpus)
    others = (o for o in (*colocated, *findings.sweep) if o is not None)
    close = [
        other
        for other in others
        if other.plan.is_disaggregated != chosen.plan.is_disaggregated
        and other.usd_per_hour <= chosen.usd_per_hour
        and 1 < other.worst_ratio < 1 + _MODEL_ERROR["itl"]
        and not other.result.is_overloaded
    ]
    if not close:
        return ()
    nearest = min(close, key=lambda other: (other.usd_per_hour, other.worst_ratio))
    return (
        f"low: the verdict hangs on {nearest.plan.describe()} for ${nearest.usd_per_hour:.2f}/h, "
        f"which misses by {nearest.worst_ratio - 1:.0%}, less than the model's error: "
        "measure both",
    )


def _ratios(question: Question, outcome: Outcome, name: str) -> list[tuple[float, float]]:
    latency = getattr(outcome.result, name)
    limits = getattr(question.targets, name).limits()
    return [(share, latency.at(share) / limit) for share, limit in limits]


def headroom(question: Question, outcome: Outcome) -> float:
    """Return the load, in units of the question's, up to which a plan stays good; 4 at most."""
    low, high = 0.0, 4.0
    for _ in range(6):
        load = (low + high) / 2
        traffic = question.traffic.scaled(question.traffic.load * load)
        if evaluate(outcome.plan, question, traffic=traffic).is_good:
            low = load
        else:
            high = load
    return low
