"""Capacity: how a model is divided over the GPUs of a worker."""

from collections.abc import Iterator

from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Role


@rule(
    "DPD204",
    Severity.ERROR,
    title="A worker asks for the GPUs that vLLM divides the model over",
    source=sources.VLLM_CONFIG,
)
def enough_gpus(endpoint: EndpointView) -> Iterator[Violation]:
    """With fewer GPUs than tensor times pipeline parallel size vLLM does not start."""
    for role in endpoint.roles if endpoint.is_vllm else ():
        tp, gpus, needed = role.tensor_parallel, role.gpus, _gpus_used(role)
        if tp and gpus and needed is not None and needed > gpus.value:
            yield Violation(
                tp.path,
                f"given parallel sizes of {needed} for {role.name}, which has {gpus.value} GPUs",
                f"parallel sizes whose product is {gpus.value} at most",
                "lower --tensor-parallel-size or ask for more nvidia.com/gpu",
            )


@rule(
    "DPD205",
    Severity.WARNING,
    title="A worker uses all GPUs that it asks for",
    source=sources.VLLM_CONFIG,
)
def no_idle_gpus(endpoint: EndpointView) -> Iterator[Violation]:
    """The others stand idle and are billed."""
    for role in endpoint.roles if endpoint.is_vllm and endpoint.is_evenly_divided else ():
        gpus, used = role.gpus, _gpus_used(role)
        if gpus and used is not None and 0 < used < gpus.value:
            yield Violation(
                gpus.path,
                f"given {gpus.value} GPUs for {role.name}, of which vLLM uses {used}",
                f"{used}, or --tensor-parallel-size {gpus.value}",
                "make the two equal",
            )


@rule(
    "DPD208",
    Severity.ERROR,
    title="The tensor parallel size divides the attention heads",
    source=sources.VLLM_CONFIG,
)
def heads_divide(endpoint: EndpointView) -> Iterator[Violation]:
    """It stops with `Total number of attention heads (...) must be divisible by ...`."""
    model = endpoint.architecture
    for role in _distinct(endpoint) if model else ():
        tp = role.tensor_parallel
        if model and tp and tp.value > 0 and model.attention_heads % tp.value:
            fitting = [size for size in (1, 2, 4, 8) if model.attention_heads % size == 0]
            yield Violation(
                tp.path,
                f"given {tp.value} for {endpoint.architecture_name}: {model.attention_heads} heads",
                f"a divisor of {model.attention_heads}: {', '.join(map(str, fitting))}",
                "change --tensor-parallel-size",
            )


@rule(
    "DPD209",
    Severity.WARNING,
    title="KV heads are divided over ranks, not copied",
    source=sources.VLLM_CONFIG,
)
def kv_heads_are_not_replicated(endpoint: EndpointView) -> Iterator[Violation]:
    """Beyond their number vLLM copies them: a rank holds as much KV cache as with fewer GPUs."""
    model = endpoint.architecture
    for role in _distinct(endpoint) if model and endpoint.is_evenly_divided else ():
        tp = role.tensor_parallel
        if model and model.kv_heads and tp and tp.value > model.kv_heads:
            yield Violation(
                tp.path,
                f"given {tp.value} for {model.title} with {model.kv_heads} KV heads",
                f"{model.kv_heads} or less for KV cache to be divided",
                f"count on KV cache as under {model.kv_heads}, or lower it",
            )


def _gpus_used(role: Role) -> int | None:
    """Return the product of all parallel sizes of one node; None where one cannot be read."""
    tp, pp = role.tensor_parallel, role.number("pipeline-parallel-size", 1)
    pcp = role.number("prefill-context-parallel-size", 1)
    dp = role.number("data-parallel-size", 1)
    local = role.number("data-parallel-size-local", dp.value if dp else None)
    nodes = role.number("nnodes", 1)
    if tp and pp and pcp and local and nodes and nodes.value == 1:
        return tp.value * pp.value * pcp.value * local.value
    return None


def _distinct(endpoint: EndpointView) -> Iterator[Role]:
    """Yield the roles, but one only where both take the same flag."""
    seen = set()
    for role in endpoint.roles if endpoint.is_vllm else ():
        tp = role.tensor_parallel
        if tp and tp.path not in seen:
            seen.add(tp.path)
            yield role
