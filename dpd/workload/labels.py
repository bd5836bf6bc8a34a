"""Labels by which workloads, routers and policies find each other."""

from collections.abc import Iterable

from dpd.config import SelfManagedEndpoint

INSTANCE = "app.kubernetes.io/instance"
COMPONENT = "app.kubernetes.io/component"


def selector(endpoint: SelfManagedEndpoint, part: str) -> dict[str, str]:
    """Return what tells the pods of one part of an endpoint from all others."""
    return {INSTANCE: endpoint.name, COMPONENT: part}


def pod_labels(endpoint: SelfManagedEndpoint, part: str) -> dict[str, str]:
    """Return all labels of a pod; `model` is where Production Stack's router looks for the role."""
    roles = {"model": part} if part in endpoint.roles else {}
    return {**selector(endpoint, part), "app.kubernetes.io/part-of": "hyperpod-dpd", **roles}


def label_query(endpoint: SelfManagedEndpoint, parts: Iterable[str]) -> str:
    """Return the query for the pods of several parts, as kubectl takes it."""
    return f"{INSTANCE}={endpoint.name},{COMPONENT} in ({','.join(parts)})"
