"""What may stand at a place in an environment file, read from the model's JSON Schema."""

from functools import cache
from typing import Any

from pydantic import BaseModel

from dpd.config.source import KeyPath, child


def keys_at(model: type[BaseModel], path: KeyPath, data: Any) -> list[str]:
    """Return the keys that the mapping at `path` may have."""
    return list(_node(model, path, data).get("properties", {}))


def kinds_at(model: type[BaseModel], path: KeyPath, data: Any) -> tuple[str, list[str]]:
    """Return the key that tells the kinds of mapping at `path` apart, and its values."""
    schema = _schema(model)
    node = _under(_node(model, path[:-1], data), path[-1]) if path else schema
    union = _resolved(schema, node, None).get("discriminator", {})
    return union.get("propertyName", ""), list(union.get("mapping", {}))


def is_text_at(model: type[BaseModel], path: KeyPath, data: Any) -> bool:
    """Return whether the value at `path` is text."""
    return _node(model, path, data).get("type") == "string"


def _node(model: type[BaseModel], path: KeyPath, data: Any) -> dict[str, Any]:
    """Return the schema of the value at `path`; empty where the model does not know the place."""
    schema = _schema(model)
    node = _resolved(schema, schema, data)
    for key in path:
        data = child(data, key)
        node = _resolved(schema, _under(node, key), data)
    return node


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _under(node: dict[str, Any], key: str | int) -> dict[str, Any]:
    if isinstance(key, int):
        under = node.get("items", {})
    else:
        others = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        under = node.get("properties", {}).get(key, others[0])
    return under if isinstance(under, dict) else {}


def _resolved(schema: dict[str, Any], node: dict[str, Any], data: Any) -> dict[str, Any]:
    """Return `node` without references, without `null`, and of the kind that `data` is."""
    options = [option for option in node.get("anyOf", []) if option.get("type") != "null"]
    node = options[0] if len(options) == 1 else node
    if union := node.get("discriminator"):
        kind = child(data, union["propertyName"])
        known = isinstance(kind, str) and kind in union["mapping"]
        node = {"$ref": union["mapping"][kind]} if known else node
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node
