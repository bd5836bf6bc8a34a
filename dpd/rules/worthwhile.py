"""Worthwhile: conditions under which disaggregation costs more than it gains."""

from collections.abc import Iterator, Mapping

from dpd.planner import defaults, memory
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Role, Written

_OUTPUT_TOKENS = defaults.LONG_ANSWER_TOKENS
_TESTED_REQUESTS = 64
_MOST_PREFILL_WORKERS = 3


@rule(
    "DPD001",
    Severity.WARNING,
    title="Disaggregation pays for large models",
    source=sources.DPD_GUIDE,
)
def model_is_large(endpoint: EndpointView) -> Iterator[Violation]:
    """A dense model below 70B prefills fast enough beside decoding; a transfer only adds to it."""
    model = endpoint.architecture
    if (
        endpoint.is_disaggregated
        and model
        and not model.is_mixture_of_experts
        and model.parameters < defaults.LARGE_MODEL_PARAMETERS
    ):
        yield Violation(
            _model_path(endpoint),
            f"given {model.title} of {model.parameters / 1e9:.1f}B parameters",
            "dense models of 70B or more",
            "serve it colocated, unless it is for trying things out",
        )


@rule(
    "DPD002",
    Severity.WARNING,
    title="Disaggregation pays for dense models",
    source=sources.DPD_GUIDE,
)
def model_is_dense(endpoint: EndpointView) -> Iterator[Violation]:
    """A token uses few of the parameters, so prefill is short for the KV cache that it makes."""
    model = endpoint.architecture
    if endpoint.is_disaggregated and model and model.is_mixture_of_experts:
        active, all_ = model.active_parameters / 1e9, model.parameters / 1e9
        yield Violation(
            _model_path(endpoint),
            f"given {model.title}, which uses {active:.1f}B of {all_:.0f}B parameters per token",
            "dense models",
            "compare with a colocated endpoint before paying for both roles",
        )


@rule(
    "DPD003",
    Severity.WARNING,
    title="Disaggregation pays for long prompts",
    source=sources.DPD_GUIDE,
)
def prompts_are_long(endpoint: EndpointView) -> Iterator[Violation]:
    """From about 4,096 tokens; shorter prompts wait longer for the transfer than they gain."""
    threshold = endpoint.threshold
    if threshold and 0 < threshold.value < defaults.LONG_PROMPT_TOKENS:
        yield Violation(
            threshold.path,
            f"given {threshold.value}, so prompts that short go through prefill",
            f"{defaults.LONG_PROMPT_TOKENS} tokens or more",
            "raise the threshold, or be sure that your prompts gain",
        )


@rule(
    "DPD004",
    Severity.WARNING,
    title="Disaggregation pays for long answers",
    source=sources.DPD_GUIDE,
)
def answers_are_long(endpoint: EndpointView) -> Iterator[Violation]:
    """From about 256 tokens; with fewer there is little decoding that prefill could disturb."""
    threshold = endpoint.threshold
    for role in endpoint.roles if threshold and endpoint.is_vllm else ():
        length = role.number("max-model-len", None)
        if threshold and length and 0 < length.value - threshold.value < _OUTPUT_TOKENS:
            yield Violation(
                length.path,
                f"given {length.value}, which leaves {length.value - threshold.value} tokens for "
                f"an answer to a prompt of {threshold.value}",
                f"{_OUTPUT_TOKENS} tokens or more",
                "raise max-model-len or lower the threshold",
            )
            return


@rule(
    "DPD005",
    Severity.WARNING,
    title="Disaggregation pays from two requests a second on",
    source=sources.DPD_GUIDE,
)
def rate_is_high(endpoint: EndpointView) -> Iterator[Violation]:
    """A limit on concurrent requests is also one on their rate.

    A token takes decode no less than the time to read the weights once; an answer of 256 tokens
    as many times that.
    """
    decode, model = endpoint.decode, endpoint.architecture
    if not (decode and model and decode.node and endpoint.weight_format and endpoint.is_vllm):
        return
    tp = decode.tensor_parallel
    if tp is None or tp.value < 1 or model.is_mixture_of_experts:
        return
    weights = memory.weight_bytes_per_rank(
        model, tensor_parallel=tp.value, weight_format=endpoint.weight_format
    )
    step_seconds = weights / (decode.node.gpu_memory_bandwidth_gb_per_s * 1e9)
    for limit in _request_limits(endpoint, decode):
        rate = limit.value / (step_seconds * _OUTPUT_TOKENS)
        if 0 < rate < defaults.HIGH_REQUESTS_PER_SECOND:
            yield Violation(
                limit.path,
                f"given {limit.value} requests at once: {_OUTPUT_TOKENS} tokens x "
                f"{step_seconds * 1000:.1f} ms make {rate:.1f} requests/s at most",
                f"{defaults.HIGH_REQUESTS_PER_SECOND} requests/s or more",
                "raise the limit, or serve it colocated",
            )


@rule(
    "DPD006",
    Severity.WARNING,
    title="Decode uses CUDA graphs",
    source=sources.DPD_BLOG,
)
def decode_uses_graphs(endpoint: EndpointView) -> Iterator[Violation]:
    """Eager mode suits prefill; in decode the launches of many small kernels show."""
    flag = endpoint.decode.flags.get("enforce-eager") if endpoint.decode else None
    if flag and flag.value == "true" and endpoint.is_vllm:
        yield Violation(
            flag.path,
            "given --enforce-eager for decode",
            "CUDA graphs in decode",
            "move it to the arguments of prefill",
        )


@rule(
    "DPD007",
    Severity.NOTE,
    title="Decode keeps up with its prefill workers",
    source=sources.DPD_BLOG,
)
def prefill_workers_are_few(endpoint: EndpointView) -> Iterator[Violation]:
    """AWS starts at one to one and names two or three to one for long prompts."""
    prefill, decode = endpoint.prefill, endpoint.decode
    if (
        prefill
        and decode
        and prefill.replicas.value > _MOST_PREFILL_WORKERS * decode.replicas.value
    ):
        yield Violation(
            prefill.replicas.path,
            f"given {prefill.replicas.value} prefill replicas for {decode.replicas.value} decode",
            "1 to 3 for each decode replica",
            "see whether decode keeps up",
        )


@rule(
    "DPD008",
    Severity.NOTE,
    title="No more requests at once than were tested",
    source=sources.DPD_GUIDE,
)
def concurrency_was_tested(endpoint: EndpointView) -> Iterator[Violation]:
    """AWS validated that many with Llama 3.3 70B on P5; beyond it, watch the transfer buffer."""
    decode = endpoint.decode
    requests = decode.number("max-num-seqs", defaults.DECODE_MAX_NUM_SEQS) if decode else None
    if requests and requests.value > _TESTED_REQUESTS and endpoint.is_vllm:
        yield Violation(
            requests.path,
            f"given {requests.value} requests at once in decode",
            f"{_TESTED_REQUESTS}, which were tested",
            "load it step by step",
        )


def _request_limits(endpoint: EndpointView, decode: Role) -> Iterator[Written[int]]:
    requests = decode.number("max-num-seqs", defaults.DECODE_MAX_NUM_SEQS)
    if requests:
        yield requests
    limits = endpoint.written("worker", "requestLimits").value
    most = limits.get("maxConcurrentRequests") if isinstance(limits, Mapping) else None
    if type(most) is int:
        yield Written(
            most, endpoint.written("worker", "requestLimits", "maxConcurrentRequests").path
        )


def _model_path(endpoint: EndpointView) -> tuple[str | int, ...]:
    return endpoint.written("modelName").path
