"""What HyperPod expects before its cluster is made: these objects, these permissions."""

import pytest

from tests.k8s.conftest import Objects

USER = {
    "apiGroup": "rbac.authorization.k8s.io",
    "kind": "User",
    "name": "hyperpod-service-linked-role",
}


def account(name: str) -> dict[str, str]:
    """A service account of the fixed namespace as a subject."""
    return {"kind": "ServiceAccount", "name": name, "namespace": "aws-hyperpod"}


SUBJECTS = {
    "health-monitoring-agent": account("health-monitoring-agent"),
    "deep-health-check-service-account-role": account("deep-health-check-service-account"),
    "job-auto-restart": USER,
    "hyperpod-patching": USER,
}
PERMISSIONS = {
    "health-monitoring-agent": {
        "nodes: get patch",
        "nodes/status: patch",
        "events: create patch update",
        "events.k8s.io/events: create patch update",
    },
    "deep-health-check-service-account-role": {"nodes: get list", "pods: get list patch"},
    "job-auto-restart": {
        "nodes: get list patch watch",
        "nodes/status: get list patch watch",
        "pods: delete deletecollection get list watch",
        "pods/status: get list watch",
        "events: create",
        "coordination.k8s.io/leases: create delete get update",
    },
    "hyperpod-patching": {"pods: list", "pods/eviction: create"},
}
"""As the chart HyperPodHelmChart grants them, less what only training needs."""


def permissions(role: dict[str, object]) -> set[str]:
    """`group/resource: verbs` of a role, rules on the same resource taken together."""
    verbs: dict[str, set[str]] = {}
    for rule in role["rules"]:  # type: ignore[attr-defined]
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name = f"{group}/{resource}" if group else resource
                verbs.setdefault(name, set()).update(rule["verbs"])
    return {f"{name}: {' '.join(sorted(some))}" for name, some in verbs.items()}


@pytest.mark.parametrize("name", PERMISSIONS)
def test_role_allows_what_the_chart_allows(dependencies: Objects, name: str) -> None:
    """Nothing less, or nodes are never repaired; nothing more."""
    assert permissions(dependencies["ClusterRole", name]) == PERMISSIONS[name]


@pytest.mark.parametrize("name", SUBJECTS)
def test_role_is_held_by_one(dependencies: Objects, name: str) -> None:
    """A service account in the fixed namespace, or the user that HyperPod is."""
    (binding,) = (
        thing
        for (kind, _), thing in dependencies.items()
        if kind == "ClusterRoleBinding" and thing["roleRef"]["name"] == name
    )
    assert binding["subjects"] == [SUBJECTS[name]]
    assert binding["roleRef"]["kind"] == "ClusterRole"


def test_service_accounts_are_there(dependencies: Objects) -> None:
    """Every one that is bound, in the namespace that comes first."""
    assert next(iter(dependencies)) == ("Namespace", "aws-hyperpod")
    accounts = {name for kind, name in dependencies if kind == "ServiceAccount"}
    assert accounts == {s["name"] for s in SUBJECTS.values() if s["kind"] == "ServiceAccount"}
    namespaces = {thing["metadata"].get("namespace") for thing in dependencies.values()}
    assert namespaces == {None, "aws-hyperpod"}


def test_nothing_else_is_there(dependencies: Objects) -> None:
    """Four roles, their bindings, two accounts, one DaemonSet, one namespace."""
    kinds = [kind for kind, _ in dependencies]
    assert sorted(kinds) == sorted(
        [
            *["ClusterRole", "ClusterRoleBinding"] * len(PERMISSIONS),
            *["ServiceAccount"] * 2,
            "DaemonSet",
            "Namespace",
        ]
    )
