"""What a self-managed endpoint may say, and what it may not say together."""

# ruff: noqa: E501 - whole messages are easier to compare on one line

from typing import Any

import pytest
from pydantic import TypeAdapter

from dpd.catalog import routers
from dpd.config import Environment
from dpd.config.capacity import required_nodes, spare_nodes
from dpd.config.endpoint import Endpoint
from dpd.config.self_managed import (
    LmcacheTransfer,
    NixlTransfer,
    SelfManagedColocatedEndpoint,
    SelfManagedDisaggregatedEndpoint,
)
from tests.config.conftest import Load, Refusal

ENDPOINT: TypeAdapter[Any] = TypeAdapter(Endpoint)
WORKERS = {"instanceGroup": "gpu"}
DISAGGREGATED = {
    "name": "chat", "topology": "disaggregated", "runtime": "self-managed", "model": "m",
    "prefill": WORKERS, "decode": WORKERS,
}  # fmt: skip


@pytest.fixture(scope="session")
def text(prod: str) -> str:
    """`prod` with its endpoint self-managed and nothing said about its router."""
    routing = "    routing: {thresholdTokens: 4096, strategy: prefixaware}\n"
    buffer = "    kvTransfer: {bufferSize: 8GiB}\n"
    assert routing in prod
    assert buffer in prod
    changed = prod.replace(routing, "").replace(buffer, "")
    return changed.replace("    model:", "    runtime: self-managed\n    model:", 1)


def test_runtime_decides_the_kind() -> None:
    """And the connector that of the transfer; NIXL works with released routers."""
    endpoint = ENDPOINT.validate_python(DISAGGREGATED)
    assert isinstance(endpoint, SelfManagedDisaggregatedEndpoint)
    assert isinstance(endpoint.kv_transfer, NixlTransfer)
    assert endpoint.routing.threshold_tokens == 0
    with_buffer = {**DISAGGREGATED, "kvTransfer": {"connector": "lmcache", "bufferSize": "4GiB"}}
    transfer = ENDPOINT.validate_python(with_buffer).kv_transfer
    assert isinstance(transfer, LmcacheTransfer)
    assert transfer.buffer_size == 4 * 2**30
    colocated = {
        **{key: DISAGGREGATED[key] for key in ("name", "runtime", "model")},
        "topology": "colocated", "workers": WORKERS,
    }  # fmt: skip
    assert isinstance(ENDPOINT.validate_python(colocated), SelfManagedColocatedEndpoint)


PR890 = "routing: {router: production-stack-pr890, image: 'r/router:1'"


