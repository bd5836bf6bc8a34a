"""KEDA's objects, and who owns the number of workers."""

import pytest

from tests.self_managed.conftest import EXAMPLES, every_example, of_kind, worker_parts

FIELDS = {
    "scaleTargetRef", "minReplicaCount", "maxReplicaCount", "pollingInterval", "cooldownPeriod",
    "advanced", "triggers",
}  # fmt: skip
"""Of ScaledObject, as KEDA 2 documents them."""


@every_example()
def test_replicas_have_one_owner(name: str) -> None:
    """Where KEDA owns them, a Deployment that said a number would fight with it."""
    endpoint = EXAMPLES[name].endpoints[0]
    scaled = {each["metadata"]["name"] for each in of_kind("ScaledObject", name)}
    for part in worker_parts(name):
        (deployment,) = of_kind("Deployment", name, part)
        owned = endpoint.roles[part].autoscaling is not None  # type: ignore[union-attr]
        assert ("replicas" in deployment["spec"]) != owned
        assert (deployment["metadata"]["name"] in scaled) == owned


@pytest.mark.parametrize("name", ["autoscaled", "autoscaled-colocated"])
def test_queue_and_kv_cache_decide(name: str) -> None:
    """Per worker of this role, between bounds that the nodes have room for."""
    for part in worker_parts(name):
        (scaled,) = of_kind("ScaledObject", name, part)
        spec = scaled["spec"]
        assert set(spec) == FIELDS
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 3)
        assert spec["scaleTargetRef"]["name"] == f"chat-{part}"
        queries = [trigger["metadata"]["query"] for trigger in spec["triggers"]]
        selector = f'{{namespace="chat",pod=~"chat-{part}-.*"}}'
        assert queries == [
            f"sum(vllm:num_requests_waiting{selector})",
            f"sum(vllm:kv_cache_usage_perc{selector})",
        ]
        assert {trigger["metricType"] for trigger in spec["triggers"]} == {"AverageValue"}
