"""JSON Schema of environment files, for editors: `python -m dpd.config.schema`."""

import ast
import inspect
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaSerializer, core_schema

from dpd.catalog import (
    addons,
    ec2_instance_types,
    health_monitoring_agent_accounts,
    instance_types,
    model_architectures,
    worker_images,
)
from dpd.config.base import Config
from dpd.config.environment import EnvironmentFile
from dpd.config.loader import ENVIRONMENTS

SCHEMA_FILE = ENVIRONMENTS / "environment.schema.json"


class _EditorSchema(GenerateJsonSchema):
    """Without titles that repeat a key, with defaults as a person writes them: `8GiB`."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        rendered = super().model_schema(schema)
        properties = rendered.get("properties", {})
        for attribute, text in _docstrings(schema["cls"]).items():
            properties[to_camel(attribute)]["description"] = text
        return rendered

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        rendered = super().default_schema(schema)
        if rendered.get("type") == "string" and isinstance(rendered.get("default"), int | float):
            serializer = SchemaSerializer(schema["schema"])
            rendered["default"] = serializer.to_python(schema["default"], mode="json")
        return rendered

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        rendered = super().dict_schema(schema)
        if "patternProperties" in rendered:
            rendered["additionalProperties"] = False
        return rendered


def schema() -> dict[str, Any]:
    """Return the schema; the description of a field is the docstring under it."""
    rendered = EnvironmentFile.model_json_schema(by_alias=True, schema_generator=_EditorSchema)
    properties, parts = rendered["properties"], rendered["$defs"]
    properties["region"] |= _one_of(health_monitoring_agent_accounts())
    parts["InstanceGroup"]["properties"]["instanceType"] |= _one_of(instance_types())
    parts["Model"]["properties"]["architecture"] |= _one_of(model_architectures())
    parts["Cluster"]["properties"]["addonVersions"]["propertyNames"] = _one_of(addons())
    parts["NodeGroup"]["properties"]["instanceType"] |= _one_of(ec2_instance_types())
    for name, part in parts.items():
        if name.endswith("Endpoint"):
            part["properties"]["image"]["examples"] = sorted(worker_images())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **rendered,
        "title": "hyperpod-dpd environment",
    }


def _docstrings(model: type) -> dict[str, str]:
    """Return the docstring under each field of a class and of those that it extends."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if not (issubclass(each, Config) and each is not Config):
            continue
        (definition,) = ast.parse(dedent(inspect.getsource(each))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in pairwise(definition.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(text))):
                    found[name] = inspect.cleandoc(text)
    return found


def _one_of(names: Iterable[str]) -> Mapping[str, list[str]]:
    return {"enum": sorted(names)}


def rendered() -> str:
    """Return the schema as it stands in the file."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(rendered(), encoding="utf-8")
