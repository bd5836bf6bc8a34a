"""What endpoints share, whoever makes their workloads."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from dpd.config.base import Config, Name
from dpd.config.units import Bytes, Seconds, byte_range, second_range

EnvironmentVariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Args = Annotated[tuple[str, ...], Field(strict=False)]

_CPUS_PER_GPU = 12
_MEMORY_PER_GPU = 128 * 2**30
"""An eighth of the 96 vCPUs and 1024 GiB that AWS's example gives a worker of eight GPUs."""


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

    @property
    def most_replicas(self) -> int:
        """Workers that there must be room for."""
        return self.replicas


class Readiness(Config):
    """Whether `cdk deploy` waits until the endpoint answers."""

    wait: bool = True
    """Whether the endpoint's stack is complete only when the endpoint answers."""
    timeout: Annotated[Seconds, second_range("1m", "50m")] = 3000
    """50 minutes at most: after 55 the waiter's provider ends, and does not say what is missing."""


class EndpointBase(Config):
    """One model served under one name."""

    name: Name
    """Name of the endpoint's stack, and the beginning of its objects' names."""
    namespace: Name | None = None
    """Kubernetes namespace, made by the endpoint's stack. Default: the name."""
    model: str
    """Name of one of the environment's models."""
    image: str = "deep-learning-container"
    """Name of a worker image in the catalog, or a full reference with tag or digest."""
    tensor_parallel_size: TensorParallelSize = 8
    """GPUs of one worker."""
    max_model_len_tokens: Annotated[int, Field(ge=1, le=2**31 - 1)] = 16384
    """Longest prompt and answer together."""
    gpu_memory_utilization: Annotated[float, Field(gt=0, lt=1)] = 0.75
    """Share of GPU memory that vLLM takes; the KV transfer buffer needs part of the rest."""
    cpu: Annotated[int, Field(ge=1, le=1024)] | None = None
    """vCPUs of one worker. Default: 12 for each of its GPUs."""
    memory: Annotated[Bytes, byte_range("1GiB", "16TiB")] | None = None
    """Host memory of one worker. Default: 128GiB for each of its GPUs."""
    args: Args = ()
    """More vLLM arguments for all workers."""
    environment_variables: dict[EnvironmentVariableName, str] = Field(default_factory=dict)
    """More environment variables for all workers; roles cannot differ in them."""
    readiness: Readiness = Readiness()

    @property
    def resolved_namespace(self) -> str:
        """Namespace of the endpoint's objects."""
        return self.namespace or self.name

    @property
    def resolved_cpu(self) -> int:
        """VCPUs of one worker."""
        return self.cpu or _CPUS_PER_GPU * self.tensor_parallel_size

    @property
    def resolved_memory(self) -> int:
        """Host memory of one worker in bytes."""
        return self.memory or _MEMORY_PER_GPU * self.tensor_parallel_size
