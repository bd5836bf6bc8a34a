"""YAML text with the line of every value.

Read from parser events, so that depth is bounded and nothing is expanded: aliases, tags and
duplicate keys are refused, and only `true` and `false` are booleans.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dpd.errors import UserError

KeyPath = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""

_MAX_BYTES = 1_000_000
_MAX_DEPTH = 40
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("float", "int", "null", "str")}


@dataclass(frozen=True)
class Source:
    """Data of one document and where each value of it was written."""

    name: str
    data: Any
    places: Mapping[KeyPath, str] = field(default_factory=dict)

    def place(self, path: KeyPath) -> str:
        """Return `file:line` of the value, or of the nearest thing around it."""
        for length in range(len(path), -1, -1):
            if place := self.places.get(path[:length]):
                return place
        return self.name


def read_source(path: Path, *, name: str | None = None) -> Source:
    """Read a file of one YAML document; `UserError` names the line of what cannot be read."""
    name = name or str(path)
    documents = parse_documents(read_bytes(path, name=name), name=name)
    if len(documents) != 1:
        raise UserError(f"{name}: holds {len(documents)} YAML documents; allowed: one")
    return documents[0]


def read_bytes(path: Path, *, name: str) -> bytes:
    """Return the content of a file; `UserError` where it cannot be read or is too large."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
    if len(raw) > _MAX_BYTES:
        raise UserError(f"{name}: larger than {_MAX_BYTES} bytes; is it the right file?")
    return raw


def parse_documents(raw: bytes, *, name: str) -> list[Source]:
    """Parse YAML or JSON documents; `UserError` names the line of what cannot be parsed."""
    try:
        return list(_Reader(name, raw.decode("utf-8")).documents())
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{name}:{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{name}: not YAML: {' '.join(str(error).split())}") from None


class _Reader:
    """Builds plain values from parser events."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self._scalars = yaml.SafeLoader("")
        self._places: dict[KeyPath, str] = {}

    def documents(self) -> Iterator[Source]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._places = {}
                data = self._value(next(self._events), ())
                yield Source(name=self._name, data=data, places=self._places)

    def _value(self, event: Any, path: KeyPath) -> Any:
        place = self._place(event)
        self._places.setdefault(path, place)
        if len(path) > _MAX_DEPTH:
            raise UserError(f"{place}: nested too deep; allowed: {_MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            raise UserError(f"{place}: alias '*{event.anchor}' is not allowed; write the value out")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event, place)

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            place = self._place(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise UserError(f"{place}: a key must be a plain word")
            key = event.value
            if key in result:
                raise UserError(f"{place}: key {key!r} is there twice; remove one")
            self._places[(*path, key)] = place
            result[key] = self._value(next(self._events), (*path, key))
        return result

    def _sequence(self, path: KeyPath) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            result.append(self._value(event, (*path, len(result))))
        return result

    def _scalar(self, event: yaml.ScalarEvent, place: str) -> Any:
        tag = event.tag or self._scalars.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == "tag:yaml.org,2002:bool":
            return {"true": True, "false": False}.get(event.value, event.value)
        if tag == "tag:yaml.org,2002:timestamp":
            return event.value
        if tag not in _PLAIN_TAGS:
            raise UserError(f"{place}: {event.value!r} has the tag {tag}; write a plain value")
        try:
            return self._scalars.construct_object(yaml.ScalarNode(tag, event.value))
        except ValueError as error:
            raise UserError(f"{place}: {event.value!r} is not a value: {error}") from None

    def _place(self, event: Any) -> str:
        return f"{self._name}:{event.start_mark.line + 1}"
