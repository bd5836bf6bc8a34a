"""Snapshots that a person can read: one file each, nothing in them that changes by itself."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.synthesized import Template, text

_WIDTH = 100
_BOOTSTRAP = {"BootstrapVersion", "CheckBootstrapVersion"}
_INTRINSICS = {"Ref", "Fn::GetAtt", "Fn::ImportValue", "Fn::Join", "Fn::Sub"}


class YamlFile(SingleFileSnapshotExtension):
    """Manifests."""

    _write_mode = WriteMode.TEXT
    file_extension = "yaml"


class JsonFile(SingleFileSnapshotExtension):
    """Templates."""

    _write_mode = WriteMode.TEXT
    file_extension = "json"


def masked(value: str) -> str:
    """A text with every hash of content in it left out."""
    return re.sub(r"\b([0-9a-f]{64}|[0-9a-f]{16})\b", "<hash>", value)


def readable(template: Template) -> str:
    """A template for a reader: what the CDK adds to every stack left out, the rest as short.

    References are written as `<Thing.Attribute>`, JSON inside JSON is opened, and of a program
    the first line is shown.
    """
    sections = {
        section: {key: item for key, item in content.items() if key not in _BOOTSTRAP}
        for section, content in template.data.items()
        if isinstance(content, Mapping)
    }
    plain = {section: _plain(content) for section, content in sections.items() if content}
    return "\n".join(_lines(plain)) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if len(value) == 1 and value.keys() <= _INTRINSICS:
            return _plain(text(value))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith(("{", "[")):
        try:
            return _plain(json.loads(value))
        except ValueError:
            pass
    first, *more = value.splitlines() or [""]
    return masked(f"{first} ... and {len(more)} lines more" if more else value)


def _lines(value: Any, indent: str = "", key: str = "") -> Iterator[str]:
    """JSON in which whatever fits on a line is on one."""
    whole = f"{indent}{key}{json.dumps(value, ensure_ascii=False)}"
    if len(whole) <= _WIDTH or not isinstance(value, dict | list) or not value:
        yield whole
        return
    start, end = "{}" if isinstance(value, dict) else "[]"
    yield f"{indent}{key}{start}"
    items = (
        [(f"{json.dumps(name)}: ", item) for name, item in value.items()]
        if isinstance(value, dict)
        else [("", item) for item in value]
    )
    for position, (name, item) in enumerate(items, start=1):
        *before, last = _lines(item, f"{indent}  ", name)
        yield from before
        yield f"{last}," if position < len(items) else last
    yield f"{indent}{end}"
