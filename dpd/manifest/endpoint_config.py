"""The custom resource itself.

Left out is `status`: the operator writes it and only waiters read it (`state`, `conditions` and
`deploymentStatus`), while these models are for what we write.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from dpd.manifest.autoscaling import AutoScalingSpec
from dpd.manifest.base import ManifestModel
from dpd.manifest.data_capture import DataCapture
from dpd.manifest.disaggregation import PdSpec
from dpd.manifest.kubernetes import KubernetesSpec
from dpd.manifest.kv_cache import KvCacheSpec
from dpd.manifest.metadata import ObjectMeta
from dpd.manifest.metrics import MetricsConfig
from dpd.manifest.model_source import ModelSourceConfig
from dpd.manifest.primitives import Int32, Items, KubernetesObject
from dpd.manifest.routing import IntelligentRoutingSpec, LoadBalancer
from dpd.manifest.tls import DnsConfig, TlsConfig
from dpd.manifest.worker import Worker

API_VERSION: Final = "inference.sagemaker.aws.amazon.com/v1"
KIND: Final = "InferenceEndpointConfig"


class Tag(ManifestModel):
    """A tag of the SageMaker endpoint."""

    name: str
    value: str


class InferenceEndpointSpec(ManifestModel):
    """What the endpoint should be.

    Only what the schema itself demands is checked here. What is written in its prose, such as
    that one of `instance_type`, `instance_types` and `node_affinity` is wanted, is not.
    """

    model_name: Annotated[str, Field(max_length=63, pattern="^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")]
    model_version: str | None = None
    endpoint_name: (
        Annotated[str, Field(max_length=63, pattern="^$|^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$")] | None
    ) = None
    """Name of the SageMaker endpoint. Default: empty, which makes none."""
    tags: Items[Tag] | None = None
    instance_type: Annotated[str, Field(pattern=r"^ml\..*")] | None = None
    instance_types: Items[str] | None = None
    """The first that is available is taken."""
    node_affinity: KubernetesObject | None = None
    replicas: Int32 = 1
    initial_replica_count: Int32 | None = None
    """Has no effect; `replicas` does."""
    max_deploy_time_in_seconds: Int32 = 3600
    invocation_endpoint: str = "invocations"
    """Path of the model server, without a leading slash."""
    model_source_config: ModelSourceConfig
    load_balancer: LoadBalancer | None = None
    metrics: MetricsConfig | None = None
    kv_cache_spec: KvCacheSpec | None = None
    intelligent_routing_spec: IntelligentRoutingSpec | None = None
    pd_spec: PdSpec | None = None
    auto_scaling_spec: AutoScalingSpec | None = None
    tls_config: TlsConfig | None = None
    dns_config: DnsConfig | None = None
    data_capture: DataCapture | None = None
    worker: Worker
    kubernetes: KubernetesSpec | None = None


class InferenceEndpointConfig(ManifestModel):
    """One endpoint, as the inference operator takes it."""

    api_version: Literal["inference.sagemaker.aws.amazon.com/v1"] = API_VERSION
    kind: Literal["InferenceEndpointConfig"] = KIND
    metadata: ObjectMeta
    spec: InferenceEndpointSpec

    def to_manifest(self) -> dict[str, Any]:
        """Return the whole document with what was set, in order of declaration."""
        return {"apiVersion": self.api_version, "kind": self.kind, **super().to_manifest()}
