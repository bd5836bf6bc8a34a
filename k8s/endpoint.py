"""The objects of one endpoint, and the namespace they live in."""

from collections.abc import Mapping
from typing import Any

import cdk8s
from constructs import Construct

from dpd.config import AnyEndpoint, Environment, OperatorEndpoint
from dpd.manifest.endpoint_config import API_VERSION, KIND
from dpd.manifest.from_environment import endpoint_config
from k8s.api_object import api_object


class EndpointChart(cdk8s.Chart):
    """InferenceEndpointConfig of one endpoint; the operator makes the workloads from it."""

    def __init__(
        self, scope: Construct, id_: str, *, environment: Environment, endpoint: OperatorEndpoint
    ) -> None:
        super().__init__(scope, id_)
        self._resource = api_object(
            self,
            "Endpoint",
            api_version=API_VERSION,
            kind=KIND,
            name=endpoint.name,
            namespace=endpoint.resolved_namespace,
            spec=endpoint_config(environment, endpoint).to_manifest()["spec"],
        )

    def to_json(self) -> list[Any]:
        """Return the one object: there is no order among many to work out."""
        return [self._resource.to_json()]


def endpoint_charts(
    scope: Construct, *, environment: Environment, endpoint: AnyEndpoint
) -> Mapping[str, cdk8s.Chart]:
    """Return the charts of an endpoint by part, in the order to apply them.

    The operator needs one, `custom-resource`; a self-managed endpoint has one for each workload.
    """
    if endpoint.runtime == "operator":
        chart = EndpointChart(scope, endpoint.name, environment=environment, endpoint=endpoint)
        return {"custom-resource": chart}
    # Loading cdk8s-plus takes a third of an empty app's time: only who uses it should wait for it.
    from k8s.self_managed import self_managed_charts

    return self_managed_charts(scope, environment=environment, endpoint=endpoint)


def namespace(endpoint: AnyEndpoint) -> dict[str, Any]:
    """Return the namespace of an endpoint: it must be there before its charts are applied."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": endpoint.resolved_namespace},
    }
