"""Clients reach routers, routers reach workers, workers reach each other, and nobody else."""

from typing import Any

from dpd.workload.labels import COMPONENT
from tests.self_managed.conftest import EXAMPLES, every_example, of_kind, worker_parts


def policy(name: str, part: str) -> dict[str, Any]:
    """The only policy of a part; it selects that part."""
    (found,) = of_kind("NetworkPolicy", name, part)
    assert found["spec"]["podSelector"]["matchLabels"][COMPONENT] == part
    assert set(found["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    return found["spec"]  # type: ignore[no-any-return]


def peers(rules: list[dict[str, Any]], side: str) -> dict[str, list[int]]:
    """Ports by peer: a part, `namespace:NAME`, `cluster` or a block; no ports means all."""
    found = {}
    for rule in rules:
        for peer in rule[side]:
            if "ipBlock" in peer:
                key = peer["ipBlock"]["cidr"]
            elif "namespaceSelector" in peer:
                labels = peer["namespaceSelector"].get("matchLabels", {})
                key = f"namespace:{labels['kubernetes.io/metadata.name']}" if labels else "cluster"
            else:
                key = peer["podSelector"]["matchLabels"][COMPONENT]
            found[key] = sorted({port["port"] for port in rule.get("ports", [])})
    return found


@every_example()
def test_workers_hear_the_router_and_each_other(name: str) -> None:
    """And Prometheus, where there is one; they speak to each other and to DNS."""
    monitored = EXAMPLES[name].endpoints[0].monitoring is not None  # type: ignore[union-attr]
    parts = worker_parts(name)
    for part in parts:
        others = {other: [] for other in parts if other != part}
        prometheus = {"namespace:monitoring": [8000]} if monitored else {}
        spec = policy(name, part)
        assert peers(spec["ingress"], "from") == {"router": [8000], **others, **prometheus}
        assert peers(spec["egress"], "to") == {**others, "namespace:kube-system": [53]}


@every_example()
def test_the_cluster_reaches_routers_only(name: str) -> None:
    """On the ports of requests and metrics; they reach workers and the Kubernetes API."""
    spec = policy(name, "router")
    endpoint = EXAMPLES[name].endpoints[0]
    is_rust = endpoint.routing.router == "vllm-router"  # type: ignore[union-attr]
    served = [8000, 29000] if is_rust else [8000]
    assert peers(spec["ingress"], "from") == {"cluster": served}
    assert peers(spec["egress"], "to") == {
        **{part: [8000] for part in worker_parts(name)},
        "namespace:kube-system": [53],
        "0.0.0.0/0": [443],
    }
