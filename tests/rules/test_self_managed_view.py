"""The rules about vLLM, GPUs and nodes, on self-managed endpoints."""

from typing import Any

import pytest

from dpd.config import Environment
from dpd.rules import Severity, check_environment
from dpd.rules.check import REGISTRY
from dpd.rules.self_managed_view import self_managed_views
from tests.self_managed.conftest import EXAMPLES, every_example
from tests.workload.conftest import build, colocated

LMCACHE: dict[str, Any] = {
    "routing": {"router": "production-stack-pr890", "image": "registry/router:1"},
    "gpuMemoryUtilization": 0.7,
}


def found(environment: Environment) -> dict[str, str]:
    """Rule by place of every error and warning."""
    findings = check_environment(environment)
    return {
        each.path: each.rule
        for each in findings
        if each.severity in (Severity.ERROR, Severity.WARNING)
    }


@pytest.mark.parametrize(
    ("changes", "rule", "place"),
    [
        ({"args": ["--max-num-sq", "8"]}, "DPD110", "args.0"),
        ({"args": ["--max-num-seqs", "many"]}, "DPD112", "args.0"),
        ({"maxModelLenTokens": 200_000}, "DPD307", "maxModelLenTokens"),
        ({"gpuMemoryUtilization": 0.2}, "DPD305", "gpuMemoryUtilization"),
        ({"efaDevices": 40}, "DPD502", "efaDevices"),
        ({"hugepages": "16GiB"}, "DPD509", "hugepages"),
        ({"cpu": 400}, "DPD206", "cpu"),
        (
            {"prefill": {"instanceGroup": "prefill", "args": ["--max-num-batched-tokens 4096"]}},
            "DPD118",
            "prefill.args.0",
        ),
        ({"cpu": 190}, "DPD214", "cpu"),
        (
            {"decode": {"instanceGroup": "decode", "args": ["--dtype", "half"]}},
            "DPD402",
            "decode.args.0",
        ),
        (
            {**LMCACHE, "kvTransfer": {"connector": "lmcache", "bufferSize": "64GiB"}},
            "DPD303",
            "kvTransfer.bufferSize",
        ),
        (
            {**LMCACHE, "kvTransfer": {"connector": "lmcache", "bufferSize": "128MiB"}},
            "DPD302",
            "kvTransfer.bufferSize",
        ),
    ],
)
def test_faults_are_found_where_they_were_written(
    changes: dict[str, Any], rule: str, place: str
) -> None:
    """By the rules that judge the operator's endpoints, at the keys of this one."""
    assert found(build(**changes)).get(f"endpoints.chat.{place}") == rule


def test_colocated_workers_are_judged_too() -> None:
    """With nothing about roles."""
    assert found(colocated(gpuMemoryUtilization=0.2)) == {
        "endpoints.chat.gpuMemoryUtilization": "DPD305"
    }


def test_shipped_endpoints_are_right() -> None:
    """Also for nodes without HyperPod, whose types have other names."""
    assert found(build()) == {}
    assert found(colocated()) == {}
    assert found(EXAMPLES["plain-eks"]) == {}


@every_example()
def test_only_rules_about_workers_apply(name: str) -> None:
    """Those that there are; none of the operator's, which would know nothing of these objects."""
    for view, rules in self_managed_views(EXAMPLES[name]):
        assert rules <= REGISTRY.keys()
        assert not {REGISTRY[rule].family for rule in rules} & {"operator", "routing", "naming"}
        assert view.name.value == "chat"
