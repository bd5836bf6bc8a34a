"""`cdk deploy` of self-managed endpoints: the same stack and waiter as the operator's."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from dpd.config import load_environment
from dpd.config.naming import deployments
from dpd.errors import UserError
from stacks import build_environment
from tests.self_managed.conftest import EXAMPLES

Resources = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def resources() -> Resources:
    """The endpoint stack of the shipped disaggregated example."""
    settings = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())
    app = cdk.App(context=settings["context"])
    build_environment(app, environment=load_environment({"env": "self-managed"}))
    stack = app.node.find_child("dpd-self-managed-endpoint-chat")
    template = Template.from_stack(stack).to_json()  # type: ignore[arg-type]
    return template["Resources"]  # type: ignore[no-any-return]


def manifests(resources: Resources) -> dict[str, list[dict[str, Any]]]:
    """The objects of each manifest by logical id."""
    kind = "Custom::AWSCDK-EKS-KubernetesResource"
    found = {id_: each["Properties"] for id_, each in resources.items() if each["Type"] == kind}
    return {id_: json.loads(properties["Manifest"]) for id_, properties in found.items()}


def only(resources: Resources, kind: str) -> tuple[str, dict[str, Any]]:
    """Logical id and resource of the only one of a type."""
    ((id_, resource),) = [item for item in resources.items() if item[1]["Type"] == kind]
    return id_, resource


def after(resources: Resources, id_: str) -> set[str]:
    """Everything that CloudFormation makes before a resource and deletes after it."""
    found: set[str] = set()
    waiting = [id_]
    while waiting:
        depends = set(resources[waiting.pop()].get("DependsOn", []))
        waiting += depends - found
        found |= depends
    return found


def test_every_workload_is_deployed(resources: Resources) -> None:
    """A manifest each for the namespace, weights, both roles and the router."""
    kinds = {
        id_: [each["kind"] for each in objects] for id_, objects in manifests(resources).items()
    }
    assert len(kinds) == 5
    assert sum(each.count("Deployment") for each in kinds.values()) == 3
    assert ["Namespace", "Role", "RoleBinding"] in kinds.values()
    assert not [each for each in kinds.values() if "InferenceEndpointConfig" in each]


def test_readiness_waits_for_all_rollouts(resources: Resources) -> None:
    """After everything else was made; and weights are looked for before and let go after."""
    (endpoint, _) = load_environment({"env": "self-managed"}).endpoints
    names = list(deployments(endpoint))  # type: ignore[arg-type]
    assert names == ["chat-prefill", "chat-decode", "chat-router"]
    ready, resource = only(resources, "Custom::DpdEndpointReady")
    assert resource["Properties"]["Deployments"] == names
    assert manifests(resources).keys() <= after(resources, ready)
    weights, resource = only(resources, "Custom::DpdModelWeights")
    assert resource["Properties"]["Deployments"] == names
    with_deployment = [
        id_
        for id_, objects in manifests(resources).items()
        if any(each["kind"] == "Deployment" for each in objects)
    ]
    assert all(weights in after(resources, id_) for id_ in with_deployment)


def test_waiter_may_get_those_deployments_and_nothing_else(resources: Resources) -> None:
    """By name."""
    objects = [each for group in manifests(resources).values() for each in group]
    (role,) = [
        each
        for each in objects
        if each["kind"] == "Role" and each["metadata"]["name"] == "dpd-endpoint-waiter"
    ]
    assert role["rules"] == [
        {
            "apiGroups": ["apps"],
            "resources": ["deployments"],
            "resourceNames": ["chat-prefill", "chat-decode", "chat-router"],
            "verbs": ["get"],
        }
    ]


def test_without_hyperpod_there_is_nothing_for_the_cdk() -> None:
    """It says what to do instead."""
    with pytest.raises(UserError, match=r"python -m k8s -c env=test .* dist/test with kubectl"):
        build_environment(cdk.App(), environment=EXAMPLES["plain-eks"])
