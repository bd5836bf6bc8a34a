"""What may stand at a place in an environment file, read from the model's JSON Schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from dpd.config.source import KeyPath, child

_Node = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of a mapping that has several: `runtime: operator`."""

    path: KeyPath
    """Of the key that says so."""
    value: str

    def __str__(self) -> str:
        return f"{self.path[-1]}: {self.value}"


def keys_at(model: type[BaseModel], path: KeyPath, data: Any) -> list[str]:
    """Return the keys that the mapping at `path` may have."""
    return list(_node_at(model, path, data).get("properties", {}))


def kinds_at(model: type[BaseModel], path: KeyPath, data: Any) -> tuple[str, list[str]]:
    """Return the key that should tell the mapping at `path` its kind but does not, and the kinds.

    Empty where there is one kind only, or the data says which it is.
    """
    node, below = _above(model, path, data)
    for union, given in _unions(_schema(model), node, below):
        if given is None:
            return union["propertyName"], list(union["mapping"])
    return "", []


def kind_with(model: type[BaseModel], path: KeyPath, data: Any) -> tuple[Kind, Kind] | None:
    """Return the kind that keeps a key from being known, and the kind that knows it.

    The nearest mapping around the key that has several kinds decides; None where none knows it.
    """
    schema = _schema(model)
    for length in range(len(path) - 1, -1, -1):
        node, below = _above(model, path[:length], data)
        for union, given in reversed(list(_unions(schema, node, below))):
            for value in union["mapping"] if given else ():
                known = _walk(schema, _choice(union, value), path[length:-1], below)
                if value != given and path[-1] in known.get("properties", {}):
                    key = (*path[:length], union["propertyName"])
                    return Kind(key, str(given)), Kind(key, value)
    return None


def is_text_at(model: type[BaseModel], path: KeyPath, data: Any) -> bool:
    """Return whether the value at `path` is text."""
    return bool(_node_at(model, path, data).get("type") == "string")


def value_path(model: type[BaseModel], location: tuple[str | int, ...]) -> KeyPath:
    """Return pydantic's location of a value without the kinds and marks that it puts in."""
    schema = _schema(model)
    node, path = schema, KeyPath()
    for key in location:
        node = _plain(schema, node)
        union = node.get("discriminator")
        if union and key in union["mapping"]:
            node = _choice(union, str(key))
        elif key != "[key]":
            path, node = (*path, key), _under(node, key)
    return path


def _node_at(model: type[BaseModel], path: KeyPath, data: Any) -> _Node:
    """Return the schema of the value at `path`; empty where the model does not know the place."""
    schema = _schema(model)
    return _walk(schema, schema, path, data)


def _above(model: type[BaseModel], path: KeyPath, data: Any) -> tuple[_Node, Any]:
    """Return schema and data at `path`, before the data has decided on a kind."""
    schema = _schema(model)
    if not path:
        return schema, data
    node = _under(_walk(schema, schema, path[:-1], data), path[-1])
    for key in path:
        data = child(data, key)
    return node, data


def _walk(schema: _Node, node: _Node, path: KeyPath, data: Any) -> _Node:
    node = _resolved(schema, node, data)
    for key in path:
        data = child(data, key)
        node = _resolved(schema, _under(node, key), data)
    return node


@cache
def _schema(model: type[BaseModel]) -> _Node:
    return model.model_json_schema()


def _under(node: _Node, key: str | int) -> _Node:
    if isinstance(key, int):
        under = node.get("items", {})
    else:
        others = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        under = node.get("properties", {}).get(key, others[0])
    return under if isinstance(under, dict) else {}


def _resolved(schema: _Node, node: _Node, data: Any) -> _Node:
    """Return `node` without references, without `null`, and of the kind that `data` is."""
    last = _plain(schema, node)
    for union, given in _unions(schema, node, data):
        if given is not None:
            last = _plain(schema, _choice(union, given))
    return last


def _unions(schema: _Node, node: _Node, data: Any) -> Iterator[tuple[_Node, str | None]]:
    """Yield the kinds of `node`, outermost first, each with the one that `data` is.

    With the first that the data does not decide, which is yielded with None, they end.
    """
    node = _plain(schema, node)
    while union := node.get("discriminator"):
        given = child(data, union["propertyName"])
        if given is None:
            given = _default(schema, union)
        if not isinstance(given, str) or given not in union["mapping"]:
            yield union, None
            return
        yield union, given
        node = _plain(schema, _choice(union, given))


def _default(schema: _Node, union: _Node) -> str | None:
    """Return the kind that what names none is."""
    for value in union["mapping"]:
        properties = _plain(schema, _choice(union, value)).get("properties", {})
        if "default" in properties.get(union["propertyName"], {}):
            return str(value)
    return None


def _choice(union: _Node, value: str) -> _Node:
    choice = union["mapping"][value]
    return {"$ref": choice} if isinstance(choice, str) else dict(choice)


def _plain(schema: _Node, node: _Node) -> _Node:
    """Return `node` without references and without `null`."""
    options = [option for option in node.get("anyOf", []) if option.get("type") != "null"]
    node = options[0] if len(options) == 1 else node
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node
