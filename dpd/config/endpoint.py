"""Endpoints: one model served, disaggregated or colocated.

The classes here are those of the operator's runtime; `Endpoint` takes the self-managed ones too.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from dpd.config.base import Config, default_kind
from dpd.config.endpoint_base import EndpointBase, Workers
from dpd.config.self_managed import (
    SelfManagedColocatedEndpoint,
    SelfManagedDisaggregatedEndpoint,
)
from dpd.config.units import Bytes, byte_range


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


class _Endpoint(EndpointBase):
    runtime: Literal["operator"] = "operator"
    """Who makes the workloads: the HyperPod inference operator."""
    request_efa_devices: bool = False
    """Ask for `vpc.amazonaws.com/efa` devices explicitly. The operator is documented to attach EFA
    by itself, so this is for clusters where it does not."""
    sagemaker_endpoint: bool = True
    """Also register a SageMaker endpoint of the same name."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Raw InferenceEndpointConfig `spec` fields, merged last, for what is not named above."""


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


OperatorEndpoint = DisaggregatedEndpoint | ColocatedEndpoint
SelfManagedEndpoint = SelfManagedDisaggregatedEndpoint | SelfManagedColocatedEndpoint
AnyEndpoint = OperatorEndpoint | SelfManagedEndpoint

_Disaggregated = Annotated[
    DisaggregatedEndpoint | SelfManagedDisaggregatedEndpoint,
    Field(discriminator="runtime"),
    default_kind("runtime", "operator"),
]
_Colocated = Annotated[
    ColocatedEndpoint | SelfManagedColocatedEndpoint,
    Field(discriminator="runtime"),
    default_kind("runtime", "operator"),
]
Endpoint = Annotated[_Disaggregated | _Colocated, Field(discriminator="topology")]
