"""Prefill, decode and router workloads of ours: one chart, and one file, for each."""

from collections.abc import Mapping

import cdk8s
from constructs import Construct

from dpd.config import Environment, SelfManagedEndpoint
from k8s.self_managed.router import RouterChart
from k8s.self_managed.weights import WeightsChart
from k8s.self_managed.worker import WorkerChart


def self_managed_charts(
    scope: Construct, *, environment: Environment, endpoint: SelfManagedEndpoint
) -> Mapping[str, cdk8s.Chart]:
    """Return the charts of an endpoint by part, in the order to apply them."""
    charts: dict[str, cdk8s.Chart] = {
        "weights": WeightsChart(
            scope, f"{endpoint.name}-weights", environment=environment, endpoint=endpoint
        )
    }
    for role in endpoint.roles:
        charts[role] = WorkerChart(
            scope,
            f"{endpoint.name}-{role}",
            environment=environment,
            endpoint=endpoint,
            role=role,
        )
    charts["router"] = RouterChart(
        scope, f"{endpoint.name}-router", environment=environment, endpoint=endpoint
    )
    return charts
