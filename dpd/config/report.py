"""Turns pydantic's findings into lines that say where, what was given and what is allowed."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dpd.config.source import KeyPath, Source
from dpd.errors import UserError, suggestion

_Model = TypeVar("_Model", bound=BaseModel)


def validate(model: type[_Model], source: Source) -> _Model:
    """Return `source` as a model, or raise a `UserError` with one line per mistake."""
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        lines = [line(source, *_finding(model, source, details)) for details in error.errors()]
        raise UserError(*dict.fromkeys(lines)) from None


def line(source: Source, path: KeyPath, message: str) -> str:
    """Return `file:line: path: message`."""
    return f"{source.place(path)}: {readable(path, source.data)}: {message}"


def readable(path: KeyPath, data: Any) -> str:
    """Return a path with list items under their names: `endpoints.chat.prefill.replicas`."""
    words = []
    for key in path:
        data = _item(data, key)
        named = isinstance(key, int) and isinstance(data, Mapping) and "name" in data
        words.append(str(data["name"]) if named else str(key))
    return ".".join(words) or "file"


def _finding(model: type[BaseModel], source: Source, details: ErrorDetails) -> tuple[KeyPath, str]:
    path = _path(details["loc"], source.data)
    given = details["input"]
    match details["type"]:
        case "extra_forbidden":
            return path, f"unknown key; {suggestion(str(path[-1]), _allowed_keys(model, path, source.data))}"
        case "missing":
            return path, "required, but not given"
        case "union_tag_not_found":
            return (*path, "topology"), "required, but not given; allowed: disaggregated, colocated"
        case "union_tag_invalid":
            allowed = details["ctx"]["expected_tags"].replace("'", "")
            return (*path, "topology"), f"given {details['ctx']['tag']!r}; allowed: {allowed}"
        case "literal_error":
            return path, f"given {given!r}; allowed: {details['ctx']['expected']}"
        case "value_error":
            return path, f"given {given!r}; allowed: {details['ctx']['error']}"
        case "string_pattern_mismatch":
            return path, f"given {given!r}; allowed: text that matches {details['ctx']['pattern']}"
        case "string_type":
            return path, f"given {given!r}; allowed: text; put it in quotes"
    shown = "" if isinstance(given, Mapping | list) else f"given {given!r}; "
    return path, f"{shown}{details['msg'][0].lower()}{details['msg'][1:]}"


def _path(location: tuple[str | int, ...], data: Any) -> KeyPath:
    """Return the location without the union tags that pydantic puts into it."""
    path: list[str | int] = []
    for position, key in enumerate(location):
        is_last = position == len(location) - 1
        if isinstance(data, Mapping) and key not in data and not is_last:
            continue
        path.append(key)
        data = _item(data, key)
    return tuple(path)


def _item(data: Any, key: str | int) -> Any:
    if isinstance(data, Mapping):
        return data.get(key)
    if isinstance(data, list) and isinstance(key, int) and key < len(data):
        return data[key]
    return None


def _allowed_keys(model: type[BaseModel], path: KeyPath, data: Any) -> list[str]:
    """Return the keys that may stand where the last one of `path` does."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})

    def resolve(node: dict[str, Any], value: Any) -> dict[str, Any]:
        if "discriminator" in node and isinstance(value, Mapping):
            tag = value.get(node["discriminator"]["propertyName"])
            node = {"$ref": node["discriminator"]["mapping"][tag]}
        for option in node.get("anyOf", []):
            if option.get("type") != "null":
                node = option
        while "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[1]]
        return node

    node = resolve(schema, data)
    for key in path[:-1]:
        data = _item(data, key)
        node = node["items"] if isinstance(key, int) else node.get("properties", {}).get(key, {})
        node = resolve(node, data)
    return list(node.get("properties", {}))
