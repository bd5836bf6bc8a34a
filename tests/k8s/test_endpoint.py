"""The chart of an endpoint says what the typed model says."""

import cdk8s

from dpd.config import Environment
from dpd.manifest.from_environment import endpoint_config
from k8s.endpoint import EndpointChart, namespace


def test_chart_is_the_custom_resource_and_nothing_else(environment: Environment) -> None:
    """Its namespace is made apart, since it must be there first."""
    (endpoint,) = environment.endpoints
    chart = EndpointChart(cdk8s.App(), "endpoint", environment=environment, endpoint=endpoint)
    (resource,) = chart.to_json()
    assert resource == endpoint_config(environment, endpoint).to_manifest()
    assert resource["metadata"]["namespace"] == namespace(endpoint)["metadata"]["name"]


def test_no_label_is_added(environment: Environment) -> None:
    """The operator's router and workers select by labels of its own."""
    (endpoint,) = environment.endpoints
    chart = EndpointChart(cdk8s.App(), "endpoint", environment=environment, endpoint=endpoint)
    (resource,) = chart.to_json()
    assert set(resource["metadata"]) == {"name", "namespace"}
