"""YAML text with the line of every value.

Read from parser events, so that depth is bounded and nothing is expanded. What YAML tools read in
different ways is refused: aliases, tags, merge keys, duplicate keys, all numbers but decimal ones;
and only `true` and `false` are booleans.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dpd.errors import UserError, shown

KeyPath = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""

_MAX_BYTES = 1_000_000
_MAX_DEPTH = 40
_MAX_NUMBER = 2**53  # The largest that every JSON reader keeps.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)")
_AMBIGUOUS = re.compile(
    r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|[0-9.]+[eE][-+]?[0-9]+|0[xob][0-9a-fA-F_]+"
    r"|[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?|\.(inf|Inf|INF|nan|NaN|NAN))"
)


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


def child(data: Any, key: str | int) -> Any:
    """Return what stands under a key or at a list position; None where nothing does."""
    if isinstance(data, Mapping):
        return data.get(key)
    if isinstance(data, list) and isinstance(key, int) and key < len(data):
        return data[key]
    return None


def read_source(path: Path, *, name: str | None = None) -> Source:
    """Read a file of one YAML document; `UserError` names the line of what cannot be read."""
    name = name or str(path)
    documents = parse_documents(read_bytes(path, name=name), name=name)
    if not documents:
        raise UserError(f"{name}:1: the file is empty; allowed: one YAML document")
    if len(documents) > 1:
        place = documents[1].place(())
        raise UserError(f"{place}: one of {len(documents)} YAML documents; allowed: one in a file")
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
    return _parsed(raw, name=name, numbered=True)


def parse_value(text: str, *, name: str) -> Any:
    """Parse one value that stands in no file, such as a context parameter; empty is None."""
    # Bytes of a command line that are no UTF-8 arrive as surrogates; decoding refuses them.
    documents = _parsed(text.encode("utf-8", "surrogatepass"), name=name, numbered=False)
    if len(documents) > 1:
        raise UserError(f"{name}: {len(documents)} YAML documents; allowed: one value")
    return documents[0].data if documents else None


def _parsed(raw: bytes, *, name: str, numbered: bool) -> list[Source]:
    reader = _Reader(name, numbered=numbered)
    try:
        return list(reader.documents(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        raise UserError(f"{reader.place(line)}: not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        hint = "; indent with spaces, not tabs" if b"\t" in _line(raw, line) else ""
        raise UserError(f"{reader.place(line)}: not YAML: {error.problem}{hint}") from None
    except yaml.reader.ReaderError as error:
        line = raw.count(b"\n", 0, error.position)
        raise UserError(f"{reader.place(line)}: not YAML: holds a control character") from None


def _line(raw: bytes, number: int) -> bytes:
    return b"".join(raw.splitlines()[number : number + 1])


class _Reader:
    """Builds plain values from parser events."""

    def __init__(self, name: str, *, numbered: bool) -> None:
        self._name = name
        self._numbered = numbered
        self._events: Iterator[Any] = iter(())
        self._places: dict[KeyPath, str] = {}

    def place(self, line: int) -> str:
        return f"{self._name}:{line + 1}" if self._numbered else self._name

    def documents(self, text: str) -> Iterator[Source]:
        self._events = yaml.parse(text, Loader=_LOADER)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._places = {}
                data = self._value(next(self._events), ())
                yield Source(name=self._name, data=data, places=self._places)

    def _value(self, event: Any, path: KeyPath) -> Any:
        place = self.place(event.start_mark.line)
        self._places.setdefault(path, place)
        if len(path) > _MAX_DEPTH:
            raise UserError(f"{place}: nested too deep; allowed: {_MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            raise UserError(f"{place}: alias '*{event.anchor}' is not allowed; write the value out")
        if event.tag is not None:
            raise UserError(f"{place}: tag {event.tag!r} is not allowed; write a plain value")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return _scalar(event.value, place) if event.implicit[0] else event.value

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            place = self.place(event.start_mark.line)
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                raise UserError(f"{place}: a key must be a plain word")
            key = event.value
            if key == "<<":
                raise UserError(f"{place}: merge key '<<' is not allowed; write the values out")
            if key in result:
                raise UserError(f"{place}: key {shown(key)} is there twice; remove one")
            self._places[(*path, key)] = place
            result[key] = self._value(next(self._events), (*path, key))
        return result

    def _sequence(self, path: KeyPath) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            result.append(self._value(event, (*path, len(result))))
        return result


def _scalar(text: str, place: str) -> Any:
    """Return what an unquoted word means."""
    if text in _WORDS:
        return _WORDS[text]
    number: float = math.nan
    if _INTEGER.fullmatch(text) and len(text) < 20:
        number = int(text)
    elif _FLOAT.fullmatch(text):
        number = float(text)
    elif not _AMBIGUOUS.fullmatch(text):
        return text
    if not abs(number) <= _MAX_NUMBER:
        raise UserError(
            f"{place}: given {shown(text)}; allowed: a decimal number up to {_MAX_NUMBER} "
            "without leading zeros or exponent, or text in quotes"
        )
    return number
