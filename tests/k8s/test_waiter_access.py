"""The waiter reads one custom resource of one namespace."""

import kubernetes_validate  # type: ignore[import-untyped]

from dpd.config import Environment
from dpd.config.naming import WAITER_GROUP
from k8s.waiter_access import waiter_access


def test_one_verb_on_one_name(environment: Environment) -> None:
    """And a namespaced role, so that the name means one thing."""
    (endpoint,) = environment.endpoints
    role, binding = waiter_access(endpoint)
    assert (role["kind"], binding["kind"]) == ("Role", "RoleBinding")
    (rule,) = role["rules"]
    assert rule["verbs"] == ["get"]
    assert rule["resourceNames"] == [endpoint.name]
    assert rule["resources"] == ["inferenceendpointconfigs"]
    assert rule["apiGroups"] == ["inference.sagemaker.aws.amazon.com"]
    for thing in (role, binding):
        assert thing["metadata"]["namespace"] == endpoint.resolved_namespace


def test_held_by_the_waiters_group(environment: Environment) -> None:
    """And by nobody else."""
    (endpoint,) = environment.endpoints
    role, binding = waiter_access(endpoint)
    assert [(s["kind"], s["name"]) for s in binding["subjects"]] == [("Group", WAITER_GROUP)]
    assert binding["roleRef"]["kind"] == "Role"
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_kubernetes_knows_every_field(environment: Environment) -> None:
    """In the cluster's version."""
    (endpoint,) = environment.endpoints
    for thing in waiter_access(endpoint):
        kubernetes_validate.validate(thing, environment.cluster.kubernetes_version, strict=True)
