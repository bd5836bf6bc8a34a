"""The answer as a table for a terminal."""

from collections.abc import Callable, Sequence

from dpd.planner.constants import documented_constants
from dpd.planner.evaluate import Outcome, seconds_text
from dpd.planner.memory import GIB
from dpd.planner.question import Question
from dpd.planner.verdict import Answer

DISAGGREGATED = "disaggregated"
COLOCATED = "colocated"
SAME_GPUS = "colocated, same GPUs"
HALF_GPUS = "colocated, half the GPUs"
"""Names of the plans that are compared, in the table and in the plots."""

_Value = Callable[[Outcome], str]


def alternatives(answer: Answer) -> list[tuple[str, Outcome]]:
    """Return the plans to show, each with a name."""
    findings = answer.findings
    found = [
        (DISAGGREGATED, findings.disaggregated),
        (COLOCATED, findings.colocated),
        (SAME_GPUS, findings.same_gpus),
        (HALF_GPUS, findings.half_gpus),
    ]
    shown: list[tuple[str, Outcome]] = []
    for name, outcome in found:
        if outcome is not None:
            shown.append((name, outcome))
    return shown


def rows(answer: Answer) -> list[list[str]]:
    """Return the table: a header, then one row per value."""
    shown = alternatives(answer)
    table = [["", *(name for name, _ in shown)]]
    for label, value in _VALUES:
        table.append([label, *(value(outcome) for _, outcome in shown)])
    saturation = f"{answer.saturation:.2f} prompts a second"
    table.append(
        [
            "one prefill worker saturates at",
            *(_only_disaggregated(saturation, outcome) for _, outcome in shown),
        ]
    )
    return table


def report(answer: Answer) -> str:
    """Return the whole report."""
    lines = [f"Verdict: {answer.verdict} ({answer.chosen.plan.describe()})", ""]
    lines += aligned(rows(answer))
    lines += ["", "Why", *(f"  - {reason}" for reason in answer.reasons)]
    lines += ["", "AWS's conditions for disaggregation"]
    lines += [
        f"  {'yes' if condition.is_met else 'no ':3} {condition.text}: {condition.value}"
        for condition in answer.conditions
    ]
    lines += ["", "How sure", *(f"  - {line}" for line in answer.confidence)]
    lines += ["", "Assumptions", *(f"  - {line}" for line in assumptions(answer.question))]
    return "\n".join(lines)


def assumptions(question: Question) -> list[str]:
    """Return what the numbers rest on, with values."""
    prices = question.prices
    batch = {size: question.costs(size) for size in question.tensor_parallel}
    lines = [
        f"{question.instance.name} at ${question.usd_per_node_hour:.2f} an hour ({prices.source}, "
        f"{prices.region}, {prices.date}); nodes are paid whole",
        f"{question.model.title}, weights {question.weight_format}, KV cache "
        f"{question.kv_cache_format}, at most {question.max_model_len} tokens a request; "
        f"gpu-memory-utilization {question.gpu_memory_utilization:g} disaggregated, "
        f"{question.colocated_gpu_memory_utilization:g} colocated",
        *(
            f"TP {size}: {question.kv_bytes(size):,} B of KV cache per token and rank; "
            f"{question.memory(size, is_disaggregated=False)}"
            for size in batch
        ),
        *_transfer(question),
        "KV cache of prompt and answer is reserved at admission; no preemption, no failures, "
        "no speculative decoding; prefix cache only as sharedPrefix says",
        f"{question.requests} requests a run, seed {question.seed}; the first fifth is warm-up",
    ]
    lines += [
        f"{entry.name} {entry.value:g} {entry.unit}".rstrip() + f" ({entry.source.split(';')[0]})"
        for entry in documented_constants()
    ]
    return lines


def _transfer(question: Question) -> list[str]:
    """Return what is assumed of another connector than the operator's, which was measured."""
    if question.connector == "lmcache":
        return []
    return [
        "NIXL: decode takes prompts into its own KV cache, without a buffer or a copy; hand-over "
        "and network cost what they do with LMCache"
    ]


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with columns of equal width, a rule under the header."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return lines


def _latency(name: str, share: float) -> _Value:
    def value(outcome: Outcome) -> str:
        return seconds_text(getattr(outcome.result, name).at(share))

    return value


def _workers(outcome: Outcome) -> str:
    plan = outcome.plan
    if not plan.is_disaggregated:
        return f"{plan.decode_replicas} x TP {plan.tensor_parallel}"
    return f"{plan.prefill_replicas} + {plan.decode_replicas} x TP {plan.tensor_parallel}"


def _only_disaggregated(text: str, outcome: Outcome) -> str:
    return text if outcome.plan.is_disaggregated else "-"


def _batch(outcome: Outcome) -> str:
    plan = outcome.plan
    sequences, tokens = plan.decode_max_num_seqs, plan.decode_max_num_batched_tokens
    text = f"{sequences} / {tokens}"
    if plan.is_disaggregated:
        text = f"{plan.prefill_max_num_seqs} / {plan.prefill_max_num_batched_tokens}, {text}"
    return text


_VALUES: list[tuple[str, _Value]] = [
    ("workers (prefill + decode)", _workers),
    ("routing threshold, tokens", lambda o: _only_disaggregated(f"{o.plan.routing_threshold}", o)),
    (
        "PD buffer",
        lambda o: f"{o.plan.pd_buffer_bytes / GIB:g} GiB" if o.plan.pd_buffer_bytes else "-",
    ),
    ("max-num-seqs / batched tokens", _batch),
    ("nodes (GPUs)", lambda o: f"{o.nodes} ({o.gpus})"),
    ("cost an hour", lambda o: f"${o.usd_per_hour:.2f}"),
    ("cost of a million output tokens", lambda o: f"${o.usd_per_million_tokens:.2f}"),
    *((f"TTFT p{share * 100:g}", _latency("ttft", share)) for share in (0.5, 0.95, 0.99)),
    *(
        (f"inter-token latency p{share * 100:g}", _latency("itl", share))
        for share in (0.5, 0.95, 0.99)
    ),
    ("gap between two tokens p99", _latency("token_gap", 0.99)),
    *((f"end to end p{share * 100:g}", _latency("e2e", share)) for share in (0.5, 0.95)),
    ("output tokens a second", lambda o: f"{o.result.output_token_rate:.0f}"),
    (
        "output tokens a second per GPU",
        lambda o: f"{o.result.output_token_rate / o.gpus:.1f}",
    ),
    ("requests a second", lambda o: f"{o.result.request_rate:.2f}"),
    (
        "within targets",
        lambda o: f"{o.result.good_share:.1%}, {o.goodput:.2f} a second",
    ),
    (
        "busy: prefill, decode",
        lambda o: (
            f"{o.result.prefill_utilization:.0%}, {o.result.decode_utilization:.0%}"
            if o.plan.is_disaggregated
            else f"{o.result.decode_utilization:.0%}"
        ),
    ),
    (
        "decode filled: batch, KV cache",
        lambda o: f"{o.result.decode_batch_fill:.0%}, {o.result.decode_kv_fill:.0%}",
    ),
    (
        "sent to prefill workers",
        lambda o: _only_disaggregated(f"{o.result.remote_share:.0%}", o),
    ),
    ("keeps up", lambda o: "no" if o.result.is_overloaded else "yes"),
    ("meets the targets", lambda o: "yes" if o.is_good else "no"),
]
