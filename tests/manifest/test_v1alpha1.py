"""Documents of the older version, and what the CRD says about how it differs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from dpd.manifest.endpoint_config import API_VERSION, InferenceEndpointConfig
from dpd.manifest.v1alpha1 import (
    API_VERSION_V1ALPHA1,
    MODEL_SOURCE_TYPES,
    ONLY_IN_V1,
    REQUIRED_IN_V1ALPHA1,
    upgrade_v1alpha1,
)

Schema = dict[str, Any]
DATA = Path(__file__).resolve().parents[2].parent / "shared/data/manifests"
MANIFESTS = [p for p in sorted(DATA.glob("*.yaml")) if API_VERSION_V1ALPHA1 in p.read_text()]
VARIABLES = {
    # The shell fills these in before kubectl sees them; the schema's patterns refuse a `$`.
    "$SAGEMAKER_ENDPOINT_NAME": "deepseek15b",
    "$ACCEL_INSTANCE_TYPE": "ml.g5.8xlarge",
}


def differences(old: Schema, new: Schema, path: str) -> Iterator[tuple[str, str, Any, Any]]:
    """Everything but descriptions that is not the same in both versions."""
    for keyword in (old.keys() | new.keys()) - {"description", "properties", "items"}:
        if old.get(keyword) != new.get(keyword):
            yield path, keyword, old.get(keyword), new.get(keyword)
    old_fields, new_fields = old.get("properties", {}), new.get("properties", {})
    for name in old_fields.keys() | new_fields.keys():
        if name in old_fields and name in new_fields:
            yield from differences(old_fields[name], new_fields[name], f"{path}.{name}")
        else:
            yield f"{path}.{name}", "only in", name in old_fields, name in new_fields
    if "items" in old and "items" in new:
        yield from differences(old["items"], new["items"], f"{path}[]")


def document(**spec: object) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION_V1ALPHA1,
        "kind": "InferenceEndpointConfig",
        "metadata": {"name": "chat"},
        "spec": {
            "modelName": "llama",
            "instanceType": "ml.p5.48xlarge",
            "modelSourceConfig": {"modelSourceType": "s3"},
            "worker": {
                "image": "vllm",
                "modelInvocationPort": {"containerPort": 8000},
                "modelVolumeMount": {"name": "model-weights"},
                "resources": {},
            },
            **spec,
        },
    }


def test_the_difference_between_the_versions_is_written_down(crd_schemas: Schema) -> None:
    """The CRD differs in what the module says and in nothing else."""
    old, new = (crd_schemas[name]["properties"]["spec"] for name in ("v1alpha1", "v1"))
    found = {(path, keyword): (a, b) for path, keyword, a, b in differences(old, new, "spec")}
    sources = old["properties"]["modelSourceConfig"]["properties"]["modelSourceType"]["enum"]
    assert {path for path, keyword in found if keyword == "only in"} == ONLY_IN_V1
    assert all(pair == (False, True) for (_, k), pair in found.items() if k == "only in")
    assert {key for key in found if key[1] != "only in"} == {
        ("spec", "required"),
        ("spec.modelSourceConfig.modelSourceType", "enum"),
    }
    assert set(sources) == MODEL_SOURCE_TYPES
    required = {f"spec.{name}" for name in set(old["required"]) - set(new["required"])}
    assert required == REQUIRED_IN_V1ALPHA1
    assert set(new["required"]) <= set(old["required"])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
@pytest.mark.skipif(not MANIFESTS, reason="no manifests beside the repository (../shared/data)")
def test_a_v1alpha1_manifest_is_read_as_v1(path: Path) -> None:
    """It comes back as it was but for its version."""
    text = path.read_text()
    for variable, value in VARIABLES.items():
        text = text.replace(variable, value)
    data = yaml.safe_load(text)
    upgraded = InferenceEndpointConfig.from_manifest(upgrade_v1alpha1(data))
    assert upgraded.to_manifest() == {**data, "apiVersion": API_VERSION}


def test_the_document_itself_is_left_alone() -> None:
    """The upgrade returns another document."""
    data = document()
    assert upgrade_v1alpha1(data)["apiVersion"] == API_VERSION
    assert data == document()


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        ({"pdSpec": {}}, "spec.pdSpec", "has no spec.pdSpec"),
        ({"worker": {"args": []}}, "spec.worker.args", "has no spec.worker.args"),
        ({"instanceType": None}, "spec.instanceType", "requires spec.instanceType"),
        (
            {"modelSourceConfig": {"modelSourceType": "huggingface"}},
            "spec.modelSourceConfig.modelSourceType",
            "knows only fsx and s3",
        ),
    ],
)
def test_what_only_v1_allows_is_refused(spec: dict[str, Any], path: str, message: str) -> None:
    """The API server would drop it silently, so the error says what to do."""
    with pytest.raises(ValidationError) as caught:
        upgrade_v1alpha1(document(**spec))
    [error] = caught.value.errors()
    assert ".".join(map(str, error["loc"])) == path
    assert message in error["msg"]
    assert f"set apiVersion to {API_VERSION}" in error["msg"]


def test_what_is_no_document_is_left_to_the_models() -> None:
    """Wrong shapes are reported by validation, not by a crash on the way."""
    shapes: tuple[object, ...] = (None, [], "text", {"modelSourceConfig": {"modelSourceType": []}})
    for spec in shapes:
        data = {**document(), "spec": spec}
        with pytest.raises(ValidationError):
            InferenceEndpointConfig.from_manifest(upgrade_v1alpha1(data))


def test_v1alpha1_is_not_taken_for_v1() -> None:
    """Without the upgrade the version is refused."""
    with pytest.raises(ValidationError, match="apiVersion"):
        InferenceEndpointConfig.from_manifest(document())
