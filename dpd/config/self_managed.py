"""Endpoints whose prefill, decode and router workloads we make ourselves."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from dpd.config.autoscaling import Autoscaling, Monitoring
from dpd.config.base import Config, default_kind
from dpd.config.endpoint_base import EndpointBase, Workers
from dpd.config.units import Bytes, Seconds, byte_range, second_range

LabelKey = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$")
]
LabelValue = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$", max_length=63)
]


class Toleration(Config):
    """A taint that workers put up with; `nvidia.com/gpu` is tolerated without being named."""

    key: LabelKey
    value: LabelValue | None = None
    """Value of the taint. Default: any."""
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] | None = None
    """Effect of the taint. Default: any."""


class SelfManagedWorkers(Workers):
    """Workers of one role, as a Deployment of ours."""

    autoscaling: Autoscaling | None = None
    """Who decides the number of workers: KEDA. Default: `replicas` does."""

    @model_validator(mode="after")
    def _one_owner_of_replicas(self) -> Self:
        if self.autoscaling and "replicas" in self.model_fields_set:
            raise ValueError("`replicas` or `autoscaling`, not both")
        return self

    @property
    def most_replicas(self) -> int:
        """Workers that there must be room for."""
        return self.autoscaling.max_replicas if self.autoscaling else self.replicas


class SelfManagedRouting(Config):
    """The router and how it picks a worker."""

    router: Literal["production-stack", "production-stack-pr890", "vllm-router"] = (
        "production-stack"
    )
    """vLLM Production Stack's, the same with its open pull request 890, or the Rust one."""
    image: str | None = None
    """Container image. Default: the catalog's, where the router has a public one."""
    strategy: Literal["roundrobin", "session", "prefixaware"] = "roundrobin"
    """Not every router knows every strategy."""
    session_header: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$")] = "X-Session-ID"
    """Request header that names the session, for strategy session of Production Stack's router."""
    replicas: Annotated[int, Field(ge=1, le=32)] = 2
    """Routers; each keeps its own count of whose turn it is."""
    cpu: Annotated[int, Field(ge=1, le=64)] = 4
    """vCPUs of one router."""
    memory: Annotated[Bytes, byte_range("512MiB", "256GiB")] = 8 * 2**30
    """Memory of one router: request and limit. Its makers' chart gives 1000Mi, and it is killed."""


class SelfManagedDisaggregatedRouting(SelfManagedRouting):
    """The router, how it picks a worker, and when a prompt goes through prefill workers."""

    threshold_tokens: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Prompts of at least this many estimated tokens go to a prefill worker; 0 sends all. Only
    production-stack-pr890 knows a threshold."""


class NixlTransfer(Config):
    """Decode reads vLLM's own KV cache blocks from prefill; there is no buffer of its own."""

    connector: Literal["nixl"] = "nixl"


class LmcacheTransfer(Config):
    """Prefill writes KV cache into a buffer of LMCache's in front of decode."""

    connector: Literal["lmcache"]
    buffer_size: Annotated[Bytes, byte_range("1MiB", "256GiB")] = 8 * 2**30
    """Transfer buffer of one GPU; it lies outside `gpuMemoryUtilization`."""


SelfManagedKvTransfer = Annotated[
    NixlTransfer | LmcacheTransfer,
    Field(discriminator="connector"),
    default_kind("connector", "nixl"),
]


class _SelfManagedEndpoint(EndpointBase):
    runtime: Literal["self-managed"]
    """Who makes the workloads: these charts, for any EKS cluster with P5 or P6 nodes."""
    shared_memory: Annotated[Bytes, byte_range("64MiB", "1TiB")] = 16 * 2**30
    """Size of /dev/shm in one worker; it counts against `memory`."""
    startup_timeout: Annotated[Seconds, second_range("1m", "6h")] | None = None
    """Until a new worker must answer. Default: ten minutes, and one second for each 200 MB of
    weights."""
    drain: Annotated[Seconds, second_range("1s", "1h")] = 120
    """What a worker that is stopped has left to finish its requests."""
    node_selector: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """More labels that the workers' nodes must have."""
    tolerations: Annotated[tuple[Toleration, ...], Field(strict=False)] = ()
    """More taints that workers put up with."""
    monitoring: Monitoring | None = None
    """Prometheus, which autoscaling asks. Default: nobody may read the workers' metrics."""


class SelfManagedDisaggregatedEndpoint(_SelfManagedEndpoint):
    """Prefill workers, decode workers and a router, all made here."""

    topology: Literal["disaggregated"]
    prefill: SelfManagedWorkers
    decode: SelfManagedWorkers
    routing: SelfManagedDisaggregatedRouting = SelfManagedDisaggregatedRouting()
    kv_transfer: SelfManagedKvTransfer = NixlTransfer()
    efa_devices: Annotated[int, Field(ge=1, le=64)] | None = None
    """`vpc.amazonaws.com/efa` devices of one worker. Default: what its GPUs share of the node's."""
    hugepages: Annotated[Bytes, byte_range("0MiB", "64GiB")] | None = None
    """2 MiB pages of one worker, 0MiB for nodes without any. Default: 640MiB for each GPU."""
    privileged: bool = False
    """Run workers privileged, where IPC_LOCK alone does not let EFA register GPU memory."""

    @property
    def roles(self) -> Mapping[str, SelfManagedWorkers]:
        """Workers by role, under the key that the file uses."""
        return {"prefill": self.prefill, "decode": self.decode}


class SelfManagedColocatedEndpoint(_SelfManagedEndpoint):
    """Workers that do prefill and decode on the same GPUs, behind the same router."""

    topology: Literal["colocated"]
    workers: SelfManagedWorkers
    routing: SelfManagedRouting = SelfManagedRouting()

    @property
    def roles(self) -> Mapping[str, SelfManagedWorkers]:
        """Workers by role, under the key that the file uses."""
        return {"workers": self.workers}
