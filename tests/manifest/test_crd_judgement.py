"""The models and the CRD must reach the same verdict on the same data.

This asks the validators themselves, where test_crd_comparison.py asks what they say of themselves.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from dpd.manifest.base import ManifestModel
from dpd.manifest.endpoint_config import InferenceEndpointSpec
from dpd.manifest.names import fields_at

Schema = dict[str, Any]

MATCHING = {
    "acmArn": "arn:aws:acm:us-east-2:123456789012:certificate/0a1b-2c3d",
    "commitSHA": "0123456789abcdef0123456789abcdef01234567",
    "containerPort": 8000,
    "hostedZoneId": "Z0123456789",
    "instanceType": "ml.p5.48xlarge",
    "modelId": "org/model",
    "s3Uri": "s3://bucket/prefix",
    "serverAddress": "https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-1a2b",
}
"""Values for fields whose pattern or range none of PROBES fits."""
PROBES: tuple[Any, ...] = (
    *("", "a", "A", "z9", "/a", "a b", "é", "a_b", "-a", "a-", "a.b", "s3://b", "redis", "http"),
    *("500m", "8Gi", "1e3", "1.5.2", "8gi", "a" * 63, "a" * 64, "a" * 254, "a" * 513),
    *(-1, 0, 1, 4, 5, 9, 10, 15, 100, 101, 300, 301, 400, 599, 600, 1000, 1001, 1023, 1024),
    *(10240, 10241, 65535, 65536, 0.5, True, False),
    *([], [1], ["a"], ["a"] * 33, [{}], {}, {"a": 1}, {"a": "b"}, {"a": 0.5}, {"a": True}),
    *MATCHING.values(),
)
SMALLEST: Schema = {"array": [], "boolean": False, "integer": 1, "number": 1, "string": "a"}
OPAQUE = {"nodeAffinity", "initContainers", "volumes"}


def strict(schema: Schema) -> Schema:
    """Refuse unknown fields, which the API server drops; read int-or-string as it is meant."""
    schema = {key: value for key, value in schema.items() if key != "format"}
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            schema[keyword] = strict(schema[keyword])
    if "properties" in schema:
        schema["additionalProperties"] = False
        schema["properties"] = {k: strict(value) for k, value in schema["properties"].items()}
    return schema


def pairs(
    model: type[ManifestModel], schema: Schema
) -> Iterator[tuple[type[ManifestModel], Schema]]:
    """Each model below `model` with the part of the CRD that it stands for."""
    yield model, schema
    for name, inner in fields_at(model, ()).items():
        if inner is not None:
            assert issubclass(inner, ManifestModel)
            below = schema["properties"][name]
            yield from pairs(inner, below.get("items", below))


def smallest(schema: Schema, name: str = "") -> Any:
    """Return something valid with as little in it as possible."""
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        return {key: smallest(fields[key], key) for key in schema.get("required", [])}
    if "enum" in schema:
        return schema["enum"][0]
    return MATCHING.get(name, SMALLEST[schema.get("type", "integer")])


def accepted(model: type[ManifestModel], data: Mapping[str, Any]) -> bool:
    try:
        model.from_manifest(data)
    except ValidationError:
        return False
    return True


@pytest.fixture(scope="module")
def spec_schema(crd_schemas: dict[str, Schema]) -> Schema:
    schema: Schema = crd_schemas["v1"]["properties"]["spec"]
    return schema


def test_verdicts_agree(spec_schema: Schema) -> None:
    """Every field of every model takes and refuses what the CRD does."""
    disagreements, verdicts = [], {True: 0, False: 0}
    for model, schema in pairs(InferenceEndpointSpec, spec_schema):
        validator = jsonschema.Draft202012Validator(strict(schema))
        base = smallest(schema)
        assert validator.is_valid(base), (model, base)
        for name in schema["properties"].keys() - OPAQUE | {"unknownField"}:
            for probe in PROBES:
                data = {**base, name: probe}
                verdict = validator.is_valid(data)
                verdicts[verdict] += 1
                if accepted(model, data) != verdict:
                    disagreements.append(f"{model.__name__}.{name}={probe!r}: CRD says {verdict}")
    assert disagreements == []
    assert min(verdicts.values()) > 1000


def test_a_missing_required_field_is_refused_by_both(spec_schema: Schema) -> None:
    """Every required field is missed, at every place."""
    for model, schema in pairs(InferenceEndpointSpec, spec_schema):
        base = smallest(schema)
        assert accepted(model, base)
        for name in schema.get("required", []):
            assert not accepted(model, {k: v for k, v in base.items() if k != name})


def test_every_field_has_a_value_that_is_accepted(spec_schema: Schema) -> None:
    """Otherwise agreement would mean little: each typed field is accepted with some value."""
    for model, schema in pairs(InferenceEndpointSpec, spec_schema):
        base = smallest(schema)
        for name, field in schema["properties"].items():
            if name in OPAQUE:
                continue
            values = [*PROBES, smallest(field, name), [smallest(field.get("items", {}), name)]]
            assert any(accepted(model, {**base, name: value}) for value in values), (model, name)


@pytest.mark.parametrize(
    ("replicas", "fits"), [(2**31 - 1, True), (2**31, False), (-(2**31) - 1, False)]
)
def test_numbers_beyond_their_format_are_refused(
    replicas: int, fits: bool, spec_schema: Schema
) -> None:
    """What the operator could not read into its own integer is an error here."""
    data = {**smallest(spec_schema), "replicas": replicas}
    assert accepted(InferenceEndpointSpec, data) is fits