@pytest.mark.parametrize(
    ("added", "path", "message"),
    [
        ("overrides: {}", "overrides", "no key with runtime: self-managed; remove it, or use runtime: operator"),
        ("sagemakerEndpoint: false", "sagemakerEndpoint", "no key with runtime: self-managed; remove it, or use runtime: operator"),
        ("workers: {instanceGroup: prefill}", "workers", "no key with topology: disaggregated; remove it, or use topology: colocated"),
        ("privilegd: true", "privilegd", "unknown key; did you mean 'privileged'?"),
        ("kvTransfer: {bufferSize: 8GiB}", "kvTransfer.bufferSize", "no key with connector: nixl; remove it, or use connector: lmcache"),
        ("kvTransfer: {connector: mooncake}", "kvTransfer.connector", "given 'mooncake'; allowed: lmcache, nixl"),
        ("kvTransfer: {connector: lmcache}", "kvTransfer.connector", "given 'lmcache', whose workers vLLM Production Stack's router cannot drive; allowed: nixl, or another router: production-stack-pr890"),
        ("routing: {strategy: kvaware}", "routing.strategy", "given 'kvaware'; allowed: 'roundrobin', 'session' or 'prefixaware'"),
        ("routing: {strategy: session}", "routing.strategy", "given 'session', which vLLM Production Stack's router does not know for disaggregated workers; allowed: roundrobin, or another router: vllm-router"),
        ("routing: {thresholdTokens: 4096}", "routing.thresholdTokens", "given 4096, but vLLM Production Stack's router sends every prompt to prefill; allowed: 0, or a router with a threshold: production-stack-pr890; runtime operator has one"),
        ("routing: {router: vllm-router, image: 'r/r:1', thresholdTokens: 1}", "routing.thresholdTokens", "given 1, but the Rust vllm-router 0.1.17 sends every prompt to prefill; allowed: 0, or a router with a threshold: production-stack-pr890; runtime operator has one"),
        ("routing: {router: vllm-router}", "routing", "required with router vllm-router, which has no public image; build one and give its name with tag or digest"),
        ("args: [--port, '1']", "args.0", "given '--port', which follows from other keys; remove it and set those"),
        ("args: ['--kv_transfer_config={}']", "args.0", "given '--kv_transfer_config={}', which follows from other keys; remove it and set those"),
        ("sharedMemory: 1TiB", "sharedMemory", "given 1048576MiB, which is all of memory; allowed: less than memory, which it counts against"),
        ("hugepages: 3MiB", "hugepages", "given 3MiB; allowed: a multiple of 2MiB, which is the size of a page"),
        ("hugepages: 1TiB", "hugepages", "given '1TiB'; allowed: 0MiB to 64GiB"),
        ("tolerations: [{key: a, operator: Exists}]", "tolerations.0.operator", "unknown key; allowed: effect, key, value"),
    ],
)  # fmt: skip
def test_faults(added: str, path: str, message: str, text: str, refusal: Refusal) -> None:
    """Each is one line that says where, what was given, what is allowed."""
    changed = text.replace("    model: Llama", f"    {added}\n    model: Llama", 1)
    number = changed[: changed.index(added)].count("\n") + 1
    (only,) = refusal(changed)
    place, _, rest = only.partition(": ")
    assert place == f"environments/prod.yaml:{number}"
    assert rest.startswith(f"endpoints.chat.{path}")
    assert rest.endswith(message)


@pytest.mark.parametrize(
    ("role", "old", "new", "message"),
    [
        ("prefill", "replicas: 1", "replicas: 1, autoscaling: {maxReplicas: 2}", "`replicas` or `autoscaling`, not both"),
        ("prefill", "replicas: 1", "autoscaling: {maxReplicas: 2}", "given, but nobody measures the workers; add monitoring to the endpoint"),
        ("prefill", "replicas: 1", "autoscaling: {minReplicas: 3, maxReplicas: 2}", "minReplicas up to maxReplicas, 2"),
        ("prefill", "instanceGroup: prefill,", "instanceGroup: nowhere,", "which is no instance group of this environment; allowed: decode, prefill"),
    ],
)  # fmt: skip
def test_faults_of_workers(
    role: str, old: str, new: str, message: str, text: str, refusal: Refusal
) -> None:
    """The same for what one role says."""
    (only,) = refusal(text.replace(old, new, 1))
    assert f"endpoints.chat.{role}" in only
    assert only.endswith(message)


def test_threshold_needs_a_router_that_has_one(text: str, load: Load) -> None:
    """It is allowed exactly where the catalog says that the router can do it."""
    able = {router.name for router in routers().values() if router.threshold}
    assert able
    for name in able:
        routing = f"routing: {{router: {name}, image: 'r/r:1', thresholdTokens: 8192}}"
        (endpoint,) = load(text.replace("    model:", f"    {routing}\n    model:", 1)).endpoints
        assert endpoint.routing.threshold_tokens == 8192


def test_threshold_of_the_command_line_is_held_to_the_same(text: str, refusal: Refusal) -> None:
    """`-c routingThreshold=8192`."""
    (only,) = refusal(text, routingThreshold="8192")
    assert only.startswith("-c routingThreshold=8192: endpoints.chat.routing.thresholdTokens: ")


