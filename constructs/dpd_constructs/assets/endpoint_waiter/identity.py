"""Which endpoint a resource stands for, and that it stays the same one."""

from collections.abc import Mapping
from typing import Any

from endpoint_config import EndpointConfig
from failure import Failure
from rollout import Rollout


def named_endpoint(properties: Mapping[str, Any]) -> EndpointConfig | Rollout:
    """Return what to look at: self-managed endpoints name their Deployments."""
    if deployments := properties.get("Deployments"):
        return Rollout(properties["Namespace"], tuple(deployments))
    return EndpointConfig(properties["Namespace"], properties["Name"])


def physical_id(properties: Mapping[str, Any], *, suffix: str) -> str:
    """Return an id that is another one only for another endpoint."""
    runtime = "self-managed/" if properties.get("Deployments") else ""
    return f"{properties['Namespace']}/{properties['Name']}/{runtime}{suffix}"


def require_same_endpoint(event: Mapping[str, Any], id_: str) -> None:
    """Refuse an update to another endpoint: nobody would delete the old one first, or at all.

    Args:
        event: As CloudFormation asks for an update.
        id_: Physical id of what it asks for.

    Raises:
        Failure: What there is, what was asked for, and the way there.
    """
    # Not old against new properties: the update that rolls this one back has them swapped, and
    # must pass. The id is that of the endpoint that is there, because a refusal leaves it as it is.
    if event["PhysicalResourceId"] != id_:
        old = named_endpoint(event["OldResourceProperties"])
        new = named_endpoint(event["ResourceProperties"])
        raise Failure(
            f"an endpoint cannot change from {old} to {new} in place: "
            "the old one would keep its GPUs",
            remedy="destroy the endpoint's stack first, then deploy it",
        )
