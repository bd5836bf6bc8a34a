"""When the number of self-managed workers changes, and who measures it."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from dpd.config.base import Config, Name
from dpd.config.units import Seconds, second_range


class Autoscaling(Config):
    """Bounds for the number of workers, and what one worker should carry."""

    min_replicas: Annotated[int, Field(ge=1, le=6758 * 8)] = 1
    max_replicas: Annotated[int, Field(ge=1, le=6758 * 8)]
    """At most what the instance group has room for."""
    waiting_requests: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Requests in the queue of one worker from which another worker is wanted."""
    kv_cache_usage: Annotated[float, Field(gt=0, lt=1)] = 0.8
    """Share of one worker's KV cache in use from which another worker is wanted."""
    scale_down_after: Annotated[Seconds, second_range("1m", "1h")] = 300
    """How long less must do before a worker is taken away."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_replicas > self.max_replicas:
            raise ValueError(f"minReplicas up to maxReplicas, {self.max_replicas}")
        return self


class Monitoring(Config):
    """Prometheus in the cluster: it collects every worker's metrics, autoscaling asks it."""

    namespace: Name
    """Where Prometheus runs; its pods may reach the workers' port."""
    prometheus_url: Annotated[str, StringConstraints(pattern=r"^https?://[A-Za-z0-9.:/_-]+$")]
    """Such as `http://prometheus-server.monitoring.svc:80`."""
