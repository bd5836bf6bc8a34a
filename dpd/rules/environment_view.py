"""From an endpoint of an environment file to the view that the rules take."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dpd.config import ColocatedEndpoint, DisaggregatedEndpoint, Environment
from dpd.config.source import KeyPath
from dpd.manifest.endpoint_spec import (
    AnyEndpoint,
    endpoint_spec,
    environment_variables,
    field_flags,
)
from dpd.rules.manifest_view import Knowledge, manifest_view
from dpd.rules.view import EndpointView

FIELD_FLAGS = {
    "model": "model",
    "tensor-parallel-size": "tensorParallelSize",
    "max-model-len": "maxModelLenTokens",
    "gpu-memory-utilization": "gpuMemoryUtilization",
}
"""Key of the environment file by the flag that it becomes."""


def environment_views(environment: Environment) -> Iterator[EndpointView]:
    """Yield the view of every endpoint that the operator makes."""
    for index, endpoint in enumerate(environment.endpoints):
        if endpoint.runtime != "operator":
            continue
        path: KeyPath = ("endpoints", index)
        spec = endpoint_spec(environment, endpoint)
        if endpoint.overrides:
            from dpd.manifest.overrides import merge_overrides

            spec = merge_overrides(spec, endpoint.overrides)
        model = environment.model_named(endpoint.model)
        yield manifest_view(
            {
                "metadata": {"name": endpoint.name, "namespace": endpoint.resolved_namespace},
                "spec": spec,
            },
            path=path,
            locate=_locator(endpoint, path),
            knowledge=Knowledge(
                architecture=model.architecture,
                dtype=model.dtype,
                weight_format=model.weight_format,
                instance_types=_instance_types(environment, endpoint),
            ),
        )


def _instance_types(environment: Environment, endpoint: AnyEndpoint) -> dict[str, str]:
    """Return the instance type of each role."""
    return {
        "worker" if role == "workers" else role: environment.instance_group_named(
            workers.instance_group
        ).instance_type
        for role, workers in endpoint.roles.items()
    }


def _origins(endpoint: AnyEndpoint) -> Iterator[KeyPath]:
    """Yield where in the endpoint each argument of all workers comes from."""
    for flag in field_flags(endpoint):
        yield from [(FIELD_FLAGS.get(flag.removeprefix("--"), "name"),)] * 2
    yield from (("args", index) for index in range(len(endpoint.args)))
    if isinstance(endpoint, ColocatedEndpoint):
        yield from (("workers", "args", index) for index in range(len(endpoint.workers.args)))


def _locator(endpoint: AnyEndpoint, path: KeyPath) -> Callable[[KeyPath], KeyPath]:
    """Return what finds the place in the file behind a field of the custom resource."""
    arguments = list(_origins(endpoint))
    variables = list(environment_variables(endpoint))
    first = "prefill" if isinstance(endpoint, DisaggregatedEndpoint) else "workers"

    def locate(keys: KeyPath) -> KeyPath:
        if overridden := _overridden(endpoint.overrides, keys):
            return (*path, "overrides", *overridden)
        match keys:
            case ("worker", "args", int(index), *_) if index < len(arguments):
                return (*path, *arguments[index])
            case ("worker", "environmentVariables", int(index), *_) if index < len(variables):
                return (*path, *_variable(endpoint, variables[index]))
            case ("worker", "image"):
                return (*path, "image")
            case ("worker", "resources", _, str(resource)):
                return (*path, *_resource(resource))
            case ("pdSpec", "routingThreshold"):
                return (*path, "routing", "thresholdTokens")
            case ("intelligentRoutingSpec", "routingStrategy"):
                return (*path, "routing", "strategy")
            case ("pdSpec", "prefillSpec" | "decodingSpec" as role, *rest):
                key = "prefill" if role == "prefillSpec" else "decode"
                return (*path, *_in_role(key, rest))
            case ("replicas",):
                return (*path, "workers", "replicas")
            case ("instanceType",) | ("instanceTypes", *_):
                return (*path, first, "instanceGroup")
            case ("modelName",):
                return (*path, "model")
        return path

    return locate


def _in_role(role: str, rest: list[str | int]) -> KeyPath:
    match rest:
        case ["replicas"]:
            return (role, "replicas")
        case ["args", int(index)]:
            return (role, "args", index)
        case ["nodeSelector", *_]:
            return (role, "instanceGroup")
        case ["resources", _, str(resource)]:
            return _resource(resource)
    return (role,)


def _resource(name: str) -> KeyPath:
    own = {"cpu": "cpu", "memory": "memory", "vpc.amazonaws.com/efa": "requestEfaDevices"}
    return (own.get(name, "tensorParallelSize"),)


def _variable(endpoint: AnyEndpoint, name: str) -> KeyPath:
    if name in endpoint.environment_variables:
        return ("environmentVariables", name)
    return ("kvTransfer", "bufferSize") if name == "PD_BUFFER_SIZE" else ()


def _overridden(overrides: Mapping[str, Any], keys: KeyPath) -> KeyPath:
    """Return how much of a path the overrides spell out; nothing where they do not touch it."""
    value: Any = overrides
    for length, key in enumerate(keys):
        is_inside = isinstance(value, Mapping) and key in value
        is_item = isinstance(value, list) and isinstance(key, int) and key < len(value)
        if not (is_inside or is_item):
            return keys[:length] if length and not isinstance(value, Mapping) else ()
        value = value[key]
    return keys
