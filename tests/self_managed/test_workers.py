"""Where workers run, with what, how they start and how they end."""

from typing import Any

import pytest

from dpd.workload.labels import COMPONENT
from tests.self_managed.conftest import (
    EXAMPLES,
    every_example,
    of_kind,
    pod,
    rendered,
    worker_parts,
)
from tests.workload.conftest import build


def containers(name: str, part: str) -> list[dict[str, Any]]:
    """All containers of a pod."""
    return [*pod(name, part).get("initContainers", []), *pod(name, part)["containers"]]


@every_example()
def test_requests_equal_limits(name: str) -> None:
    """Kubernetes demands it of devices and huge pages; of the rest it makes pods the last to go."""
    disaggregated = EXAMPLES[name].endpoints[0].topology == "disaggregated"
    for part in worker_parts(name):
        for container in containers(name, part):
            resources = container["resources"]
            assert resources["requests"] == resources["limits"]
        (vllm,) = pod(name, part)["containers"]
        assert ("vpc.amazonaws.com/efa" in vllm["resources"]["limits"]) == disaggregated
        pages = "hugepages-2Mi" in vllm["resources"]["limits"]
        assert pages == (disaggregated and name != "privileged")


@every_example()
def test_shared_memory_is_part_of_memory(name: str) -> None:
    """A volume in memory counts against the limit."""
    for part in worker_parts(name):
        volumes = {volume["name"]: volume for volume in pod(name, part)["volumes"]}
        memory = volumes["shared-memory"]["emptyDir"]
        assert memory == {"medium": "Memory", "sizeLimit": "16Gi"}
        mounts = pod(name, part)["containers"][0]["volumeMounts"]
        paths = {mount["name"]: mount["mountPath"] for mount in mounts}
        assert paths["shared-memory"] == "/dev/shm"


@every_example()
def test_weights_are_read_only_everywhere(name: str) -> None:
    """In the mount's options, in the pod's volume and in the container."""
    (volume,) = of_kind("PersistentVolume", name)
    (claim,) = of_kind("PersistentVolumeClaim", name)
    assert "read-only" in volume["spec"]["mountOptions"]
    assert "prefix Llama-3.3-70B-Instruct/" in volume["spec"]["mountOptions"]
    assert volume["spec"]["csi"]["driver"] == "s3.csi.aws.com"
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    assert volume["spec"]["claimRef"]["name"] == claim["metadata"]["name"]
    for part in worker_parts(name):
        volumes = {each["name"]: each for each in pod(name, part)["volumes"]}
        source = volumes["weights"]["persistentVolumeClaim"]
        assert source == {"claimName": claim["metadata"]["name"], "readOnly": True}
        (vllm,) = pod(name, part)["containers"]
        (mount,) = [each for each in vllm["volumeMounts"] if each["name"] == "weights"]
        assert mount["readOnly"] is True
        assert vllm["args"][0] == mount["mountPath"]


@every_example()
def test_prefill_and_decode_keep_apart(name: str) -> None:
    """On hosts: each role refuses the other's."""
    parts = worker_parts(name)
    if len(parts) == 1:
        assert "affinity" not in pod(name, parts[0])
        return
    for part, other in (parts, reversed(parts)):
        required = pod(name, part)["affinity"]["podAntiAffinity"]
        (term,) = required["requiredDuringSchedulingIgnoredDuringExecution"]
        assert term["topologyKey"] == "kubernetes.io/hostname"
        assert term["labelSelector"]["matchLabels"][COMPONENT] == other


def test_hyperpods_nodes_are_chosen_by_their_group() -> None:
    """With types as HyperPod spells them."""
    assert pod("monitored", "decode")["nodeSelector"] == {
        "sagemaker.amazonaws.com/instance-group-name": "decode",
        "node.kubernetes.io/instance-type": "ml.p5.48xlarge",
    }


def test_plain_nodes_are_chosen_by_group_and_zone() -> None:
    """With types as EC2 spells them; and a person may add labels and taints."""
    spec = pod("plain-eks", "prefill")
    assert spec["nodeSelector"] == {
        "eks.amazonaws.com/nodegroup": "gpu",
        "node.kubernetes.io/instance-type": "p5en.48xlarge",
        "topology.k8s.aws/zone-id": "use2-az1",
        "team": "inference",
    }
    assert spec["tolerations"][-1] == {
        "key": "dedicated",
        "operator": "Equal",
        "value": "serving",
        "effect": "NoSchedule",
    }


