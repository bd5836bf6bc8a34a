"""The view of an environment's endpoint is that of the custom resource made from it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dpd.config.environment import Environment
from dpd.config.loader import environment_from
from dpd.config.source import Source
from dpd.manifest.endpoint_spec import endpoint_spec
from dpd.manifest.from_environment import endpoint_config
from dpd.rules.environment_view import environment_views

HERE = Path(__file__).parent
DATA = yaml.safe_load((HERE / "files/environment.yaml").read_text(encoding="utf-8"))
COLOCATED = {"topology": "colocated", "workers": {"instanceGroup": "prefill", "args": ["--x"]}}
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "image": {"image": "lmcache"},
    "own image": {"image": "own/vllm:1"},
    "EFA": {"requestEfaDevices": True},
    "half a node": {"tensorParallelSize": 4, "cpu": 3, "memory": "1536MiB"},
    "args": {"args": ["--seed", "1"], "decode": {"instanceGroup": "decode", "args": ["--x"]}},
    "variables": {"environmentVariables": {"PYTHONHASHSEED": "7", "A": "b"}},
    "routing": {"routing": {"thresholdTokens": 5, "strategy": "session"}},
    "buffer": {"kvTransfer": {"bufferSize": "9GiB"}},
    "no SageMaker endpoint": {"sagemakerEndpoint": False},
}


def environment(edits: dict[str, Any], group_types: tuple[str, str] | None = None) -> Environment:
    data = yaml.safe_load(yaml.safe_dump(DATA))
    data["endpoints"][0] |= edits
    for group, instance_type in zip(
        data["cluster"]["instanceGroups"], group_types or (), strict=False
    ):
        group["instanceType"] = instance_type
    if edits.get("topology") == "colocated":
        del data["endpoints"][0]["prefill"], data["endpoints"][0]["decode"]
    return environment_from(Source(name="file", data=data), name="tried")


def assert_same(tried: Environment) -> None:
    (endpoint,) = tried.endpoints
    assert endpoint_spec(tried, endpoint) == endpoint_config(tried, endpoint).to_manifest()["spec"]


@pytest.mark.parametrize("edits", VARIANTS.values(), ids=VARIANTS)
def test_spec_is_that_of_the_custom_resource(edits: dict[str, Any]) -> None:
    assert_same(environment(edits))


@pytest.mark.parametrize("edits", [{}, {"routing": {"strategy": "kvaware"}}, {"args": ["--y"]}])
def test_colocated_spec_is_that_of_the_custom_resource(edits: dict[str, Any]) -> None:
    assert_same(environment({**COLOCATED, **edits}))


def test_two_instance_types_are_as_in_the_custom_resource() -> None:
    tried = environment({}, ("ml.p5.48xlarge", "ml.p5en.48xlarge"))
    assert_same(tried)
    (view,) = environment_views(tried)
    assert [role.node and role.node.name for role in view.roles] == [
        "ml.p5.48xlarge",
        "ml.p5en.48xlarge",
    ]


def test_values_are_found_where_they_were_written() -> None:
    overrides = {"worker": {"probes": {"startupProbe": {"periodSeconds": 1}}}}
    (view,) = environment_views(
        environment(
            {"args": ["--seed", "1"], "environmentVariables": {"A": "b"}} | {"overrides": overrides}
        )
    )
    endpoint = ("endpoints", 0)
    assert view.decode
    assert view.decode.flags["seed"].path == (*endpoint, "args", 0)
    assert view.decode.flags["max-model-len"].path == (*endpoint, "maxModelLenTokens")
    assert view.decode.replicas.path == (*endpoint, "decode", "replicas")
    assert view.variables["A"].path == (*endpoint, "environmentVariables", "A")
    assert view.variables["PD_BUFFER_SIZE"].path == (*endpoint, "kvTransfer", "bufferSize")
    assert view.written("worker", "probes", "startupProbe").path == (
        *endpoint,
        *("overrides", "worker", "probes", "startupProbe"),
    )
