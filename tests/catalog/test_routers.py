"""What each router can do."""

import pytest

from dpd.catalog import Router, routers
from dpd.config.self_managed import SelfManagedRouting

KNOWN = list(routers().values())


def test_every_router_of_the_configuration_is_known() -> None:
    """And no other."""
    choices = SelfManagedRouting.model_json_schema()["properties"]["router"]["enum"]
    assert set(choices) == set(routers())


@pytest.mark.parametrize("router", KNOWN, ids=lambda router: router.name)
def test_routers_can_split_by_turns(router: Router) -> None:
    """The default strategy works everywhere, and each fact has a source."""
    assert "roundrobin" in router.strategies("disaggregated")
    assert router.connectors
    assert router.source.startswith("https://")


def test_only_an_unreleased_router_drives_lmcache() -> None:
    """The one that writes the receiver's address into the request, and no public image of it."""
    able = [router for router in KNOWN if "lmcache" in router.connectors]
    assert [(router.name, router.image) for router in able] == [("production-stack-pr890", None)]
