"""EKS add-ons and their pinned versions."""

from collections.abc import Mapping
from functools import cache

from dpd.catalog.data import Fact, read


class Addon(Fact):
    """One EKS add-on and the version that we install."""

    name: str
    versions: Mapping[str, str]
    """Version by Kubernetes version; the key `any` where one version serves all."""
    source: str

    def version(self, kubernetes_version: str) -> str:
        """Return the version for a Kubernetes version."""
        return self.versions.get(kubernetes_version) or self.versions["any"]


Addons = Mapping[str, Addon]


@cache
def addons() -> Addons:
    """Return the add-ons by name."""
    return {entry["name"]: Addon.model_validate(entry) for entry in read("addons")}
