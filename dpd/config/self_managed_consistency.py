"""What does not fit together in a self-managed endpoint: its router, connector and arguments."""

from collections.abc import Iterator

from dpd.catalog import Router, routers
from dpd.config.environment import Environment
from dpd.config.problem import Problem
from dpd.config.self_managed import (
    SelfManagedColocatedEndpoint,
    SelfManagedDisaggregatedEndpoint,
)
from dpd.config.source import KeyPath
from dpd.errors import shown

OWNED_FLAGS = {
    "--host",
    "--kv-transfer-config",
    "--max-model-len",
    "--model",
    "--port",
    "--served-model-name",
    "--shutdown-timeout",
    "--tensor-parallel-size",
    "-tp",
}
"""vLLM flags that follow from other keys, on which the router, probes or the other role rely."""

_HUGE_PAGE = 2 * 2**20


def self_managed_problems(environment: Environment) -> Iterator[Problem]:
    """Yield what the router cannot do, and what would part the roles from each other."""
    for index, endpoint in enumerate(environment.endpoints):
        here = ("endpoints", index)
        if isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
            yield from _routing(here, endpoint)
            yield from _disaggregation(here, endpoint)
            yield from _workers(here, endpoint)
        elif isinstance(endpoint, SelfManagedColocatedEndpoint):
            yield from _routing(here, endpoint)
            yield from _workers(here, endpoint)


def _routing(
    here: KeyPath, endpoint: SelfManagedDisaggregatedEndpoint | SelfManagedColocatedEndpoint
) -> Iterator[Problem]:
    routing, topology = endpoint.routing, endpoint.topology
    router = routers()[routing.router]
    if routing.strategy not in router.strategies(topology):
        able = [r for r in routers().values() if routing.strategy in r.strategies(topology)]
        known = ", ".join(router.strategies(topology)) or "none"
        yield Problem(
            (*here, "routing", "strategy"),
            f"given {routing.strategy!r}, which {router.title} does not know for {topology} "
            "workers",
            f"{known}, or another router: {_names(able)}",
        )
    if routing.image is None and router.image is None:
        yield Problem(
            (*here, "routing", "image"),
            f"required with router {router.name}, which has no public image",
            fix="build one and give its name with tag or digest",
        )


def _disaggregation(here: KeyPath, endpoint: SelfManagedDisaggregatedEndpoint) -> Iterator[Problem]:
    routing, connector = endpoint.routing, endpoint.kv_transfer.connector
    router = routers()[routing.router]
    if routing.threshold_tokens > 0 and not router.threshold:
        able = [r for r in routers().values() if r.threshold]
        yield Problem(
            (*here, "routing", "thresholdTokens"),
            f"given {routing.threshold_tokens}, but {router.title} sends every prompt to prefill",
            f"0, or a router with a threshold: {_names(able)}",
            "runtime operator has one",
        )
    if connector not in router.connectors:
        able = [r for r in routers().values() if connector in r.connectors]
        yield Problem(
            (*here, "kvTransfer", "connector"),
            f"given {connector!r}, whose workers {router.title} cannot drive",
            f"{', '.join(router.connectors)}, or another router: {_names(able)}",
        )
    if endpoint.hugepages is not None and endpoint.hugepages % _HUGE_PAGE:
        yield Problem(
            (*here, "hugepages"),
            f"given {endpoint.hugepages / 2**20:g}MiB",
            "a multiple of 2MiB, which is the size of a page",
        )
    if connector == "lmcache" and endpoint.decode.most_replicas > 1:
        yield Problem(
            (*here, "decode", "replicas"),
            f"given {endpoint.decode.most_replicas} decode workers",
            "1 with connector lmcache, because the router knows one receiver by name",
        )


def _workers(
    here: KeyPath, endpoint: SelfManagedDisaggregatedEndpoint | SelfManagedColocatedEndpoint
) -> Iterator[Problem]:
    yield from _owned((*here, "args"), endpoint.args)
    for role, workers in endpoint.roles.items():
        yield from _owned((*here, role, "args"), workers.args)
        if workers.autoscaling and endpoint.monitoring is None:
            yield Problem(
                (*here, role, "autoscaling"),
                "given, but nobody measures the workers",
                fix="add monitoring to the endpoint",
            )
    if endpoint.shared_memory >= endpoint.resolved_memory:
        yield Problem(
            (*here, "sharedMemory"),
            f"given {endpoint.shared_memory // 2**20}MiB, which is all of memory",
            "less than memory, which it counts against",
        )


def _owned(path: KeyPath, args: tuple[str, ...]) -> Iterator[Problem]:
    for index, word in enumerate(args):
        flag = word.partition("=")[0].replace("_", "-")
        if flag in OWNED_FLAGS:
            yield Problem(
                (*path, index),
                f"given {shown(word)}, which follows from other keys",
                fix="remove it and set those",
            )


def _names(able: list[Router]) -> str:
    return ", ".join(router.name for router in able) or "none"
