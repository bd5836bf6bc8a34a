"""From a self-managed endpoint to views that the rules about vLLM, GPUs and nodes take.

Rules about the custom resource and its operator have nothing to say about it, so a view comes with
the rules that apply to it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.capacity import node_type
from dpd.config.source import KeyPath
from dpd.rules.environment_view import FIELD_FLAGS
from dpd.rules.manifest_view import Knowledge, manifest_view
from dpd.rules.memory_sums import BUFFER
from dpd.rules.view import EndpointView
from dpd.workload.image import worker_image
from dpd.workload.resources import worker_resources
from dpd.workload.vllm_arguments import vllm_arguments

_OF_A_WORKER = {f"DPD{number}" for number in (110, 111, 112, 116, 118, 206, 208, 209, 214)} | {
    f"DPD{number}" for number in (305, 307, 409, 502, 503, 509)
}
"""Flags, sharding, memory of the GPU, and what a node has."""
_OF_BOTH_ROLES = {f"DPD{number:03}" for number in (1, 2, 6, 402, 403)}
"""Whether disaggregation pays, and what the roles must agree on."""
_OF_THE_BUFFER = {f"DPD{number}" for number in (301, 302, 303, 304, 306)}
"""LMCache's buffer; NIXL has none."""


def self_managed_views(environment: Environment) -> Iterator[tuple[EndpointView, set[str]]]:
    """Yield views of every self-managed endpoint, each with the ids of the rules that apply."""
    for index, endpoint in enumerate(environment.endpoints):
        if endpoint.runtime != "self-managed":
            continue
        path: KeyPath = ("endpoints", index)
        for role in endpoint.roles:
            yield _view(environment, endpoint, path, role), _OF_A_WORKER
        if isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
            has_buffer = endpoint.kv_transfer.connector == "lmcache"
            rules = _OF_BOTH_ROLES | (_OF_THE_BUFFER if has_buffer else set())
            yield _view(environment, endpoint, path, None), rules


def _view(
    environment: Environment, endpoint: SelfManagedEndpoint, path: KeyPath, role: str | None
) -> EndpointView:
    """Return the workers of a role as workers of a kind, or of all roles as prefill and decode."""
    model = environment.model_named(endpoint.model)
    types = {
        each: node_type(environment.nodes_named(workers.instance_group)).name
        for each, workers in endpoint.roles.items()
    }
    worker: dict[str, Any] = {
        "image": worker_image(endpoint).reference,
        "command": ["vllm", "serve"],
        "environmentVariables": _variables(endpoint),
    }
    spec: dict[str, Any] = {"modelName": model.name, "worker": worker}
    if role is not None:
        worker |= _container(environment, endpoint, role)
        types = {"worker": types[role]}
    else:
        spec["pdSpec"] = {
            "prefillSpec": _container(environment, endpoint, "prefill"),
            "decodingSpec": _container(environment, endpoint, "decode"),
        }
    return manifest_view(
        {
            "metadata": {"name": endpoint.name, "namespace": endpoint.resolved_namespace},
            "spec": spec,
        },
        path=path,
        locate=_locator(environment, endpoint, path, role),
        knowledge=Knowledge(
            architecture=model.architecture,
            dtype=model.dtype,
            weight_format=model.weight_format,
            instance_types=types,
        ),
    )


def _container(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> Any:
    resources = worker_resources(environment, endpoint, role)
    return {
        "args": vllm_arguments(environment, endpoint, role)[1:],
        "replicas": endpoint.roles[role].most_replicas,
        "resources": {"requests": resources, "limits": resources},
    }


def _variables(endpoint: SelfManagedEndpoint) -> list[dict[str, str]]:
    """Return the size of the buffer under the name by which the rules know it."""
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        return []
    transfer = endpoint.kv_transfer
    if transfer.connector == "nixl":
        return []
    return [{"name": BUFFER, "value": str(transfer.buffer_size)}]


def _locator(
    environment: Environment, endpoint: SelfManagedEndpoint, path: KeyPath, role: str | None
) -> Callable[[KeyPath], KeyPath]:
    """Return what finds the place in the file behind a field of the view."""

    def locate(keys: KeyPath) -> KeyPath:
        match keys:
            case ("worker", *rest) if role is not None:
                return (*path, *_in_role(environment, endpoint, role, rest))
            case ("worker", "environmentVariables", *_):
                return (*path, "kvTransfer", "bufferSize")
            case ("pdSpec", "prefillSpec" | "decodingSpec" as field, *rest):
                key = "prefill" if field == "prefillSpec" else "decode"
                return (*path, *_in_role(environment, endpoint, key, rest))
            case ("modelName",):
                return (*path, "model")
            case _ if role is not None:
                return (*path, role)
        return path

    return locate


def _in_role(
    environment: Environment, endpoint: SelfManagedEndpoint, role: str, rest: list[str | int]
) -> KeyPath:
    match rest:
        case ["args", int(index), *_]:
            return _argument(environment, endpoint, role, index)
        case ["replicas"]:
            return (role, "replicas")
        case ["resources", _, str(resource), *_]:
            own = {"vpc.amazonaws.com/efa": "efaDevices", "hugepages-2Mi": "hugepages"}
            own |= {"cpu": "cpu", "memory": "memory"}
            return (own.get(resource, "tensorParallelSize"),)
    return (role,)


def _argument(
    environment: Environment, endpoint: SelfManagedEndpoint, role: str, index: int
) -> KeyPath:
    """Return where a word of the arguments was written, or the field that it follows from."""
    words = vllm_arguments(environment, endpoint, role)[1:]
    for key, written in (((role, "args"), endpoint.roles[role].args), (("args",), endpoint.args)):
        if words[index] in written:
            return (*key, written.index(words[index]))
    flag = next((word for word in reversed(words[: index + 1]) if word.startswith("--")), "")
    return (FIELD_FLAGS.get(flag.removeprefix("--"), role),)
