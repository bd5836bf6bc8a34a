"""Endpoints: one model served, disaggregated or colocated."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from dpd.config.base import Config, Name
from dpd.config.units import Bytes, Seconds, byte_range, second_range

EnvironmentVariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Args = Annotated[tuple[str, ...], Field(strict=False)]


def _integer(value: Any) -> Any:
    if type(value) is not int:  # A literal would take `true` for 1 and 8.0 for 8.
        raise ValueError("1, 2, 4 or 8")
    return value


TensorParallelSize = Annotated[Literal[1, 2, 4, 8], BeforeValidator(_integer)]


class Workers(Config):
    """Workers of one role."""

    instance_group: Name
    """Instance group that the workers run on."""
    replicas: Annotated[int, Field(ge=1, le=6758 * 8)] = 1
    """At most eight on each node that an instance group can have."""
    args: Args = ()
    """vLLM arguments of this role only; the same flag of the endpoint's `args` gives way."""


class Routing(Config):
    """How the router picks a worker."""

    strategy: Literal["prefixaware", "kvaware", "session", "roundrobin"] = "prefixaware"
    """By shared prompt prefix, by what a worker's KV cache holds, by session, or in turn."""


class DisaggregatedRouting(Routing):
    """How the router picks a worker and when a prompt goes through prefill workers."""

    threshold_tokens: Annotated[int, Field(ge=0, le=2**31 - 1)] = 4096
    """Prompts of at least this many estimated tokens go to a prefill worker; 0 sends all."""


class KvTransfer(Config):
    """Movement of the KV cache from prefill to decode."""

    buffer_size: Annotated[Bytes, byte_range("1MiB", "256GiB")] = 8 * 2**30
    """Transfer buffer of one GPU; it lies outside `gpuMemoryUtilization`."""


class Readiness(Config):
    """Whether `cdk deploy` waits until the endpoint answers."""

    wait: bool = True
    """Whether the endpoint's stack is complete only when the endpoint answers."""
    timeout: Annotated[Seconds, second_range("1m", "1h")] = 3600
    """One hour at most: CloudFormation waits no longer."""


class _Endpoint(Config):
    name: Name
    """Name of the custom resource and of the endpoint's stack."""
    namespace: Name | None = None
    """Kubernetes namespace, made by the endpoint's stack. Default: the name."""
    model: str
    """Name of one of the environment's models."""
    runtime: Literal["operator"] = "operator"
    """Who makes the workloads: the HyperPod inference operator."""
    image: str = "deep-learning-container"
    """Name of a worker image in the catalog, or a full reference with tag or digest."""
    tensor_parallel_size: TensorParallelSize = 8
    """GPUs of one worker."""
    max_model_len_tokens: Annotated[int, Field(ge=1, le=2**31 - 1)] = 16384
    """Longest prompt and answer together."""
    gpu_memory_utilization: Annotated[float, Field(gt=0, lt=1)] = 0.75
    """Share of GPU memory that vLLM takes; the KV transfer buffer needs part of the rest."""
    cpu: Annotated[int, Field(ge=1, le=1024)] = 96
    """vCPUs of one worker."""
    memory: Annotated[Bytes, byte_range("1GiB", "16TiB")] = 1024 * 2**30
    """Host memory of one worker."""
    request_efa_devices: bool = False
    """Ask for `vpc.amazonaws.com/efa` devices explicitly. The operator is documented to attach EFA
    by itself, so this is for clusters where it does not."""
    args: Args = ()
    """More vLLM arguments for all workers."""
    environment_variables: dict[EnvironmentVariableName, str] = Field(default_factory=dict)
    """More environment variables for all workers; roles cannot differ in them."""
    sagemaker_endpoint: bool = True
    """Also register a SageMaker endpoint of the same name."""
    readiness: Readiness = Readiness()
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Raw InferenceEndpointConfig `spec` fields, merged last, for what is not named above."""

    @property
    def resolved_namespace(self) -> str:
        """Namespace of the endpoint's objects."""
        return self.namespace or self.name


class DisaggregatedEndpoint(_Endpoint):
    """Prefill workers, decode worker and a router with a token threshold."""

    topology: Literal["disaggregated"]
    """Prefill and decode on GPUs of their own."""
    prefill: Workers
    decode: Workers
    routing: DisaggregatedRouting = DisaggregatedRouting()
    kv_transfer: KvTransfer = KvTransfer()

    @property
    def roles(self) -> Mapping[str, Workers]:
        """Workers by role, under the key that the file uses."""
        return {"prefill": self.prefill, "decode": self.decode}


class ColocatedEndpoint(_Endpoint):
    """Workers that do prefill and decode on the same GPUs."""

    topology: Literal["colocated"]
    """Prefill and decode on the same GPUs."""
    workers: Workers
    routing: Routing | None = None
    """Router in front of several workers. Default: the load balancer alone."""

    @property
    def roles(self) -> Mapping[str, Workers]:
        """Workers by role, under the key that the file uses."""
        return {"workers": self.workers}


Endpoint = Annotated[DisaggregatedEndpoint | ColocatedEndpoint, Field(discriminator="topology")]
