"""What routers are started with; the Rust one itself judges its own in test_rust_router.py."""

from itertools import pairwise
from typing import Any

import pytest

from dpd.config import Environment, SelfManagedEndpoint
from dpd.workload.labels import COMPONENT, INSTANCE
from dpd.workload.router_arguments import metrics_port, router_arguments
from tests.workload.conftest import build, colocated, every_variant

RUST = {"router": "vllm-router", "image": "registry/router:1"}
PR890 = {"router": "production-stack-pr890", "image": "registry/router:1"}


def arguments(environment: Environment) -> list[str]:
    """Those of the only endpoint."""
    endpoint: SelfManagedEndpoint = environment.endpoints[0]
    return router_arguments(endpoint)


@every_variant()
def test_flags_are_there_once(variant: Environment) -> None:
    """A later one would win silently."""
    flags = [word for word in arguments(variant) if word.startswith("--")]
    assert len(flags) == len(set(flags))


@every_variant()
def test_router_listens_where_its_service_sends(variant: Environment) -> None:
    """On every address of the pod."""
    pairs = set(pairwise(arguments(variant)))
    assert {("--host", "0.0.0.0"), ("--port", "8000")} <= pairs
    endpoint: SelfManagedEndpoint = variant.endpoints[0]
    is_rust = endpoint.routing.router == "vllm-router"
    assert metrics_port(endpoint) == (29000 if is_rust else 8000)


def test_production_stack_finds_both_roles_of_its_endpoint_only() -> None:
    """By a query that no other pod in the namespace meets, the router's least of all."""
    words = arguments(build())
    query = words[words.index("--k8s-label-selector") + 1]
    assert query == f"{INSTANCE}=chat,{COMPONENT} in (prefill,decode)"
    assert ("--routing-logic", "disaggregated_prefill_orchestrated") in pairwise(words)


def test_production_stacks_labels_are_not_parts_of_each_other() -> None:
    """It looks for a worker's label inside these texts."""
    words = arguments(build())
    prefill = words[words.index("--prefill-model-labels") + 1]
    decode = words[words.index("--decode-model-labels") + 1]
    assert prefill not in decode
    assert decode not in prefill


@pytest.mark.parametrize(
    ("make", "routing", "expected"),
    [
        (colocated, {"strategy": "session"}, "--routing-logic session --session-key X-Session-ID"),
        (colocated, {"strategy": "prefixaware"}, "--routing-logic prefixaware"),
        (colocated, {}, "--routing-logic roundrobin"),
        (build, {**RUST, "strategy": "session"}, "--policy consistent_hash"),
        (build, {**RUST, "strategy": "prefixaware"}, "--policy cache_aware"),
        (build, RUST, "--policy round_robin"),
        (build, {**PR890, "thresholdTokens": 8192}, "--routing-threshold 8192"),
    ],
)
def test_strategies_in_each_routers_words(
    make: Any, routing: dict[str, object], expected: str
) -> None:
    """Side by side in the command line."""
    assert f" {expected} " in f" {' '.join(arguments(make(routing=routing)))} "


def test_the_router_tells_senders_where_the_receiver_is() -> None:
    """By a name that outlives the decode pod, with a port for each rank."""
    lmcache = build(routing=PR890, kvTransfer={"connector": "lmcache"}, tensorParallelSize=2)
    pairs = set(pairwise(arguments(lmcache)))
    assert ("--decoder-host", "chat-decode.chat.svc.cluster.local") in pairs
    assert ("--decoder-init-port", "7300,7301") in pairs
    assert ("--decoder-alloc-port", "7400,7401") in pairs
    assert "--decoder-host" not in arguments(build(routing=PR890))
