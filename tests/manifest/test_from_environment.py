"""The custom resource of an endpoint, compared with AWS's documented example."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from dpd.config import Environment, load_environment
from dpd.errors import UserError
from dpd.manifest.from_environment import endpoint_config
from tests.conftest import SHARED

EXAMPLE = SHARED / "data" / "documented-dpd-manifest.yaml"
OURS: Mapping[str, object] = {
    "metadata.name": "chat",
    "metadata.namespace": "chat",
    "spec.endpointName": "dpd-prod-chat",
    "spec.modelSourceConfig.s3Storage.bucketName": "dpd-prod-models-111122223333-us-east-2",
}
"""Documented fields whose value is a name, and what ours is called."""
ADDED: Mapping[str, str] = {
    "spec.tags.0.name": "finds what an environment costs",
    "spec.tags.0.value": "finds what an environment costs",
    "spec.pdSpec.prefillSpec.nodeSelector.sagemaker.amazonaws.com/instance-group-name": (
        "each role has an instance group; without it both workers may want the same node"
    ),
    "spec.pdSpec.decodingSpec.nodeSelector.sagemaker.amazonaws.com/instance-group-name": (
        "each role has an instance group; without it both workers may want the same node"
    ),
    **{
        f"spec.pdSpec.{role}.resources.{kind}.{resource}": (
            "the worker's own resources do not reach the pods of a role"
        )
        for role in ("prefillSpec", "decodingSpec")
        for kind in ("requests", "limits")
        for resource in ("cpu", "memory")
    },
    "spec.pdSpec.topologySpec.sameAZ": "the default, spelt out: EFA traffic cannot leave a zone",
    "spec.metrics.modelMetrics.port": "the default is 8080, and vLLM listens on 8000 only",
}
"""Fields that the documented example does not have, and why ours does."""

Made = Callable[..., dict[str, Any]]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value by dotted path."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(str(index), item) for index, item in enumerate(value)]
    else:
        yield path, value
        return
    for key, item in items:
        yield from leaves(item, f"{path}.{key}" if path else key)


@pytest.fixture
def made() -> Made:
    """The manifest of the one endpoint of `prod`, with assignments as `-c set=` takes them."""

    def make(*assignments: str, name: str = "prod", **context: Any) -> dict[str, Any]:
        environment = load_environment({"env": name, "set": ",".join(assignments), **context})
        return manifest(environment)

    return make


def manifest(environment: Environment) -> dict[str, Any]:
    """The manifest of the one endpoint of an environment."""
    (endpoint,) = environment.endpoints
    found: dict[str, Any] = endpoint_config(environment, endpoint).to_manifest()
    return found


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    """Values of the documented example by dotted path."""
    if not EXAMPLE.is_file():
        pytest.skip("the documented example is not beside the repository (../shared/data)")
    return dict(leaves(yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))))


def test_documented_fields_have_the_documented_values(
    made: Made, documented: dict[str, Any]
) -> None:
    """Every one, names and bucket aside; and those are what this project calls them."""
    ours = dict(leaves(made()))
    same = {path: value for path, value in documented.items() if path not in OURS}
    assert {path: ours.get(path, "missing") for path in same} == same
    assert {path: ours[path] for path in OURS} == OURS


def test_names_are_documented_fields(documented: dict[str, Any]) -> None:
    """The table of names excuses nothing that is not there, or that is the same anyhow."""
    assert {path for path in OURS if documented[path] != OURS[path]} == set(OURS)


def test_what_is_added_has_a_reason(made: Made, documented: dict[str, Any]) -> None:
    """A new field fails here, and so does a reason for one that is gone."""
    assert dict(leaves(made())).keys() - documented.keys() == set(ADDED)


def test_additions_hold_for_this_environment(made: Made) -> None:
    """Their values, which no example can give."""
    spec = made()["spec"]
    label = "sagemaker.amazonaws.com/instance-group-name"
    assert spec["tags"] == [{"name": "dpd:environment", "value": "prod"}]
    assert spec["pdSpec"]["prefillSpec"]["nodeSelector"] == {label: "prefill"}
    assert spec["pdSpec"]["decodingSpec"]["nodeSelector"] == {label: "decode"}
    assert spec["pdSpec"]["topologySpec"] == {"sameAZ": True}
    assert spec["metrics"]["modelMetrics"]["port"] == 8000


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """New value by path of everything that differs; None where it is gone."""
    old, new = dict(leaves(before)), dict(leaves(after))
    paths = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    return {path: new.get(path) for path in paths}


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("prefill.replicas=2", {"spec.pdSpec.prefillSpec.replicas": 2}),
        ("routing.thresholdTokens=0", {"spec.pdSpec.routingThreshold": 0}),
        ("routing.strategy=kvaware", {"spec.intelligentRoutingSpec.routingStrategy": "kvaware"}),
        ("maxModelLenTokens=8192", {"spec.worker.args.9": "8192"}),
        ("gpuMemoryUtilization=0.9", {"spec.worker.args.11": "0.9"}),
        ("args=[--trust-remote-code]", {"spec.worker.args.12": "--trust-remote-code"}),
        ("kvTransfer.bufferSize=4GiB", {"spec.worker.environmentVariables.1.value": "4294967296"}),
        (
            "environmentVariables.VLLM_LOGGING_LEVEL=DEBUG",
            {
                "spec.worker.environmentVariables.4.name": "VLLM_LOGGING_LEVEL",
                "spec.worker.environmentVariables.4.value": "DEBUG",
            },
        ),
        ("environmentVariables.HF_HOME=/x", {"spec.worker.environmentVariables.0.value": "/x"}),
        ("image=registry.example.com/vllm:1", {"spec.worker.image": "registry.example.com/vllm:1"}),
        ("namespace=team", {"metadata.namespace": "team"}),
        ("sagemakerEndpoint=false", {"spec.endpointName": ""}),
        (
            "memory=1536MiB",
            {
                f"spec.{holder}.resources.{kind}.memory": "1536Mi"
                for holder in ("worker", "pdSpec.prefillSpec", "pdSpec.decodingSpec")
                for kind in ("requests", "limits")
            },
        ),
        (
            "prefill.args=[--max-num-batched-tokens, '16384']",
            {
                "spec.pdSpec.prefillSpec.args.0": "--max-num-batched-tokens",
                "spec.pdSpec.prefillSpec.args.1": "16384",
            },
        ),
        (
            "requestEfaDevices=true",
            {
                f"spec.pdSpec.{role}.resources.{kind}.vpc.amazonaws.com/efa": "32"
                for role in ("prefillSpec", "decodingSpec")
                for kind in ("requests", "limits")
            },
        ),
    ],
    ids=lambda value: value.partition("=")[0] if isinstance(value, str) else "",
)
def test_a_setting_changes_its_fields_and_no_other(
    made: Made, assignment: str, expected: dict[str, Any]
) -> None:
    """What a person edits is found where the operator reads it."""
    assert changes(made(), made(f"endpoints.chat.{assignment}")) == expected


def test_small_workers_take_their_share(made: Made) -> None:
    """One GPU of eight, and as many of the network devices."""
    whole, part = made(name="dev"), made("endpoints.0.requestEfaDevices=true", name="dev")
    limits = part["spec"]["pdSpec"]["prefillSpec"]["resources"]["limits"]
    assert limits.pop("vpc.amazonaws.com/efa") == "4"
    assert limits == {"cpu": "12", "memory": "128Gi", "nvidia.com/gpu": "1"}
    assert whole["spec"]["pdSpec"]["prefillSpec"]["resources"]["limits"] == limits


def test_roles_on_two_types_name_both(made: Made) -> None:
    """The custom resource takes one type or a list, never both."""
    spec = made("cluster.instanceGroups.decode.instanceType=ml.p5en.48xlarge")["spec"]
    assert spec["instanceTypes"] == ["ml.p5.48xlarge", "ml.p5en.48xlarge"]
    assert "instanceType" not in spec


COLOCATED = """endpoints=[{name: chat, topology: colocated, model: Llama-3.3-70B-Instruct,
  workers: {instanceGroup: decode, replicas: 2, args: [--enable-chunked-prefill]}}]"""


def test_colocated_endpoint_has_no_roles(made: Made) -> None:
    """Replicas on its group, by affinity; no router unless one is asked for."""
    spec = made(COLOCATED)["spec"]
    assert "pdSpec" not in spec
    assert "intelligentRoutingSpec" not in spec
    assert "instanceType" not in spec
    assert spec["replicas"] == 2
    assert spec["worker"]["args"][-1] == "--enable-chunked-prefill"
    required = spec["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {
            "key": "sagemaker.amazonaws.com/instance-group-name",
            "operator": "In",
            "values": ["decode"],
        }
    ]
    names = {variable["name"] for variable in spec["worker"]["environmentVariables"]}
    assert names == {"HF_HOME"}


def test_colocated_endpoint_may_have_a_router(made: Made) -> None:
    """In front of several workers."""
    routed = COLOCATED.replace("}}]", "}, routing: {strategy: session}}]")
    assert changes(made(COLOCATED), made(routed)) == {
        "spec.intelligentRoutingSpec.enabled": True,
        "spec.intelligentRoutingSpec.routingStrategy": "session",
    }


def test_overrides_win(made: Made) -> None:
    """Over what our own settings made, field by field."""
    given = "endpoints.chat.overrides={kvCacheSpec: {enableL2Cache: true}, replicas: 1}"
    assert changes(made(), made(given)) == {
        "spec.kvCacheSpec.enableL2Cache": True,
        "spec.replicas": 1,
    }


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ("{kvCacheSpek: {enableL2Cache: true}}", "kvCacheSpek"),
        ("{pdSpec: {routingThreshold: many}}", "pdSpec.routingThreshold"),
    ],
    ids=["unknown-field", "wrong-type"],
)
def test_wrong_overrides_are_refused_by_name(made: Made, overrides: str, path: str) -> None:
    """The API server would drop the one and refuse the other, after the nodes are paid for."""
    with pytest.raises(UserError, match=r"endpoints\.chat\.overrides\." + path):
        made(f"endpoints.chat.overrides={overrides}")