@pytest.mark.parametrize("workers", ["replicas: 2", "autoscaling: {maxReplicas: 2}"])
def test_lmcache_has_one_receiver(workers: str, text: str, refusal: Refusal) -> None:
    """The router knows its name and ports beforehand."""
    monitoring = "monitoring: {namespace: monitoring, prometheusUrl: 'http://p:80'}"
    added = f"{PR890}}}\n    kvTransfer: {{connector: lmcache}}\n    {monitoring}"
    changed = text.replace("    model:", f"    {added}\n    model:", 1)
    (only,) = refusal(changed.replace("decode, replicas: 1", f"decode, {workers}"))
    assert "endpoints.chat.decode" in only
    assert "given 2 decode workers; allowed: 1 with connector lmcache" in only


NODE_GROUPS = "cluster:\n  nodeGroups:\n    - {name: plain, instanceType: p5.48xlarge, count: 3}\n"


def test_nodes_without_hyperpod(text: str, prod: str, load: Load, refusal: Refusal) -> None:
    """Self-managed workers may use them, the operator's may not, and their types have no `ml.`."""
    changed = text.replace("cluster:\n", NODE_GROUPS, 1)
    changed = changed.replace("instanceGroup: decode", "instanceGroup: plain")
    environment = load(changed)
    assert required_nodes(environment, environment.nodes_named("plain")) == 1
    assert spare_nodes(environment, environment.nodes_named("plain")) == 2
    (only,) = refusal(changed.replace("count: 3", "count: 0"))
    assert "cluster.nodeGroups.plain.count: given 0, but its workers need 1 nodes of 8" in only
    (only,) = refusal(changed.replace("instanceType: p5.", "instanceType: ml.p5."))
    assert "cluster.nodeGroups.plain.instanceType: given 'ml.p5.48xlarge'" in only
    assert only.endswith("did you mean 'p5.48xlarge'?")
    operator = prod.replace("cluster:\n", NODE_GROUPS, 1)
    (only,) = refusal(operator.replace("instanceGroup: decode", "instanceGroup: plain"))
    assert only.endswith(
        "endpoints.chat.decode.instanceGroup: given 'plain', a node group without HyperPod; "
        "allowed: prefill, decode with runtime operator"
    )


def test_a_cluster_has_nodes(text: str, refusal: Refusal) -> None:
    """Some, of either kind; a name is of one kind only."""
    start, end = text.index("  instanceGroups:"), text.index("models:")
    lines = refusal(text[:start] + "  kubernetesVersion: '1.34'\n" + text[end:])
    assert any("given none; allowed: one or more, or nodeGroups" in line for line in lines)
    (only,) = refusal(text.replace("cluster:\n", NODE_GROUPS.replace("plain", "decode"), 1))
    assert "given 'decode', the name of an instance group; allowed: each name once" in only


def test_roles_do_not_share_nodes(text: str, load: Load) -> None:
    """EFA cannot be trusted between two workers of one node, so each role has its own."""
    small = text.replace("    model:", "    tensorParallelSize: 2\n    model:", 1)
    small = small.replace("instanceGroup: decode", "instanceGroup: prefill")

    def nodes(environment: Environment) -> int:
        return required_nodes(environment, environment.nodes_named("prefill"))

    assert nodes(load(small)) == 2
    operator = small.replace("runtime: self-managed", "runtime: operator")
    assert nodes(load(operator)) == 1


def test_autoscaled_workers_have_room(text: str, load: Load, refusal: Refusal) -> None:
    """The instance group is as large as the most workers need, or the file is refused."""
    monitoring = "monitoring: {namespace: monitoring, prometheusUrl: 'http://p:80'}"
    changed = text.replace("    model:", f"    {monitoring}\n    model:", 1)
    changed = changed.replace("replicas: 1", "autoscaling: {maxReplicas: 3}", 1)
    environment = load(changed)
    assert required_nodes(environment, environment.nodes_named("prefill")) == 3
    (only,) = refusal(changed.replace("name: prefill,", "name: prefill, count: 2,"))
    assert "given 2, but its workers need 3 nodes" in only
