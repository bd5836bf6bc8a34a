"""How a request finds its worker: the router and the load balancer in front of it."""

from typing import Annotated, Literal

from pydantic import Field

from dpd.manifest.autoscaling import AutoScalingSpec
from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32

RoutingStrategy = Literal["prefixaware", "kvaware", "session", "roundrobin"]
RoutingAlgorithm = Literal["least_outstanding_requests", "round_robin"]


class IntelligentRoutingSpec(ManifestModel):
    """The operator's router; it cannot be added to an endpoint that already exists."""

    enabled: bool = False
    """Cannot be changed once set."""
    routing_strategy: RoutingStrategy = "prefixaware"
    auto_scaling_spec: AutoScalingSpec | None = None
    """Scaling of the router itself."""


class LoadBalancer(ManifestModel):
    """The Application Load Balancer's target group."""

    health_check_path: Annotated[str, Field(pattern="^/.*")] = "/ping"
    """vLLM answers on `/health`, not on the default."""
    routing_algorithm: RoutingAlgorithm = "least_outstanding_requests"
    idle_timeout_seconds: Annotated[Int32, Field(ge=1, le=4000)] | None = None
    """Since operator v3.3. Default: 60, after which a longer request ends with status 504."""