@every_example()
def test_routers_are_rather_elsewhere(name: str) -> None:
    """On any node but those of the workers, where there is one."""
    affinity = pod(name, "router")["affinity"]["nodeAffinity"]
    (wish,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    (expression,) = wish["preference"]["matchExpressions"]
    assert expression["operator"] == "NotIn"
    selectors = [pod(name, part)["nodeSelector"] for part in worker_parts(name)]
    assert {selector[expression["key"]] for selector in selectors} == {*expression["values"]}


@every_example()
def test_gpu_taints_are_tolerated(name: str) -> None:
    """Without being asked."""
    for part in worker_parts(name):
        keys = {each["key"] for each in pod(name, part)["tolerations"]}
        assert {"nvidia.com/gpu", "vpc.amazonaws.com/efa"} <= keys


@every_example()
def test_a_start_is_not_cut_short(name: str) -> None:
    """Liveness begins after the startup probe, which lasts; the rollout waits for longer."""
    for part in worker_parts(name):
        (vllm,) = pod(name, part)["containers"]
        startup = vllm["startupProbe"]
        budget = startup["periodSeconds"] * startup["failureThreshold"]
        assert budget > 1200
        (deployment,) = of_kind("Deployment", name, part)
        assert deployment["spec"]["progressDeadlineSeconds"] > budget
        probes = [vllm[f"{probe}Probe"] for probe in ("startup", "readiness", "liveness")]
        assert [probe["httpGet"]["path"] for probe in probes] == ["/health"] * 3


@every_example()
def test_a_drain_is_not_cut_short(name: str) -> None:
    """The pod's grace is longer than what precedes the drain and the drain itself."""
    for part in worker_parts(name):
        spec = pod(name, part)
        (vllm,) = spec["containers"]
        drain = int(vllm["args"][vllm["args"].index("--shutdown-timeout") + 1])
        before = vllm["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert spec["terminationGracePeriodSeconds"] > before + drain
        assert pod(name, "router")["terminationGracePeriodSeconds"] > drain


@pytest.mark.parametrize(("count", "surge"), [(1, 0), (2, 1)])
def test_a_new_worker_needs_a_free_node(count: int, surge: int) -> None:
    """Only with a spare one may it start before an old one ends."""
    groups = [
        {"name": "prefill", "instanceType": "ml.p5.48xlarge"},
        {"name": "decode", "instanceType": "ml.p5.48xlarge", "count": count},
    ]
    charts = rendered(build(cluster={"instanceGroups": groups}))
    (deployment,) = [each for each in charts["decode"] if each["kind"] == "Deployment"]
    strategy = deployment["spec"]["strategy"]["rollingUpdate"]
    assert strategy == {"maxSurge": surge, "maxUnavailable": 1 - surge}


@every_example()
def test_decode_is_not_evicted_alone(name: str) -> None:
    """A budget for decode and for nothing else."""
    budgets = of_kind("PodDisruptionBudget", name)
    if "decode" not in worker_parts(name):
        assert budgets == []
        return
    (budget,) = budgets
    assert budget["spec"]["minAvailable"] == 1
    assert budget["spec"]["selector"]["matchLabels"][COMPONENT] == "decode"


@every_example()
def test_selectors_find_their_pods_and_no_others(name: str) -> None:
    """Deployments and Services."""
    labels = {}
    for part in (*worker_parts(name), "router"):
        (deployment,) = of_kind("Deployment", name, part)
        labels[part] = deployment["spec"]["template"]["metadata"]["labels"]
        wanted = deployment["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= labels[part].items()
        assert [p for p in labels if wanted.items() <= labels[p].items()] == [part]
    for service in of_kind("Service", name):
        wanted = service["spec"]["selector"].items()
        assert len([each for each in labels.values() if wanted <= each.items()]) == 1


@every_example()
def test_senders_have_somebody_to_tell(name: str) -> None:
    """A reader of notices beside LMCache's senders, and a name for the receiver."""
    is_lmcache = "lmcache" in name
    for part in worker_parts(name):
        sidecars = pod(name, part).get("initContainers", [])
        assert bool(sidecars) == (is_lmcache and part == "prefill")
        assert all(each["restartPolicy"] == "Always" for each in sidecars)
    headless = [s for s in of_kind("Service", name) if s["spec"].get("clusterIP") == "None"]
    assert len(headless) == int(is_lmcache)
