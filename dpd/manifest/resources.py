"""Compute resources of a container."""

from collections.abc import Mapping

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import NamedItems, Quantity


class ResourceClaim(ManifestModel):
    """A claim of the pod's that the container uses (dynamic resource allocation)."""

    name: str
    request: str | None = None


class ResourceRequirements(ManifestModel):
    """What a container asks for and may use at most, by resource name."""

    claims: NamedItems[ResourceClaim] | None = None
    requests: Mapping[str, Quantity] | None = None
    """Default: the limits."""
    limits: Mapping[str, Quantity] | None = None
