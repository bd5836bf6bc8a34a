"""The models against the operator's CRD, keyword by keyword and in both directions."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpd.manifest.endpoint_config import API_VERSION, KIND, InferenceEndpointConfig
from dpd.manifest.v1alpha1 import API_VERSION_V1ALPHA1

Schema = dict[str, Any]
Difference = tuple[str, str]
"""Path and what differs there: a keyword, `missing`, `extra` or `opaque`."""

KEYWORDS = (
    "default",
    "enum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "required",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
)
NOT_COMPARED = {
    "additionalProperties": "descended into",
    "anyOf": "only ever spells out int-or-string",
    "description": "ours are our own words",
    "items": "descended into",
    "properties": "descended into",
    "title": "pydantic's, made from the name",
    "x-kubernetes-map-type": "says how to merge, not what is valid",
}
FORMAT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
"""What the format alone says, so that the CRD does not say it again."""
EXCEPTIONS: dict[Difference, str] = {
    ("", "required"): "an object without metadata and spec is of no use",
    ("apiVersion", "default"): "so that Python code need not repeat it",
    ("apiVersion", "enum"): "this is the model of one version",
    ("kind", "default"): "so that Python code need not repeat it",
    ("kind", "enum"): "this is the model of one kind",
    ("metadata", "required"): "the API server demands a name",
    ("metadata.annotations", "extra"): "metadata is Kubernetes' own, the CRD leaves it open",
    ("metadata.labels", "extra"): "metadata is Kubernetes' own, the CRD leaves it open",
    ("metadata.name", "extra"): "metadata is Kubernetes' own, the CRD leaves it open",
    ("metadata.namespace", "extra"): "metadata is Kubernetes' own, the CRD leaves it open",
    ("spec.kubernetes.initContainers[]", "opaque"): "see dpd.manifest.primitives.KubernetesObject",
    ("spec.kubernetes.volumes[]", "opaque"): "see dpd.manifest.primitives.KubernetesObject",
    ("spec.loadBalancer.idleTimeoutSeconds", "extra"): "newer than this CRD: operator v3.3",
    ("spec.nodeAffinity", "opaque"): "see dpd.manifest.primitives.KubernetesObject",
    ("status", "missing"): "the operator writes it, we do not",
}


@pytest.fixture
def crd_schema(crd_schemas: dict[str, Schema]) -> Schema:
    return copy.deepcopy(crd_schemas["v1"])


def model_schema() -> Schema:
    schema = InferenceEndpointConfig.model_json_schema()
    return resolved(schema, schema.get("$defs", {}))


def resolved(schema: Schema, definitions: Schema) -> Schema:
    """Write pydantic's JSON Schema the way Kubernetes writes schemas: no references, no null."""
    schema = dict(schema)
    if reference := schema.pop("$ref", None):
        schema = {**definitions[reference.removeprefix("#/$defs/")], **schema}
    members = [member for member in schema.get("anyOf", []) if member != {"type": "null"}]
    if len(members) == 1:
        del schema["anyOf"]
        return resolved({**members[0], **schema}, definitions)
    if schema.get("default", 0) is None:
        del schema["default"]
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    low, high = FORMAT_RANGES.get(schema.get("format", ""), (None, None))
    for keyword, bound in (("minimum", low), ("maximum", high)):
        if bound is not None and schema.get(keyword) == bound:
            del schema[keyword]
    if "properties" in schema:
        assert schema.pop("additionalProperties") is False, "a model that takes unknown fields"
        schema["properties"] = {
            name: resolved(value, definitions) for name, value in schema["properties"].items()
        }
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            schema[keyword] = resolved(schema[keyword], definitions)
    return schema


def differences(ours: Schema, theirs: Schema, path: str = "") -> Iterator[Difference]:
    """Compare two schemas all the way down."""
    if ours.get("additionalProperties") == {} and "properties" in theirs:
        yield path, "opaque"
        return
    for keyword in KEYWORDS:
        if normal(ours, keyword) != normal(theirs, keyword):
            yield path, keyword
    our_fields, their_fields = children(ours), children(theirs)
    for name in sorted(our_fields | their_fields):
        below = f"{path}{name}".removeprefix(".")
        if name not in our_fields:
            yield below, "missing"
        elif name not in their_fields:
            yield below, "extra"
        else:
            yield from differences(our_fields[name], their_fields[name], below)


