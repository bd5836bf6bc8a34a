"""Builds the custom resource of an endpoint."""

from collections.abc import Sequence

from pydantic import ValidationError

from dpd.catalog import instance_types, worker_images
from dpd.config import ColocatedEndpoint, DisaggregatedEndpoint, Environment, Workers
from dpd.config.naming import model_bucket, sagemaker_endpoint_name
from dpd.errors import UserError
from dpd.manifest.disaggregation import PdSpec, RoleSpec, TopologySpec
from dpd.manifest.endpoint_config import InferenceEndpointConfig, InferenceEndpointSpec, Tag
from dpd.manifest.env_var import EnvVar
from dpd.manifest.kv_cache import KvCacheSpec
from dpd.manifest.metadata import ObjectMeta
from dpd.manifest.metrics import MetricsConfig, ModelMetrics
from dpd.manifest.model_source import ModelSourceConfig, S3Storage
from dpd.manifest.overrides import override_spec
from dpd.manifest.primitives import KubernetesObject
from dpd.manifest.resources import ResourceRequirements
from dpd.manifest.routing import IntelligentRoutingSpec, LoadBalancer
from dpd.manifest.worker import ModelInvocationPort, ModelVolumeMount, Worker

INSTANCE_GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
MODEL_PATH = "/opt/ml/model"
PORT = 8000
"""vLLM's own default; requests, `/health` and `/metrics` all go there."""

AnyEndpoint = DisaggregatedEndpoint | ColocatedEndpoint


def endpoint_config(environment: Environment, endpoint: AnyEndpoint) -> InferenceEndpointConfig:
    """Return the custom resource of an endpoint, its raw `overrides` merged in last.

    Raises:
        UserError: An override names a field that the custom resource does not have, or gives it
            a value that it does not take.
    """
    spec = _spec(environment, endpoint)
    if endpoint.overrides:
        try:
            spec = override_spec(spec, endpoint.overrides)
        except ValidationError as error:
            raise UserError(*_lines(endpoint, error)) from None
    metadata = ObjectMeta(name=endpoint.name, namespace=endpoint.resolved_namespace)
    return InferenceEndpointConfig(metadata=metadata, spec=spec)


def _spec(environment: Environment, endpoint: AnyEndpoint) -> InferenceEndpointSpec:
    model = environment.model_named(endpoint.model)
    common = InferenceEndpointSpec(
        endpoint_name=sagemaker_endpoint_name(environment, endpoint),
        invocation_endpoint="v1/chat/completions",
        model_name=model.name,
        model_source_config=ModelSourceConfig(
            model_source_type="s3",
            model_location=model.prefix,
            s3_storage=S3Storage(bucket_name=model_bucket(environment), region=environment.region),
        ),
        load_balancer=LoadBalancer(health_check_path="/health"),
        metrics=MetricsConfig(enabled=True, model_metrics=ModelMetrics(port=PORT)),
        kv_cache_spec=KvCacheSpec(enable_l1_cache=True),
        worker=_worker(endpoint),
        tags=tuple(Tag(name=name, value=value) for name, value in _tags(environment).items()),
    )
    if isinstance(endpoint, ColocatedEndpoint):
        return common.model_copy(update=_colocated(endpoint))
    return common.model_copy(update=_disaggregated(environment, endpoint))


def _disaggregated(environment: Environment, endpoint: DisaggregatedEndpoint) -> dict[str, object]:
    groups = (environment.instance_group_named(w.instance_group) for w in endpoint.roles.values())
    types = tuple(dict.fromkeys(group.instance_type for group in groups))
    one_type = {"instance_type": types[0]} if len(types) == 1 else {"instance_types": types}
    return {
        **one_type,
        "intelligent_routing_spec": IntelligentRoutingSpec(
            enabled=True, routing_strategy=endpoint.routing.strategy
        ),
        "pd_spec": PdSpec(
            prefill_spec=_role(environment, endpoint, endpoint.prefill),
            decoding_spec=_role(environment, endpoint, endpoint.decode),
            routing_threshold=endpoint.routing.threshold_tokens,
            topology_spec=TopologySpec(same_az=True),
        ),
    }


