"""The custom resource of one endpoint, and the namespace it lives in."""

from typing import Any

import cdk8s
from constructs import Construct

from dpd.config import ColocatedEndpoint, DisaggregatedEndpoint, Environment
from dpd.manifest.endpoint_config import API_VERSION, KIND
from dpd.manifest.from_environment import endpoint_config
from k8s.api_object import api_object

AnyEndpoint = DisaggregatedEndpoint | ColocatedEndpoint


class EndpointChart(cdk8s.Chart):
    """InferenceEndpointConfig of one endpoint; the operator makes the workloads from it."""

    def __init__(
        self, scope: Construct, id_: str, *, environment: Environment, endpoint: AnyEndpoint
    ) -> None:
        super().__init__(scope, id_)
        api_object(
            self,
            "Endpoint",
            api_version=API_VERSION,
            kind=KIND,
            name=endpoint.name,
            namespace=endpoint.resolved_namespace,
            spec=endpoint_config(environment, endpoint).to_manifest()["spec"],
        )


def namespace(endpoint: AnyEndpoint) -> dict[str, Any]:
    """Return the namespace of an endpoint: it must be there before its chart is applied."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": endpoint.resolved_namespace},
    }
