"""Stand-in engines that a router finds as it finds pods in the cluster."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from dpd.config import SelfManagedEndpoint
from dpd.workload.labels import INSTANCE, pod_labels
from tests.workload.conftest import free_port
from tests.workload.stand_in_engine import Engines, engines
from tests.workload.stand_in_kubernetes import Kubernetes, kubernetes

needs_loopback = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux answers on all of 127.0.0.0/8"
)


@dataclass(frozen=True)
class Pods:
    """Engines with an address each, all on one port, and the API that knows them."""

    engines: Engines
    api: Kubernetes
    port: int


@contextmanager
def pods(given: SelfManagedEndpoint, counts: Mapping[str, int]) -> Iterator[Pods]:
    """Start workers by role, a router's pod, and a worker of another endpoint."""
    port, addresses = free_port(), iter(range(2, 250))
    stranger = pod_labels(given, next(iter(given.roles))) | {INSTANCE: "another-endpoint"}
    labels = {
        **{
            f"{role}-{index}": pod_labels(given, role)
            for role, count in counts.items()
            for index in range(count)
        },
        "router-0": pod_labels(given, "router"),
        "stranger-0": stranger,
    }
    with engines() as started, kubernetes(given.resolved_namespace) as api:
        for name, own in labels.items():
            address = f"127.0.0.{next(addresses)}"
            started.add(name, address=address, port=port)
            api.add_pod(name, labels=own, address=address)
        yield Pods(started, api, port)
