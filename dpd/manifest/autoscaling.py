"""Scaling the number of replicas by a metric (the operator hands this to KEDA)."""

from typing import Annotated, Literal

from pydantic import Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32, Items

MetricType = Literal["Value", "Average"]
Count = Annotated[Int32, Field(ge=0)]


class MetricDimension(ManifestModel):
    """A dimension of a CloudWatch metric."""

    name: str
    value: str


class CloudWatchTrigger(ManifestModel):
    """Scale by a CloudWatch metric."""

    name: str | None = None
    namespace: str | None = None
    metric_name: str | None = None
    dimensions: Items[MetricDimension] | None = None
    metric_stat: str = "Average"
    metric_type: MetricType = "Average"
    """Compare the target with the metric itself, or with the metric divided by the pods."""
    target_value: float | None = None
    activation_target_value: float = 0
    """Where scaling from zero starts; only with `min_replica_count` 0."""
    min_value: float = 0
    """Stands in for an empty answer."""
    metric_collection_period: Int32 = 300
    """Seconds."""
    metric_collection_start_time: Int32 = 300
    """Seconds before now."""
    use_cached_metrics: bool = True


class PrometheusTrigger(ManifestModel):
    """Scale by a query to Amazon Managed Service for Prometheus."""

    name: str | None = None
    namespace: str | None = None
    server_address: (
        Annotated[
            str,
            Field(
                pattern=r"^https:\/\/aps-workspaces\.[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*"
                r"\.amazonaws\.com\/workspaces\/ws-[a-zA-Z0-9-]+$|^$"
            ),
        ]
        | None
    ) = None
    """URL of the workspace, with nothing after its id."""
    query: str | None = None
    custom_headers: str | None = None
    metric_type: MetricType = "Average"
    """Compare the target with the metric itself, or with the metric divided by the pods."""
    target_value: float | None = None
    activation_target_value: float = 0
    """Where scaling from zero starts; only with `min_replica_count` 0."""
    use_cached_metrics: bool = True


class AutoScalingSpec(ManifestModel):
    """Bounds, pace and metrics; periods and times are in seconds."""

    min_replica_count: Count = 1
    max_replica_count: Count = 5
    polling_interval: Count = 30
    cooldown_period: Count = 300
    """From the last active trigger until replicas go to zero."""
    initial_cooldown_period: Count = 300
    """From creation until the cooldown period may start."""
    scale_up_stabilization_time: Count = 0
    scale_down_stabilization_time: Count = 300
    cloud_watch_trigger: CloudWatchTrigger | None = None
    cloud_watch_trigger_list: Annotated[Items[CloudWatchTrigger], Field(max_length=100)] | None = (
        None
    )
    """Wins over the single trigger."""
    prometheus_trigger: PrometheusTrigger | None = None
    prometheus_trigger_list: Annotated[Items[PrometheusTrigger], Field(max_length=100)] | None = (
        None
    )
    """Wins over the single trigger."""
