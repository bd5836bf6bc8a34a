"""Self-managed endpoints of every kind that the configuration allows."""

import socket
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import yaml

from dpd.catalog import routers
from dpd.config import Environment
from dpd.config.loader import ENVIRONMENTS, environment_from
from dpd.config.source import Source
from dpd.errors import UserError

MONITORING = {"namespace": "monitoring", "prometheusUrl": "http://prometheus-server.monitoring:80"}


def build(**changes: Any) -> Environment:
    """Return the shipped environment with its first endpoint alone and fields of it changed.

    A value of None removes a field; `cluster` replaces fields of the cluster.
    """
    path = ENVIRONMENTS / "self-managed.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    data["cluster"] |= changes.pop("cluster", {})
    endpoint = {**data["endpoints"][0], **changes}
    data["endpoints"] = [{key: value for key, value in endpoint.items() if value is not None}]
    return environment_from(Source(name="test", data=data), name="test")


def colocated(**changes: Any) -> Environment:
    """Return the same model on workers that do both."""
    changes = {"workers": {"instanceGroup": "decode"}, **changes}
    return build(topology="colocated", prefill=None, decode=None, **changes)


def variants() -> Iterator[tuple[str, Environment]]:
    """Yield every router with every connector, strategy, topology and size that is allowed."""
    sizes = (1, 8)
    choices = product(routers(), ("roundrobin", "session", "prefixaware"), ("nixl", "lmcache"))
    for (router, strategy, connector), size in product(choices, sizes):
        routing = {"router": router, "strategy": strategy, "image": "registry/router:1"}
        shared = {"routing": routing, "tensorParallelSize": size}
        kinds = [(build, {"kvTransfer": {"connector": connector}}, connector)]
        if connector == "nixl":
            kinds.append((colocated, {}, "colocated"))
        for make, more, kind in kinds:
            try:
                environment = make(**shared, **more)
            except UserError:
                continue
            yield f"{router}-{kind}-{strategy}-tp{size}", environment


VARIANTS = dict(variants())


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def every_variant() -> pytest.MarkDecorator:
    """Run a test once for each variant."""
    return pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
