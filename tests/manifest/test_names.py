"""Spelling of attributes, and which fields are where."""

from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from dpd.manifest.endpoint_config import InferenceEndpointConfig
from dpd.manifest.names import IRREGULAR_NAMES, fields_at


@pytest.mark.parametrize(("attribute", "name"), IRREGULAR_NAMES.items())
def test_an_irregular_name_is_irregular_and_in_the_crd(
    attribute: str, name: str, crd_schemas: dict[str, Any]
) -> None:
    """The table holds what the rule gets wrong, and nothing else."""
    assert to_camel(attribute) != name
    pending, fields = [crd_schemas["v1"]], set()
    while pending:
        schema = pending.pop()
        fields |= schema.get("properties", {}).keys()
        pending += schema.get("properties", {}).values()
        pending += [schema["items"]] if "items" in schema else []
    assert name in fields


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ((), "spec"),
        (("spec", "pdSpec"), "decodingSpec"),
        (("spec", "worker", "environmentVariables", 3), "valueFrom"),
    ],
)
def test_fields_at_a_path(path: tuple[str | int, ...], field: str) -> None:
    """Paths lead through objects and lists."""
    assert field in fields_at(InferenceEndpointConfig, path)


@pytest.mark.parametrize(
    "path",
    [
        ("spec", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
        ("spec", "worker", "resources", "limits"),
        ("spec", "novelty"),
    ],
)
def test_no_fields_outside_the_models(path: tuple[str, ...]) -> None:
    """Untyped mappings and unknown fields have no known fields."""
    assert fields_at(InferenceEndpointConfig, path) == {}
