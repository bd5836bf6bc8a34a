"""Charts of every variant, rendered once."""

from functools import cache
from typing import Any

import cdk8s
import pytest

from dpd.config import Environment
from k8s.endpoint import endpoint_charts
from tests.workload.conftest import VARIANTS, build, colocated

MONITORING = {"namespace": "monitoring", "prometheusUrl": "http://prometheus-server.monitoring:80"}
SCALED = {"autoscaling": {"maxReplicas": 3}}

EXAMPLES: dict[str, Environment] = {
    **VARIANTS,
    "privileged": build(privileged=True, hugepages="0MiB"),
    "monitored": build(monitoring=MONITORING),
    "autoscaled": build(
        monitoring=MONITORING,
        prefill={"instanceGroup": "prefill", **SCALED},
        decode={"instanceGroup": "decode", **SCALED},
    ),
    "autoscaled-colocated": colocated(
        monitoring=MONITORING, workers={"instanceGroup": "decode", **SCALED}
    ),
    "plain-eks": build(
        cluster={
            "instanceGroups": [],
            "nodeGroups": [{"name": "gpu", "instanceType": "p5en.48xlarge", "count": 3}],
        },
        prefill={"instanceGroup": "gpu"},
        decode={"instanceGroup": "gpu"},
        tolerations=[{"key": "dedicated", "value": "serving", "effect": "NoSchedule"}],
        nodeSelector={"team": "inference"},
    ),
}

Objects = dict[str, list[dict[str, Any]]]


@cache
def objects(name: str) -> Objects:
    """Return the objects of an example by part; do not change them."""
    return rendered(EXAMPLES[name])


def rendered(environment: Environment) -> Objects:
    """Return the objects of the only endpoint by part."""
    (endpoint,) = environment.endpoints
    charts = endpoint_charts(cdk8s.App(), environment=environment, endpoint=endpoint)
    return {part: chart.to_json() for part, chart in charts.items()}


def everything(name: str) -> list[dict[str, Any]]:
    """Return all objects of an example."""
    return [each for part in objects(name).values() for each in part]


def of_kind(kind: str, name: str, part: str | None = None) -> list[dict[str, Any]]:
    """Return the objects of a kind, of one part or of all."""
    found = everything(name) if part is None else objects(name)[part]
    return [each for each in found if each["kind"] == kind]


def pod(name: str, part: str) -> dict[str, Any]:
    """Return the pod spec of a part's only Deployment."""
    (deployment,) = of_kind("Deployment", name, part)
    return deployment["spec"]["template"]["spec"]  # type: ignore[no-any-return]


def worker_parts(name: str) -> list[str]:
    """Return the parts that are workers."""
    return [part for part in objects(name) if part not in ("weights", "router")]


def every_example() -> pytest.MarkDecorator:
    """Run a test once for each example."""
    return pytest.mark.parametrize("name", EXAMPLES)
