"""What the readiness waiter may do: read what one endpoint is made of, and nothing else."""

from typing import Any

from dpd.config import AnyEndpoint
from dpd.config.naming import WAITER_GROUP, deployments
from dpd.manifest.endpoint_config import API_VERSION

_NAME = "dpd-endpoint-waiter"
_API_GROUP = "rbac.authorization.k8s.io"


def waiter_access(endpoint: AnyEndpoint) -> list[dict[str, Any]]:
    """Return the role for one endpoint and who holds it; one pair for each of many endpoints."""
    metadata = {"name": _NAME, "namespace": endpoint.resolved_namespace}
    role = {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [{**_objects(endpoint), "verbs": ["get"]}],
    }
    binding = {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _API_GROUP, "kind": "Role", "name": _NAME},
        "subjects": [{"apiGroup": _API_GROUP, "kind": "Group", "name": WAITER_GROUP}],
    }
    return [role, binding]


def _objects(endpoint: AnyEndpoint) -> dict[str, list[str]]:
    if endpoint.runtime == "self-managed":
        names = list(deployments(endpoint))
        return {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": names}
    return {
        "apiGroups": [API_VERSION.partition("/")[0]],
        "resources": ["inferenceendpointconfigs"],
        "resourceNames": [endpoint.name],
    }
