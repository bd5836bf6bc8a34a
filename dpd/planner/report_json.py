"""The answer as data."""

from math import isfinite
from typing import Any

from dpd.planner.constants import documented_constants
from dpd.planner.evaluate import Outcome
from dpd.planner.simulation.simulate import Latency
from dpd.planner.verdict import Answer


def as_data(answer: Answer) -> dict[str, Any]:
    """Return what `--json` prints: camelCase keys, seconds, bytes, US dollars."""
    findings, question = answer.findings, answer.question
    return {
        "verdict": answer.verdict,
        **_plan(answer.chosen),
        "predicted": _predicted(answer.chosen),
        "alternatives": {
            "disaggregated": _outcome(findings.disaggregated),
            "colocated": _outcome(findings.colocated),
            "colocatedSameGpus": _outcome(findings.same_gpus),
            "colocatedHalfGpus": _outcome(findings.half_gpus),
        },
        "prefillWorkerSaturationRequestsPerSecond": answer.saturation,
        "reasons": list(answer.reasons),
        "conditions": [
            {"condition": c.text, "value": c.value, "met": c.is_met} for c in answer.conditions
        ],
        "confidence": list(answer.confidence),
        "assumptions": {
            "model": question.model.name,
            "runtime": question.runtime,
            "connector": question.connector,
            "instanceType": question.instance.name,
            "weights": question.weight_format,
            "kvCache": question.kv_cache_format,
            "maxModelLenTokens": question.max_model_len,
            "gpuMemoryUtilization": question.gpu_memory_utilization,
            "colocatedGpuMemoryUtilization": question.colocated_gpu_memory_utilization,
            "usdPerNodeHour": question.usd_per_node_hour,
            "pricesOf": question.prices.date,
            "pricesSource": question.prices.source,
            "requests": question.requests,
            "seed": question.seed,
            "constants": {
                entry.name: {"value": entry.value, "unit": entry.unit, "source": entry.source}
                for entry in documented_constants()
            },
        },
    }


def _plan(outcome: Outcome) -> dict[str, Any]:
    """Return the plan's values; those of the other topology are null, its prefill replicas 0."""
    plan = outcome.plan
    is_split = plan.is_disaggregated
    return {
        "prefillReplicas": plan.prefill_replicas,
        "decodeReplicas": plan.decode_replicas,
        "routingThreshold": plan.routing_threshold if is_split else None,
        "pdBufferBytes": plan.pd_buffer_bytes or None,
        "tensorParallelSize": plan.tensor_parallel,
        "prefillMaxNumSeqs": plan.prefill_max_num_seqs if is_split else None,
        "prefillMaxNumBatchedTokens": plan.prefill_max_num_batched_tokens if is_split else None,
        "decodeMaxNumSeqs": plan.decode_max_num_seqs,
        "decodeMaxNumBatchedTokens": plan.decode_max_num_batched_tokens,
    }


def _outcome(outcome: Outcome | None) -> dict[str, Any] | None:
    if outcome is None:
        return None
    return {**_plan(outcome), "predicted": _predicted(outcome)}


def _predicted(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    per_million = outcome.usd_per_million_tokens
    return {
        "nodes": outcome.nodes,
        "gpus": outcome.gpus,
        "usdPerHour": outcome.usd_per_hour,
        "usdPerMillionOutputTokens": per_million if isfinite(per_million) else None,
        "ttftSeconds": _latency(result.ttft),
        "interTokenLatencySeconds": _latency(result.itl),
        "tokenGapSeconds": _latency(result.token_gap),
        "endToEndSeconds": _latency(result.e2e),
        "requestsPerSecond": result.request_rate,
        "outputTokensPerSecond": result.output_token_rate,
        "goodputRequestsPerSecond": outcome.goodput,
        "withinTargets": result.good_share,
        "prefillUtilization": result.prefill_utilization,
        "decodeUtilization": result.decode_utilization,
        "decodeBatchFill": result.decode_batch_fill,
        "decodeKvCacheFill": result.decode_kv_fill,
        "remoteShare": result.remote_share,
        "bufferWaits": result.buffer_waits,
        "overloaded": result.is_overloaded,
        "meetsTargets": outcome.is_good,
        "misses": [
            {"target": m.name, "seconds": m.seconds, "limitSeconds": m.limit}
            for m in outcome.misses
        ],
    }


def _latency(latency: Latency) -> dict[str, float]:
    return {
        "mean": latency.mean,
        "p50": latency.p50,
        "p90": latency.p90,
        "p95": latency.p95,
        "p99": latency.p99,
    }
