"""What an endpoint of an environment file asks the planner, its vLLM arguments included."""

from collections.abc import Mapping
from dataclasses import replace

from dpd.catalog import instance_types, model_architectures, routers
from dpd.catalog.vllm_flags import number_of, parse, whole_number
from dpd.config import AnyEndpoint, Environment
from dpd.config.capacity import node_type
from dpd.errors import UserError
from dpd.planner.defaults import GPU_MEMORY_UTILIZATION
from dpd.planner.memory import kv_cache_formats, weight_formats
from dpd.planner.question import Connector, Question
from dpd.planner.traffic import Traffic

_DTYPES = {"half": "float16", "float": "float32"}
_SIXTEEN_BITS = ("bfloat16", "float16")
_MOST_GPUS = 8
_READ = ("quantization", "dtype", "kv-cache-dtype", "gpu-memory-utilization", "max-model-len")


def question_of(environment: Environment, endpoint: AnyEndpoint, traffic: Traffic) -> Question:
    """Return the question, with the limits that the endpoint sets.

    Raises:
        UserError: roles that differ in what the planner takes to be the same, or something that
            it has no numbers for.
    """
    given = _given(endpoint)
    model = environment.model_named(endpoint.model)
    question = Question(
        model=model_architectures()[model.architecture],
        instance=instance_types()[_instance_type(environment, endpoint)],
        traffic=traffic,
        targets=traffic.profile.targets,
        max_model_len=int(_number(given, "max-model-len", endpoint.max_model_len_tokens)),
        weight_format=_weights(given, model.weight_format),
        kv_cache_format=_known(given, "kv-cache-dtype", "auto", kv_cache_formats()),
        tensor_parallel=tuple(dict.fromkeys((endpoint.tensor_parallel_size, _MOST_GPUS))),
    )
    share = _number(given, "gpu-memory-utilization", endpoint.gpu_memory_utilization)
    if endpoint.topology == "colocated":
        question = replace(question, colocated_gpu_memory_utilization=share)
    else:
        question = replace(question, gpu_memory_utilization=share)
    if endpoint.runtime == "operator":
        return question
    connector: Connector = "nixl"
    if endpoint.topology == "disaggregated":
        connector = endpoint.kv_transfer.connector
    return self_managed(
        question,
        connector=connector,
        router=endpoint.routing.router,
        gpu_memory_utilization=share,
    )


def self_managed(
    question: Question,
    *,
    connector: Connector = "nixl",
    router: str = "production-stack",
    gpu_memory_utilization: float = GPU_MEMORY_UTILIZATION,
) -> Question:
    """Return a question about workers that the operator does not run: what else they can do.

    LMCache's connector has one receiver; NIXL has no buffer beside vLLM's share of the memory.
    """
    return replace(
        question,
        runtime="self-managed",
        connector=connector,
        has_threshold=routers()[router].threshold,
        gpu_memory_utilization=gpu_memory_utilization,
    )


def _instance_type(environment: Environment, endpoint: AnyEndpoint) -> str:
    """Return the one type of the roles' nodes, as HyperPod spells it: prices go by that name."""
    groups = {workers.instance_group for workers in endpoint.roles.values()}
    types = {node_type(environment.nodes_named(group)).name for group in groups}
    if len(types) > 1:
        raise UserError(
            f"endpoint {endpoint.name}: roles on {' and '.join(sorted(types))}; the planner "
            "compares plans on one instance type"
        )
    return types.pop()


def _given(endpoint: AnyEndpoint) -> Mapping[str, str]:
    """Return the values of the flags that are read; a role's argument replaces all workers'."""
    shared = {flag.name: flag.value for flag in parse(endpoint.args, ())}
    by_role = {
        role: shared | {flag.name: flag.value for flag in parse(workers.args, ())}
        for role, workers in endpoint.roles.items()
    }
    given: dict[str, str] = {}
    for name in _READ:
        values = {role: flags[name] for role, flags in by_role.items() if name in flags}
        if not values:
            continue
        if len(set(values.values())) > 1 or len(values) < len(by_role):
            told = ", ".join(f"{role} {by_role[role].get(name, 'none')}" for role in by_role)
            raise UserError(
                f"endpoint {endpoint.name}: --{name} differs by role: {told}; the planner takes "
                "the same for all workers: put it into the endpoint's args"
            )
        given[name] = next(iter(values.values()))
    pipeline = {flags.get("pipeline-parallel-size", "1") for flags in by_role.values()}
    if pipeline != {"1"}:
        raise UserError(
            f"endpoint {endpoint.name}: --pipeline-parallel-size {max(pipeline)}: the planner "
            "knows tensor parallelism only"
        )
    return given


def _weights(given: Mapping[str, str], stored: str) -> str:
    """Return the format of the weights on the GPU, as `dpd check` reads it too."""
    if given.get("quantization", "none") not in ("auto", "none"):
        return _known(given, "quantization", stored, weight_formats())
    dtype = given.get("dtype", "auto")
    if stored not in _SIXTEEN_BITS or dtype == "auto":
        return stored
    return _known({"dtype": _DTYPES.get(dtype, dtype)}, "dtype", stored, weight_formats())


def _known(given: Mapping[str, str], flag: str, default: str, allowed: tuple[str, ...]) -> str:
    value = given.get(flag, default)
    if value not in allowed:
        raise UserError(
            f"--{flag} {value}: the planner does not know the size of that; "
            f"allowed: {', '.join(allowed)}"
        )
    return value


def _number(given: Mapping[str, str], flag: str, default: float) -> float:
    if flag not in given:
        return default
    value = whole_number(given[flag]) if flag == "max-model-len" else number_of(given[flag])
    if value is None or value <= 0:
        raise UserError(f"--{flag} {given[flag]}: allowed: a number, more than 0")
    return value
