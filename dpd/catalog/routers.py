"""Routers for self-managed endpoints, and what each of them can do."""

from collections.abc import Mapping
from functools import cache

from dpd.catalog.data import Fact, read


class Router(Fact):
    """One router program."""

    name: str
    title: str
    connectors: tuple[str, ...]
    """KV connectors whose workers it can drive."""
    threshold: bool
    """Whether it can leave short prompts to decode."""
    disaggregated: Mapping[str, str]
    """Its own word for each strategy it knows between prefill and decode workers."""
    colocated: Mapping[str, str]
    """The same among workers that do both; empty where it cannot serve them."""
    liveness: str
    """Path that answers while the router itself is well."""
    readiness: str
    """Path that answers while the router can serve."""
    pod_verbs: tuple[str, ...]
    """What it asks the Kubernetes API about pods."""
    image: str | None = None
    """Public container image; none where one has to be built."""
    source: str

    def strategies(self, topology: str) -> Mapping[str, str]:
        """Return its words for the strategies it knows for a topology."""
        return self.disaggregated if topology == "disaggregated" else self.colocated


@cache
def routers() -> Mapping[str, Router]:
    """Return the known routers by name."""
    return {entry["name"]: Router.model_validate(entry) for entry in read("routers")}
