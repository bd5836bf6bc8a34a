"""The agent that finds broken GPUs: on every GPU node, whatever its taints, and on no other."""

from typing import Any

import cdk8s

from dpd.catalog import health_monitoring_agent_accounts
from dpd.config import Environment, load_environment
from k8s.dependencies import DependenciesChart
from tests.k8s.conftest import by_name


def pod(environment: Environment) -> dict[str, Any]:
    """The pod's specification."""
    chart = DependenciesChart(cdk8s.App(), "dependencies", environment=environment)
    daemon_set = by_name(chart.to_json())["DaemonSet", "health-monitoring-agent"]
    template = daemon_set["spec"]["template"]
    assert daemon_set["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    found: dict[str, Any] = template["spec"]
    return found


def test_image_is_the_regions_own(environment: Environment) -> None:
    """Each region has its own account."""
    (container,) = pod(environment)["containers"]
    account = health_monitoring_agent_accounts()[environment.region]
    registry = f"{account}.dkr.ecr.{environment.region}.amazonaws.com"
    assert container["image"].startswith(f"{registry}/hyperpod-health-monitoring-agent:")


def test_runs_on_the_environments_types_only(environment: Environment) -> None:
    """As the nodes' label spells them."""
    affinity = pod(environment)["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    assert expression["key"] == "node.kubernetes.io/instance-type"
    assert set(expression["values"]) == environment.instance_types
    assert all(value.startswith("ml.") for value in expression["values"])


def test_types_are_sorted_and_named_once() -> None:
    """Whatever order the groups have: the same manifest."""
    given = "cluster.instanceGroups.0.instanceType=ml.p6-b200.48xlarge"
    affinity = pod(load_environment({"env": "prod", "set": given}))["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["ml.p5.48xlarge", "ml.p6-b200.48xlarge"]


def test_no_taint_keeps_it_away(prod_environment: Environment) -> None:
    """It is there to look at nodes that are tainted."""
    tolerations = pod(prod_environment)["tolerations"]
    assert {(t["operator"], t["effect"], t.get("key")) for t in tolerations} == {
        ("Exists", "NoSchedule", None),
        ("Exists", "NoExecute", None),
    }


def test_reads_the_node_and_writes_its_log(prod_environment: Environment) -> None:
    """Kernel messages and clock read-only, as nobody in particular, within limits."""
    specification = pod(prod_environment)
    (container,) = specification["containers"]
    paths = {v["name"]: v["hostPath"]["path"] for v in specification["volumes"]}
    mounts = {
        paths[m["name"]]: (m["mountPath"], m.get("readOnly", False))
        for m in container["volumeMounts"]
    }
    assert mounts == {
        "/var/log": ("/var/log", False),
        "/dev/kmsg": ("/dev/kmsg", True),
        "/etc/localtime": ("/etc/localtime", True),
    }
    assert container["securityContext"] == {"runAsUser": 1000, "runAsGroup": 2000}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert container["resources"]["limits"] == {"cpu": "500m", "memory": "512Mi"}
    names = {v["name"]: v["valueFrom"]["fieldRef"]["fieldPath"] for v in container["env"]}
    assert names == {"NODE_NAME": "spec.nodeName", "NODE_IP": "status.hostIP"}
