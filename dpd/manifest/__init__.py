"""Typed models of the operator's InferenceEndpointConfig custom resource, version v1.

They say what the operator's own schema says, field by field, and no more; tests compare the two.
"""

from dpd.manifest.autoscaling import (
    AutoScalingSpec,
    CloudWatchTrigger,
    MetricDimension,
    PrometheusTrigger,
)
from dpd.manifest.base import ManifestModel
from dpd.manifest.data_capture import (
    BufferConfig,
    CaptureContentTypeHeader,
    CaptureOption,
    DataCapture,
    LoadBalancerCapture,
    ModelPodCapture,
    PayloadConfig,
    SagemakerEndpointCapture,
)
from dpd.manifest.disaggregation import PdAutoScalingSpec, PdSpec, RoleSpec, TopologySpec
from dpd.manifest.endpoint_config import (
    API_VERSION,
    KIND,
    InferenceEndpointConfig,
    InferenceEndpointSpec,
    Tag,
)
from dpd.manifest.env_var import (
    EnvVar,
    EnvVarSource,
    FieldSelector,
    FileKeySelector,
    ResourceFieldSelector,
)
from dpd.manifest.key_selector import KeySelector
from dpd.manifest.kubernetes import KubernetesSpec
from dpd.manifest.kv_cache import KvCacheSpec, L2CacheSpec
from dpd.manifest.metadata import ObjectMeta
from dpd.manifest.metrics import MetricsConfig, ModelMetrics
from dpd.manifest.model_source import (
    FsxStorage,
    HuggingFaceModel,
    ModelSourceConfig,
    S3Storage,
)
from dpd.manifest.overrides import merge_overrides, override_spec
from dpd.manifest.probes import (
    ExecAction,
    GrpcAction,
    HttpGetAction,
    HttpHeader,
    Probe,
    Probes,
    TcpSocketAction,
)
from dpd.manifest.resources import ResourceClaim, ResourceRequirements
from dpd.manifest.routing import IntelligentRoutingSpec, LoadBalancer
from dpd.manifest.tls import CustomCertificateConfig, DnsConfig, TlsConfig
from dpd.manifest.v1alpha1 import API_VERSION_V1ALPHA1, upgrade_v1alpha1
from dpd.manifest.worker import ModelInvocationPort, ModelVolumeMount, RequestLimits, Worker

__all__ = [
    "API_VERSION",
    "API_VERSION_V1ALPHA1",
    "KIND",
    "AutoScalingSpec",
    "BufferConfig",
    "CaptureContentTypeHeader",
    "CaptureOption",
    "CloudWatchTrigger",
    "CustomCertificateConfig",
    "DataCapture",
    "DnsConfig",
    "EnvVar",
    "EnvVarSource",
    "ExecAction",
    "FieldSelector",
    "FileKeySelector",
    "FsxStorage",
    "GrpcAction",
    "HttpGetAction",
    "HttpHeader",
    "HuggingFaceModel",
    "InferenceEndpointConfig",
    "InferenceEndpointSpec",
    "IntelligentRoutingSpec",
    "KeySelector",
    "KubernetesSpec",
    "KvCacheSpec",
    "L2CacheSpec",
    "LoadBalancer",
    "LoadBalancerCapture",
    "ManifestModel",
    "MetricDimension",
    "MetricsConfig",
    "ModelInvocationPort",
    "ModelMetrics",
    "ModelPodCapture",
    "ModelSourceConfig",
    "ModelVolumeMount",
    "ObjectMeta",
    "PayloadConfig",
    "PdAutoScalingSpec",
    "PdSpec",
    "Probe",
    "Probes",
    "PrometheusTrigger",
    "RequestLimits",
    "ResourceClaim",
    "ResourceFieldSelector",
    "ResourceRequirements",
    "RoleSpec",
    "S3Storage",
    "SagemakerEndpointCapture",
    "Tag",
    "TcpSocketAction",
    "TlsConfig",
    "TopologySpec",
    "Worker",
    "merge_overrides",
    "override_spec",
    "upgrade_v1alpha1",
]
