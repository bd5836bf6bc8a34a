"""Changes single values in the text of a YAML file; every other character stays.

Places come from the parser's marks and are taken anew after each change. Aliases, tags and merge
keys do not occur: environment files with them are refused.
"""

import json
import re
from typing import Any

import yaml

from dpd.config.source import KeyPath

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")


class YamlText:
    """A document and its changes."""

    def __init__(self, text: str) -> None:
        """Take the text of a file of one document, with its own line ends."""
        self.text = text
        self._line_end = "\r\n" if "\r\n" in text else "\n"

    def has(self, path: KeyPath) -> bool:
        """Return whether something stands at `path`."""
        return self._find(path) is not None

    def set(self, path: KeyPath, value: str | int | float) -> None:
        """Write a scalar at `path`; mappings on the way to it are made where they are missing."""
        node = self._find(path)
        if node is not None:
            self._replace(node.start_mark.index, _end(node), _scalar(value, node.style))
            return
        above = self._find(path[:-1])
        if above is None:
            self.insert(path[:-1], {str(path[-1]): value})
        else:
            self.insert(path, value)

    def insert(self, path: KeyPath, value: Any, *, after: str | None = None) -> None:
        """Add a key to a mapping, behind its last one or behind the key `after`."""
        mapping = self._find(path[:-1])
        assert isinstance(mapping, yaml.MappingNode)
        keys = [key.value for key, _ in mapping.value]
        style = mapping.value[0][0].style if mapping.value else None
        entry = f"{_scalar(str(path[-1]), style)}: {_flow(value, style)}"
        if not mapping.value:
            self._replace(mapping.start_mark.index + 1, mapping.end_mark.index - 1, entry)
            return
        _, last = mapping.value[keys.index(after) if after else -1]
        if mapping.flow_style:
            self._replace(_end(last), _end(last), f", {entry}")
        else:
            self._new_line(_end(last), mapping.value[0][0].start_mark.column, entry)

    def append(self, path: KeyPath, words: list[str]) -> None:
        """Add texts to a list, in its own style."""
        for word in words:
            node = self._find(path)
            assert isinstance(node, yaml.SequenceNode)
            last = node.value[-1] if node.value else None
            item = _scalar(word, (last.style if last else None) or '"')
            if last is None:
                self._replace(node.start_mark.index + 1, node.end_mark.index - 1, item)
            elif node.flow_style:
                self._replace(_end(last), _end(last), f", {item}")
            else:
                self._new_line(_end(last), node.start_mark.column, f"- {item}")

    def rename(self, path: KeyPath, key: str, value: Any) -> None:
        """Put another key and value in the place of an entry of a mapping."""
        old, node = self._entry(path)
        text = f"{_scalar(key, old.style)}: {_flow(value, old.style)}"
        self._replace(old.start_mark.index, _end(node), text)

    def remove(self, path: KeyPath) -> None:
        """Take an entry out of a mapping that has others; comments on other lines stay."""
        mapping = self._find(path[:-1])
        assert isinstance(mapping, yaml.MappingNode)
        place = [key.value for key, _ in mapping.value].index(path[-1])
        key, node = mapping.value[place]
        start, end = key.start_mark.index, _end(node)
        line = self.text.rfind("\n", 0, start) + 1
        if not mapping.flow_style and not self.text[line:start].strip():
            self._replace(line, self._next_line(end), "")
        elif place + 1 < len(mapping.value):
            self._replace(start, mapping.value[place + 1][0].start_mark.index, "")
        else:
            self._replace(_end(mapping.value[place - 1][1]) if place else start, end, "")

    def _find(self, path: KeyPath) -> Any:
        node: Any = yaml.compose(self.text, Loader=yaml.SafeLoader)
        for key in path:
            if isinstance(node, yaml.MappingNode):
                node = next((value for name, value in node.value if name.value == key), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                node = node.value[key] if key < len(node.value) else None
            else:
                return None
        return node

    def _entry(self, path: KeyPath) -> tuple[Any, Any]:
        mapping = self._find(path[:-1])
        assert isinstance(mapping, yaml.MappingNode)
        return next((key, value) for key, value in mapping.value if key.value == path[-1])

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def _new_line(self, end: int, column: int, text: str) -> None:
        """Write a line behind the one in which something ends, and its comment."""
        place = self._next_line(end)
        line = " " * column + text
        if place == len(self.text) and not self.text.endswith("\n"):
            self._replace(place, place, self._line_end + line)
        else:
            self._replace(place, place, line + self._line_end)

    def _next_line(self, place: int) -> int:
        if self.text[place - 1 : place] == "\n":  # a block of text ends with its line
            return place
        found = self.text.find("\n", place)
        return len(self.text) if found < 0 else found + 1


def _end(node: yaml.Node) -> int:
    """Return where a value ends, without the comments and empty lines behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _scalar(value: str | int | float, style: str | None) -> str:
    """Return a scalar in the style of the one that it replaces or stands beside."""
    if not isinstance(value, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    if style == '"' or not (_PLAIN.fullmatch(value) or value.startswith("-")):
        return json.dumps(value)
    return value


def _flow(value: Any, style: str | None) -> str:
    """Return a value on one line; quoted where the keys around it are."""
    if isinstance(value, dict):
        entries = (f"{_scalar(key, style)}: {_flow(item, style)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(item, '"') for item in value) + "]"
    return _scalar(value, style)
