"""The shipped environments and the objects of a chart."""

from collections.abc import Mapping
from typing import Any

import cdk8s
import pytest

from dpd.config import Environment, load_environment
from k8s.dependencies import DependenciesChart

Objects = Mapping[tuple[str, str], dict[str, Any]]
"""Manifests by kind and name."""


@pytest.fixture(params=["dev", "staging", "prod"])
def environment(request: pytest.FixtureRequest) -> Environment:
    """Each environment of the repository."""
    return load_environment({"env": request.param})


@pytest.fixture(scope="session")
def prod_environment() -> Environment:
    """The documented example."""
    return load_environment({"env": "prod"})


@pytest.fixture(scope="session")
def dependencies(prod_environment: Environment) -> Objects:
    """What HyperPod expects on the cluster of `prod`."""
    return by_name(
        DependenciesChart(cdk8s.App(), "dependencies", environment=prod_environment).to_json()
    )


def by_name(manifests: list[Any]) -> Objects:
    """Manifests by kind and name, none of which is there twice."""
    found = {(thing["kind"], thing["metadata"]["name"]): thing for thing in manifests}
    assert len(found) == len(manifests)
    return found
