"""Cluster roles and who holds them."""

from collections.abc import Sequence

from constructs import Construct

from k8s.api_object import api_object

Rule = dict[str, list[str]]
Subject = dict[str, str]

_API_GROUP = "rbac.authorization.k8s.io"


def rule(resources: Sequence[str], verbs: Sequence[str], *, group: str = "") -> Rule:
    """Return a rule on resources of one API group, by default the core one."""
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def service_account(scope: Construct, id_: str, *, name: str, namespace: str) -> Subject:
    """Make a service account and return it as a subject."""
    api_object(scope, id_, api_version="v1", kind="ServiceAccount", name=name, namespace=namespace)
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def user(name: str) -> Subject:
    """Return a user as a subject."""
    return {"apiGroup": _API_GROUP, "kind": "User", "name": name}


def cluster_role(
    scope: Construct,
    id_: str,
    *,
    name: str,
    rules: Sequence[Rule],
    subject: Subject,
    binding: str | None = None,
) -> None:
    """Make a cluster role and bind it to one subject; the binding's name defaults to the role's."""
    api_version = f"{_API_GROUP}/v1"
    api_object(
        scope,
        f"{id_}Role",
        api_version=api_version,
        kind="ClusterRole",
        name=name,
        rules=list(rules),
    )
    api_object(
        scope,
        f"{id_}Binding",
        api_version=api_version,
        kind="ClusterRoleBinding",
        name=binding or name,
        roleRef={"apiGroup": _API_GROUP, "kind": "ClusterRole", "name": name},
        subjects=[subject],
    )
