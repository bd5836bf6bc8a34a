"""What is wrong in a manifest is refused, and the error says where."""

from typing import Any

import pytest
from pydantic import ValidationError

from dpd.manifest.endpoint_config import InferenceEndpointConfig


def document() -> dict[str, Any]:
    return {
        "apiVersion": "inference.sagemaker.aws.amazon.com/v1",
        "kind": "InferenceEndpointConfig",
        "metadata": {"name": "chat"},
        "spec": {
            "modelName": "llama",
            "modelSourceConfig": {"modelSourceType": "s3"},
            "pdSpec": {"prefillSpec": {}, "decodingSpec": {}},
            "worker": {
                "image": "vllm",
                "modelInvocationPort": {"containerPort": 8000},
                "modelVolumeMount": {"name": "model-weights"},
                "resources": {"limits": {"nvidia.com/gpu": 8}},
                "environmentVariables": [{"name": "A", "value": "1"}],
            },
        },
    }


def refused(path: str, value: object) -> list[tuple[str, str]]:
    """Set one value in a right document; return path and message of each error."""
    data = document()
    *above, last = path.split(".")
    target: Any = data
    for key in above:
        target = target[int(key)] if key.isdigit() else target.setdefault(key, {})
    target[last] = value
    with pytest.raises(ValidationError) as caught:
        InferenceEndpointConfig.from_manifest(data)
    return [(".".join(map(str, e["loc"])), e["msg"]) for e in caught.value.errors()]


def test_the_document_is_right_before_it_is_spoiled() -> None:
    """Otherwise the tests below would prove nothing."""
    assert InferenceEndpointConfig.from_manifest(document()).to_manifest() == document()


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("metdata", "metadata"),
        ("spec.pdspec", "pdSpec"),
        ("spec.model_name", "modelName"),
        ("spec.initialReplicaCount", "InitialReplicaCount"),
        ("spec.pdSpec.routingTreshold", "routingThreshold"),
        ("spec.pdSpec.decodingSpec.replica", "replicas"),
        ("spec.pdSpec.topologySpec.sameAz", "sameAZ"),
        ("spec.pdSpec.autoScalingSpec.prefillAutoScaling.maxReplicas", "maxReplicaCount"),
        ("spec.worker.environmentVariables.0.vale", "value"),
    ],
)
def test_an_unknown_field_names_the_nearest_right_one(path: str, nearest: str) -> None:
    """At every depth, in lists, and for attribute names, which no document may use."""
    name = path.rsplit(".", 1)[-1]
    assert refused(path, 1) == [(path, f"Unknown field {name!r}; did you mean {nearest!r}?")]


def test_an_unknown_field_that_resembles_nothing_lists_what_there_is() -> None:
    """Without a near name the list helps."""
    [(path, message)] = refused("spec.loadBalancer.zzz", 1)
    assert path == "spec.loadBalancer.zzz"
    assert (
        message
        == "Unknown field 'zzz'; allowed: healthCheckPath, idleTimeoutSeconds, routingAlgorithm"
    )


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("apiVersion", "v2", "inference.sagemaker.aws.amazon.com/v1"),
        ("kind", "Pod", "InferenceEndpointConfig"),
        ("metadata.name", "Chat", "pattern"),
        ("metadata.namespace", "a.b", "pattern"),
        ("metadata.labels", [], "mapping"),
        ("spec.replicas", "1", "integer"),
        ("spec.replicas", True, "integer"),
        ("spec.modelName", None, "string"),
        ("spec.modelSourceConfig.modelSourceType", "efs", "'s3'"),
        ("spec.intelligentRoutingSpec.routingStrategy", "random", "'prefixaware'"),
        ("spec.pdSpec.routingThreshold", -1, "greater than or equal to 0"),
        ("spec.metrics.enabled", "yes", "boolean"),
        ("spec.worker.args", "--model", "list"),
        ("spec.worker.resources", "8", "mapping"),
        ("spec.worker.environmentVariables", {"A": "1"}, "list"),
        ("spec.worker.environmentVariables.0.value", 8, "string"),
        ("spec.worker.resources.limits.cpu", 0.5, "quote"),
        ("spec.worker.resources.limits.memory", "8gb", "quantity"),
        ("spec.nodeAffinity", [], "mapping"),
    ],
)
def test_a_wrong_value_is_refused_at_its_path(path: str, value: object, message: str) -> None:
    """One error, at the field, that says what is allowed."""
    [(found, text)] = refused(path, value)
    assert found == path
    assert message in text


@pytest.mark.parametrize(
    ("path", "value", "below"),
    [
        ("metadata.labels", {"a": True}, "a"),
        ("spec.worker.args", ["--port", 8000], "1"),
        ("spec.tags", [{"name": "a", "value": "b"}, {"name": "a"}], "1.value"),
        ("spec.worker.probes", {"livenessProbe": {"httpGet": {}}}, "livenessProbe.httpGet.port"),
        ("spec.dataCapture", {"modelPod": {}}, "modelPod.enabled"),
        ("spec.kubernetes", {"volumes": [{"name": "a"}, "b"]}, "volumes.1"),
    ],
)
def test_a_wrong_value_inside_is_refused_at_its_own_path(
    path: str, value: object, below: str
) -> None:
    """Keys and list positions are part of the path."""
    assert [found for found, _ in refused(path, value)] == [f"{path}.{below}"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.worker.environmentVariables", [{"name": "A"}, {"name": "B"}, {"name": "A"}]),
        ("spec.worker.resources.claims", [{"name": "A"}, {"name": "A", "request": "r"}]),
        (
            "spec.dataCapture.sagemakerEndpoint",
            {"enabled": True, "captureContentTypeHeader": {"csvContentTypes": ["A", "A"]}},
        ),
    ],
)
def test_what_must_differ_may_not_be_there_twice(path: str, value: object) -> None:
    """As the API server refuses it: names of variables and claims, and content types."""
    [(found, text)] = refused(path, value)
    assert found.startswith(path)
    assert text == "'A' is there twice; remove one"


def test_all_that_is_wrong_is_reported_at_once() -> None:
    """Three mistakes, three errors."""
    data = document()
    data["spec"]["replicas"] = "1"
    data["spec"]["novelty"] = 1
    del data["spec"]["worker"]["image"]
    with pytest.raises(ValidationError) as caught:
        InferenceEndpointConfig.from_manifest(data)
    assert {error["loc"][1:] for error in caught.value.errors()} == {
        ("replicas",),
        ("novelty",),
        ("worker", "image"),
    }


def test_null_means_not_there() -> None:
    """The API server drops null where a field is optional; so do we."""
    data = document()
    data["spec"]["loadBalancer"] = None
    assert InferenceEndpointConfig.from_manifest(data).to_manifest() == document()
