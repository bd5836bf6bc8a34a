"""Device plugins: pinned, on the environment's own GPU nodes, there before any of them."""

import json
from typing import Any

import pytest

from tests.conftest import Synthesize
from tests.synthesized import Synthesized

CHARTS = {
    "nvidia-device-plugin": "https://nvidia.github.io/k8s-device-plugin",
    "aws-efa-k8s-device-plugin": "https://aws.github.io/eks-charts",
}


def charts(made: Synthesized) -> dict[str, dict[str, Any]]:
    """Properties of every Helm chart by name."""
    found = made["cluster"].of_type("Custom::AWSCDK-EKS-HelmChart").values()
    return {chart["Properties"]["Chart"]: chart["Properties"] for chart in found}


def test_charts_are_the_public_ones_pinned(shipped: Synthesized) -> None:
    """Without a version, tomorrow's chart would go onto the cluster."""
    made = charts(shipped)
    assert {name: chart["Repository"] for name, chart in made.items()} == CHARTS
    assert all(chart["Version"].strip("v")[0].isdigit() for chart in made.values())
    assert {chart["Namespace"] for chart in made.values()} == {"kube-system"}


def test_charts_do_not_wait_for_pods(prod: Synthesized) -> None:
    """GPU nodes come after them."""
    assert not any(chart.get("Wait") for chart in charts(prod).values())


@pytest.mark.parametrize(
    "types", [["ml.p5.48xlarge"], ["ml.p5.48xlarge", "ml.p6-b200.48xlarge"]], ids=["one", "two"]
)
def test_charts_select_the_environments_types(synthesize: Synthesize, types: list[str]) -> None:
    """The EFA plugin crashes on a type without EFA."""
    made = charts(synthesize("prod", f"cluster.instanceGroups.decode.instanceType={types[-1]}"))
    nvidia = json.loads(made["nvidia-device-plugin"]["Values"])
    (term,) = nvidia["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    label = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types}
    assert term["matchExpressions"] == [label]
    efa = json.loads(made["aws-efa-k8s-device-plugin"]["Values"])
    assert efa["supportedInstanceLabels"] == {
        "keys": ["node.kubernetes.io/instance-type"],
        "values": types,
    }


@pytest.mark.parametrize("name", CHARTS)
def test_plugins_run_on_nodes_that_nothing_else_may_use(prod: Synthesized, name: str) -> None:
    """GPU nodes, and nodes that the health agent has marked: a repaired one needs its devices."""
    tolerations = json.loads(charts(prod)[name]["Values"])["tolerations"]
    assert {(t["key"], t["operator"], t["effect"]) for t in tolerations} == {
        ("nvidia.com/gpu", "Exists", "NoSchedule"),
        ("sagemaker.amazonaws.com/node-health-status", "Equal", "NoSchedule"),
    }
