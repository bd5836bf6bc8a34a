"""Context parameters: `-c prefillReplicas=3`, `-c set=cluster.kubernetesVersion=1.35`."""

import re
from collections.abc import Mapping
from typing import Any

from dpd.config.source import KeyPath, Source, parse_documents
from dpd.errors import UserError, suggestion

SHORTCUTS: Mapping[str, KeyPath] = {
    "prefillReplicas": ("prefill", "replicas"),
    "decodeReplicas": ("decode", "replicas"),
    "routingThreshold": ("routing", "thresholdTokens"),
}
"""Context keys that change one field of an endpoint."""

KEYS = {"env", "endpoint", "set", *SHORTCUTS}


def overridden(source: Source, context: Mapping[str, Any]) -> Source:
    """Return `source` with the values of `context` in it; `UserError` for a key that is not ours.

    Keys of the CDK itself hold a colon, a slash or an @ and are passed over.
    """
    ours = {key: value for key, value in context.items() if not re.search(r"[:/@]", key)}
    for key in ours.keys() - KEYS:
        raise UserError(f"-c {key}: unknown context key; {suggestion(key, KEYS)}")
    for key in ours.keys() & SHORTCUTS.keys():
        endpoint = _endpoint(source, ours.get("endpoint"), key)
        path = ("endpoints", endpoint, *SHORTCUTS[key])
        source = _replaced(source, path, ours[key], place=f"-c {key}={ours[key]}")
    for assignment in _assignments(ours.get("set", "")):
        dotted, _, value = assignment.partition("=")
        source = _replaced(source, _resolved(source, dotted), value, place=f"-c set={assignment}")
    return source


def _assignments(text: str) -> list[str]:
    """Split `a.b=1,c=2,3` into `a.b=1` and `c=2,3`."""
    found = re.split(r",(?=[A-Za-z][\w.-]*=)", text) if text else []
    for assignment in found:
        if not re.match(r"[A-Za-z][\w.-]*=", assignment):
            raise UserError(f"-c set={assignment}: give a dotted path and a value, as in a.b=1")
    return found


def _endpoint(source: Source, wanted: str | None, key: str) -> int:
    """Return the position of the endpoint that a shortcut changes."""
    endpoints = _list(source.data, "endpoints")
    names = [item.get("name") for item in endpoints if isinstance(item, Mapping)]
    if wanted is None and len(names) == 1:
        return 0
    if wanted is None:
        raise UserError(f"-c {key}: {len(names)} endpoints; add -c endpoint=NAME, one of: {', '.join(map(str, names))}")
    if wanted not in names:
        raise UserError(f"-c endpoint={wanted}: no such endpoint; {suggestion(wanted, map(str, names))}")
    return names.index(wanted)


def _resolved(source: Source, dotted: str) -> KeyPath:
    """Return the path behind a dotted one, in which list items go by name or position."""
    data, path = source.data, []
    for word in dotted.split("."):
        key: str | int = word
        if isinstance(data, list):
            names = [item.get("name") if isinstance(item, Mapping) else None for item in data]
            if word not in names and not (word.isdigit() and int(word) < len(data)):
                raise UserError(f"-c set={dotted}: {word!r} is not there; {suggestion(word, filter(None, names))}")
            key = names.index(word) if word in names else int(word)
        data = data[key] if isinstance(data, list) else data.get(key) if isinstance(data, Mapping) else None
        path.append(key)
    return tuple(path)


def _replaced(source: Source, path: KeyPath, text: Any, *, place: str) -> Source:
    value = parse_documents(text.encode(), name=place)[0].data if isinstance(text, str) else text
    new = [path[:end] for end in range(1, len(path)) if path[:end] not in source.places]
    places = {**source.places, **dict.fromkeys([*new, path], place)}
    return Source(name=source.name, data=_with(source.data, path, value), places=places)


def _with(data: Any, path: KeyPath, value: Any) -> Any:
    if not path:
        return value
    key, *rest = path
    if isinstance(data, list):
        return [_with(item, tuple(rest), value) if i == key else item for i, item in enumerate(data)]
    inside = data if isinstance(data, Mapping) else {}
    return {**inside, key: _with(inside.get(key), tuple(rest), value)}


def _list(data: Any, key: str) -> list[Any]:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, list) else []
