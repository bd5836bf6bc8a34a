"""KEDA's ScaledObject: the number of workers follows queue and KV cache."""

from typing import Any

from constructs import Construct

from dpd.config import SelfManagedEndpoint
from dpd.config.naming import workload
from k8s.api_object import api_object

_POLLING_SECONDS = 30


def scaled_object(scope: Construct, *, endpoint: SelfManagedEndpoint, role: str) -> None:
    """Add it for a role that is autoscaled; it owns the Deployment's `replicas` then."""
    bounds, monitoring = endpoint.roles[role].autoscaling, endpoint.monitoring
    if bounds is None or monitoring is None:  # The configuration demands both or neither.
        raise ValueError(f"{workload(endpoint, role)} is not autoscaled")
    name, namespace = workload(endpoint, role), endpoint.resolved_namespace

    def trigger(metric: str, threshold: float) -> Any:
        # The sum, since AverageValue divides it by the number of workers.
        query = f'sum({metric}{{namespace="{namespace}",pod=~"{name}-.*"}})'
        return {
            "type": "prometheus",
            "metricType": "AverageValue",
            "metadata": {
                "serverAddress": monitoring.prometheus_url,
                "query": query,
                "threshold": f"{threshold:g}",
            },
        }

    api_object(
        scope,
        "Scaling",
        api_version="keda.sh/v1alpha1",
        kind="ScaledObject",
        name=name,
        namespace=namespace,
        spec={
            "scaleTargetRef": {"name": name},
            "minReplicaCount": bounds.min_replicas,
            "maxReplicaCount": bounds.max_replicas,
            "pollingInterval": _POLLING_SECONDS,
            "cooldownPeriod": int(bounds.scale_down_after),
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {
                        "scaleDown": {"stabilizationWindowSeconds": int(bounds.scale_down_after)}
                    }
                }
            },
            "triggers": [
                trigger("vllm:num_requests_waiting", bounds.waiting_requests),
                trigger("vllm:kv_cache_usage_perc", bounds.kv_cache_usage),
            ],
        },
    )
