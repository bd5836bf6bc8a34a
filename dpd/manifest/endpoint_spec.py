"""The custom resource's `spec` of an endpoint, as plain data.

Loads none of the typed models, so that a check can look at what would be deployed at once.
"""

from collections.abc import Mapping
from typing import Any

from dpd.catalog import instance_types, worker_images
from dpd.config import ColocatedEndpoint, DisaggregatedEndpoint, Environment, Workers
from dpd.config.naming import model_bucket, sagemaker_endpoint_name

INSTANCE_GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
MODEL_PATH = "/opt/ml/model"
PORT = 8000
"""vLLM's own default; requests, `/health` and `/metrics` all go there."""

AnyEndpoint = DisaggregatedEndpoint | ColocatedEndpoint
Spec = dict[str, Any]


def endpoint_spec(environment: Environment, endpoint: AnyEndpoint) -> Spec:
    """Return the `spec` of an endpoint, without its raw `overrides`."""
    model = environment.model_named(endpoint.model)
    tags = {"dpd:environment": environment.name, **environment.tags}
    spec: Spec = {
        "modelName": model.name,
        "endpointName": sagemaker_endpoint_name(environment, endpoint),
        "tags": [{"name": name, "value": value} for name, value in tags.items()],
        "invocationEndpoint": "v1/chat/completions",
        "modelSourceConfig": {
            "modelSourceType": "s3",
            "modelLocation": model.prefix,
            "s3Storage": {"bucketName": model_bucket(environment), "region": environment.region},
        },
        "loadBalancer": {"healthCheckPath": "/health"},
        "metrics": {"enabled": True, "modelMetrics": {"port": PORT}},
        "kvCacheSpec": {"enableL1Cache": True},
        "worker": _worker(endpoint),
    }
    if endpoint.routing is not None:
        spec["intelligentRoutingSpec"] = {
            "enabled": True,
            "routingStrategy": endpoint.routing.strategy,
        }
    if isinstance(endpoint, ColocatedEndpoint):
        return spec | _colocated(endpoint)
    return spec | _disaggregated(environment, endpoint)


def arguments(endpoint: AnyEndpoint) -> list[str]:
    """Return the vLLM arguments of all workers; those of one role only are in its own spec."""
    own = [word for flag, value in field_flags(endpoint).items() for word in (flag, str(value))]
    colocated = endpoint.workers.args if isinstance(endpoint, ColocatedEndpoint) else ()
    return [*own, *endpoint.args, *colocated]


def field_flags(endpoint: AnyEndpoint) -> Mapping[str, object]:
    """Return the vLLM flags that come from fields of the endpoint, in their order."""
    return {
        "--model": MODEL_PATH,
        "--host": "0.0.0.0",  # noqa: S104 - the pod's own address is not known before it runs
        "--port": PORT,
        "--tensor-parallel-size": endpoint.tensor_parallel_size,
        "--max-model-len": endpoint.max_model_len_tokens,
        "--gpu-memory-utilization": endpoint.gpu_memory_utilization,
    }


def environment_variables(endpoint: AnyEndpoint) -> Mapping[str, str]:
    """Return the environment variables of all workers."""
    variables = {"HF_HOME": "/tmp/hf_home"}  # noqa: S108 - inside the container
    if isinstance(endpoint, DisaggregatedEndpoint):
        variables |= {
            "PD_BUFFER_SIZE": str(endpoint.kv_transfer.buffer_size),
            "LMCACHE_SAVE_DECODE_CACHE": "False",
            # Seeds the hash of every KV chunk: unequal seeds mean that decode finds nothing.
            "PYTHONHASHSEED": "0",
        }
    return variables | endpoint.environment_variables


def _disaggregated(environment: Environment, endpoint: DisaggregatedEndpoint) -> Spec:
    groups = (environment.instance_group_named(w.instance_group) for w in endpoint.roles.values())
    types = list(dict.fromkeys(group.instance_type for group in groups))
    one_or_more = {"instanceType": types[0]} if len(types) == 1 else {"instanceTypes": types}
    return {
        **one_or_more,
        "pdSpec": {
            "prefillSpec": _role(environment, endpoint, endpoint.prefill),
            "decodingSpec": _role(environment, endpoint, endpoint.decode),
            "routingThreshold": endpoint.routing.threshold_tokens,
            "topologySpec": {"sameAZ": True},
        },
    }


def _colocated(endpoint: ColocatedEndpoint) -> Spec:
    workers = endpoint.workers
    label = {"key": INSTANCE_GROUP_LABEL, "operator": "In", "values": [workers.instance_group]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [label]}]}
    return {
        "replicas": workers.replicas,
        # Instead of an instance type, which the custom resource does not take beside it.
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms},
    }


def _role(environment: Environment, endpoint: AnyEndpoint, workers: Workers) -> Spec:
    # All of them: the pods of a role get nothing of the worker's own resources.
    resources = _resources(endpoint)
    if endpoint.request_efa_devices:
        group = environment.instance_group_named(workers.instance_group)
        node = instance_types()[group.instance_type]
        devices = node.efa_devices * endpoint.tensor_parallel_size // node.gpu_count
        resources["vpc.amazonaws.com/efa"] = str(devices)
    return {
        "replicas": workers.replicas,
        **({"args": list(workers.args)} if workers.args else {}),
        "nodeSelector": {INSTANCE_GROUP_LABEL: workers.instance_group},
        "resources": {"requests": resources, "limits": resources},
    }


def _worker(endpoint: AnyEndpoint) -> Spec:
    known = worker_images().get(endpoint.image)
    resources = _resources(endpoint)
    return {
        "image": known.reference if known else endpoint.image,
        "args": arguments(endpoint),
        "modelInvocationPort": {"name": "http", "containerPort": PORT},
        "modelVolumeMount": {"name": "model-weights", "mountPath": MODEL_PATH},
        "resources": {"requests": resources, "limits": resources},
        "environmentVariables": [
            {"name": name, "value": value}
            for name, value in environment_variables(endpoint).items()
        ],
    }


def _resources(endpoint: AnyEndpoint) -> dict[str, str]:
    size = endpoint.resolved_memory
    return {
        "cpu": str(endpoint.resolved_cpu),
        "memory": f"{size // 2**20}Mi" if size % 2**30 else f"{size // 2**30}Gi",
        "nvidia.com/gpu": str(endpoint.tensor_parallel_size),
    }