def normal(schema: Schema, keyword: str) -> str | None:
    value = schema.get(keyword)
    if keyword in {"required", "enum"} and value is not None:
        value = sorted(value)
    if value == "atomic":  # says how to merge, not what is valid
        return None
    return None if value is None else json.dumps(value)


def children(schema: Schema) -> dict[str, Schema]:
    found = {f".{name}": value for name, value in schema.get("properties", {}).items()}
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(keyword), dict):
            found[mark] = schema[keyword]
    return found


def test_models_and_crd_say_the_same(crd_schema: Schema) -> None:
    """Every difference is known, with a reason."""
    assert set(differences(model_schema(), crd_schema)) - EXCEPTIONS.keys() == set()


def test_every_exception_is_needed(crd_schema: Schema) -> None:
    """An exception goes when its difference has gone."""
    assert EXCEPTIONS.keys() - set(differences(model_schema(), crd_schema)) == set()


def test_every_keyword_is_compared_or_set_aside(crd_schema: Schema) -> None:
    """A keyword that a later CRD or a model brings does not pass unseen."""
    for schema in (crd_schema, model_schema()):
        spec = schema["properties"]["spec"]
        used = {keyword for _, node in typed_nodes(spec) for keyword in node}
        assert used - set(KEYWORDS) - NOT_COMPARED.keys() == set()


def test_group_version_and_kind_are_those_of_the_crd(crd: Schema) -> None:
    """The constants match the definition."""
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    assert {f"{group}/{version['name']}" for version in crd["spec"]["versions"]} == {
        API_VERSION,
        API_VERSION_V1ALPHA1,
    }
    assert kind == KIND


def typed_nodes(spec: Schema) -> Iterator[tuple[str, Schema]]:
    """All nodes of a spec that the models type."""
    pending = [("spec", spec)]
    while pending:
        path, schema = pending.pop()
        if (path, "opaque") in EXCEPTIONS:
            continue
        yield path, schema
        pending += [(f"{path}{name}", child) for name, child in children(schema).items()]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "default": lambda value: "other" if isinstance(value, str) else not value,
    "enum": lambda value: value[1:],
    "format": lambda _: "date",
    "maxItems": lambda value: value + 1,
    "maxLength": lambda value: value + 1,
    "maximum": lambda value: value + 1,
    "minItems": lambda value: value + 1,
    "minimum": lambda value: value + 1,
    "pattern": lambda value: value + "?",
    "required": lambda value: value[1:],
    "type": lambda _: "null",
    "x-kubernetes-int-or-string": lambda _: False,
    "x-kubernetes-list-map-keys": lambda _: ["other"],
    "x-kubernetes-list-type": lambda value: value if value == "atomic" else "other",
}


@pytest.mark.parametrize("change", [True, False], ids=["changed", "removed"])
@pytest.mark.parametrize("keyword", CHANGES)
def test_a_change_of_any_keyword_anywhere_is_found(
    keyword: str, change: bool, crd_schema: Schema
) -> None:
    """The comparison can fail: each occurrence of each keyword is changed, and each is found."""
    changed = set()
    for path, schema in typed_nodes(crd_schema["properties"]["spec"]):
        if schema.get(keyword) in (None, "atomic"):
            continue
        changed.add((path, keyword))
        value = schema.pop(keyword)
        if change:
            schema[keyword] = CHANGES[keyword](value)
    assert changed, "the CRD does not use the keyword"
    assert set(differences(model_schema(), crd_schema)) - EXCEPTIONS.keys() == changed


def test_a_field_added_or_removed_on_either_side_is_found(crd_schema: Schema) -> None:
    """The comparison can fail: a field that only one side has is found."""
    models = model_schema()
    their_spec = crd_schema["properties"]["spec"]["properties"]
    our_spec = models["properties"]["spec"]["properties"]
    their_spec["pdSpec"]["properties"]["novelty"] = {"type": "string"}
    del their_spec["worker"]["properties"]["image"]
    our_spec["metrics"]["properties"]["novelty"] = {"type": "string"}
    del our_spec["tags"]["items"]["properties"]["name"]
    assert set(differences(models, crd_schema)) - EXCEPTIONS.keys() == {
        ("spec.pdSpec.novelty", "missing"),
        ("spec.worker.image", "extra"),
        ("spec.metrics.novelty", "extra"),
        ("spec.tags[].name", "missing"),
    }
