"""Context parameters: `-c prefillReplicas=3`, `-c set=cluster.kubernetesVersion=1.34`."""

import re
from collections.abc import Mapping
from typing import Any

from dpd.config.environment import EnvironmentFile
from dpd.config.shape import is_text_at
from dpd.config.source import KeyPath, Source, child, parse_value
from dpd.errors import UserError, shortened, shown, suggestion

SHORTCUTS: Mapping[str, KeyPath] = {
    "prefillReplicas": ("prefill", "replicas"),
    "decodeReplicas": ("decode", "replicas"),
    "routingThreshold": ("routing", "thresholdTokens"),
}
"""Context keys that change one field of an endpoint."""

KEYS = {"env", "environments", "endpoint", "set", *SHORTCUTS}

_CDK_KEYS = {"acknowledged-issue-numbers", "cdk-migrate", "cli-telemetry"}
"""What the cdk CLI itself keeps in the context under a plain name."""


def overridden(source: Source, context: Mapping[str, Any]) -> Source:
    """Return `source` with the values of `context` in it; `UserError` for a key that is not ours.

    Keys of the CDK itself hold a colon, a slash or an @, or are known, and are passed over.
    """
    ours = {key for key in context if not re.search(r"[:/@]", key) and key not in _CDK_KEYS}
    if unknown := sorted(ours - KEYS):
        lines = (f"-c {key}: unknown context key; {suggestion(key, KEYS)}" for key in unknown)
        raise UserError(*lines)
    endpoint = context.get("endpoint")
    if endpoint is not None:
        _position(source, endpoint, "endpoint")
    for key in sorted(ours & SHORTCUTS.keys()):
        path = ("endpoints", _position(source, endpoint, key), *SHORTCUTS[key])
        source = _replaced(source, path, context[key], place=_place(key, context[key]))
    for assignment in _assignments(context.get("set", "")):
        dotted, _, value = assignment.partition("=")
        source = _replaced(
            source, _resolved(source, dotted), value, place=_place("set", assignment)
        )
    return source


def _place(key: str, value: Any) -> str:
    return f"-c {key}={shortened(str(value))}"


def _assignments(text: Any) -> list[str]:
    """Split `a.b=1,c=2,3` into `a.b=1` and `c=2,3`."""
    found = re.split(r",(?=[A-Za-z][\w.-]*=)", str(text)) if text else []
    for assignment in found:
        if not re.match(r"[A-Za-z][\w.-]*=", assignment):
            place = _place("set", assignment)
            raise UserError(f"{place}: no assignment; give a dotted path and a value, as in a.b=1")
    return found


def _position(source: Source, wanted: str | None, key: str) -> int:
    """Return the position of the endpoint that a shortcut changes."""
    names = _names(child(source.data, "endpoints"))
    known = [name for name in names if name is not None]
    if not known:
        raise UserError(f"-c {key}: the environment has no endpoints; add one to {source.name}")
    if wanted is None and len(names) == 1:
        return 0
    if wanted is None:
        allowed = ", ".join(known)
        raise UserError(f"-c {key}: given no endpoint; add -c endpoint=NAME, one of: {allowed}")
    if wanted not in known:
        hint = suggestion(str(wanted), known)
        raise UserError(f"{_place('endpoint', wanted)}: no endpoint of this name; {hint}")
    return names.index(wanted)


def _names(data: Any) -> list[str | None]:
    """Return the name of every item of a list, None where an item has none."""
    names = [child(item, "name") for item in data] if isinstance(data, list) else []
    return [name if isinstance(name, str) else None for name in names]


def _resolved(source: Source, dotted: str) -> KeyPath:
    """Return the path behind a dotted one, in which list items go by name or position.

    Names and keys that hold dots themselves are found too: the longest that fits is taken.
    """
    data, path, words = source.data, list[str | int](), dotted.split(".")
    while words:
        lengths = range(len(words), 0, -1)
        candidates = [".".join(words[:length]) for length in lengths]
        if isinstance(data, list):
            positions = {str(position): position for position in range(len(data))}
            positions.update({name: at for at, name in enumerate(_names(data)) if name is not None})
            word = next((word for word in candidates if word in positions), None)
            if word is None:
                place, hint = _place("set", dotted), suggestion(words[0], positions)
                raise UserError(f"{place}: {shown(words[0])} is not in the list; {hint}")
            key: str | int = positions[word]
        else:
            known = data if isinstance(data, Mapping) else {}
            key = word = next((word for word in candidates if word in known), words[0])
        words = words[word.count(".") + 1 :]
        data = child(data, key)
        path.append(key)
    return tuple(path)


def _replaced(source: Source, path: KeyPath, given: Any, *, place: str) -> Source:
    data = _with(source.data, path, _value(given, source, path, place=place))
    kept = {at: old for at, old in source.places.items() if at[: len(path)] != path}
    made = [path[:end] for end in range(1, len(path)) if not _holds_values(source, path[:end])]
    places = {**kept, **dict.fromkeys([*made, path], place)}
    return Source(name=source.name, data=data, places=places)


def _value(given: Any, source: Source, path: KeyPath, *, place: str) -> Any:
    """Return a value as YAML, but a bare word as text where text belongs: no shell keeps quotes."""
    if not isinstance(given, str):
        return given
    is_word = re.fullmatch(r"[\w.:/+-]+", given) and given != "null"
    if is_word and is_text_at(EnvironmentFile, path, source.data):
        return given
    return parse_value(given, name=place)


def _holds_values(source: Source, path: KeyPath) -> bool:
    data = source.data
    for key in path:
        data = child(data, key)
    return isinstance(data, Mapping | list)


def _with(data: Any, path: KeyPath, value: Any) -> Any:
    if not path:
        return value
    key, *rest = path
    if isinstance(data, list):
        return [
            _with(item, tuple(rest), value) if at == key else item for at, item in enumerate(data)
        ]
    inside = data if isinstance(data, Mapping) else {}
    return {**inside, key: _with(inside.get(key), tuple(rest), value)}
