"""EKS add-ons and their versions."""

from collections.abc import Mapping
from functools import cache

from dpd.catalog.data import Fact, read


class Addon(Fact):
    """One EKS add-on."""

    name: str
    versions: Mapping[str, str] = {}
    """Pinned version by Kubernetes version. Default: what EKS installs by itself."""
    minimum: str | None = None
    """Oldest version that does what we need."""
    source: str


@cache
def addons() -> Mapping[str, Addon]:
    """Return the add-ons by name."""
    return {entry["name"]: Addon.model_validate(entry) for entry in read("addons")}