def _colocated(endpoint: ColocatedEndpoint) -> dict[str, object]:
    update: dict[str, object] = {
        "replicas": endpoint.workers.replicas,
        # Instead of an instance type, which the custom resource does not take beside it.
        "node_affinity": _affinity(endpoint.workers),
    }
    if endpoint.routing is not None:
        update["intelligent_routing_spec"] = IntelligentRoutingSpec(
            enabled=True, routing_strategy=endpoint.routing.strategy
        )
    return update


def _affinity(workers: Workers) -> KubernetesObject:
    label = {"key": INSTANCE_GROUP_LABEL, "operator": "In", "values": [workers.instance_group]}
    terms = [{"matchExpressions": [label]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _role(environment: Environment, endpoint: AnyEndpoint, workers: Workers) -> RoleSpec:
    resources = {"nvidia.com/gpu": str(endpoint.tensor_parallel_size)}
    if endpoint.request_efa_devices:
        group = environment.instance_group_named(workers.instance_group)
        node = instance_types()[group.instance_type]
        devices = node.efa_devices * endpoint.tensor_parallel_size // node.gpu_count
        resources["vpc.amazonaws.com/efa"] = str(devices)
    role = RoleSpec(
        replicas=workers.replicas,
        node_selector={INSTANCE_GROUP_LABEL: workers.instance_group},
        resources=ResourceRequirements(requests=resources, limits=resources),
    )
    return role.model_copy(update={"args": workers.args}) if workers.args else role


def _worker(endpoint: AnyEndpoint) -> Worker:
    known = worker_images().get(endpoint.image)
    resources = {
        "cpu": str(endpoint.cpu),
        "memory": _quantity(endpoint.memory),
        "nvidia.com/gpu": str(endpoint.tensor_parallel_size),
    }
    return Worker(
        image=known.reference if known else endpoint.image,
        args=tuple(_args(endpoint)),
        model_invocation_port=ModelInvocationPort(name="http", container_port=PORT),
        model_volume_mount=ModelVolumeMount(name="model-weights", mount_path=MODEL_PATH),
        resources=ResourceRequirements(requests=resources, limits=resources),
        environment_variables=tuple(
            EnvVar(name=name, value=value) for name, value in _variables(endpoint).items()
        ),
    )


def _args(endpoint: AnyEndpoint) -> Sequence[str]:
    flags = {
        "--model": MODEL_PATH,
        "--host": "0.0.0.0",  # noqa: S104 - the pod's own address is not known before it runs
        "--port": PORT,
        "--tensor-parallel-size": endpoint.tensor_parallel_size,
        "--max-model-len": endpoint.max_model_len_tokens,
        "--gpu-memory-utilization": endpoint.gpu_memory_utilization,
    }
    own = [word for flag, value in flags.items() for word in (flag, str(value))]
    shared = endpoint.workers.args if isinstance(endpoint, ColocatedEndpoint) else ()
    return [*own, *endpoint.args, *shared]


def _quantity(size: int) -> str:
    return f"{size // 2**20}Mi" if size % 2**30 else f"{size // 2**30}Gi"


def _variables(endpoint: AnyEndpoint) -> dict[str, str]:
    variables = {"HF_HOME": "/tmp/hf_home"}  # noqa: S108 - inside the container
    if isinstance(endpoint, DisaggregatedEndpoint):
        variables |= {
            "PD_BUFFER_SIZE": str(endpoint.kv_transfer.buffer_size),
            "LMCACHE_SAVE_DECODE_CACHE": "False",
            # Seeds the hash of every KV chunk: unequal seeds mean that decode finds nothing.
            "PYTHONHASHSEED": "0",
        }
    return variables | endpoint.environment_variables


def _tags(environment: Environment) -> dict[str, str]:
    return {"dpd:environment": environment.name, **environment.tags}


def _lines(endpoint: AnyEndpoint, error: ValidationError) -> list[str]:
    return [
        f"endpoints.{endpoint.name}.overrides.{'.'.join(map(str, item['loc']))}: {item['msg']}"
        for item in error.errors(include_url=False)
    ]
