"""Turns pydantic's findings into lines that say where, what was given and what is allowed."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dpd.config.problem import ConfigError, Kind, Problem, choice
from dpd.config.shape import keys_at, kind_with, kinds_at, value_path
from dpd.config.source import KeyPath, Source, child
from dpd.errors import nearest, shortened, shown

_Model = TypeVar("_Model", bound=BaseModel)

_MAX_LINES = 20
_ALLOWED = {
    "bool_type": "true or false",
    "dict_type": "a mapping of keys to values",
    "float_type": "a number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "literal_error": "{expected}",
    "model_attributes_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_too_long": "{max_length} characters or fewer",
    "string_too_short": "{min_length} characters or more",
    "string_type": "text",
    "too_long": "{max_length} or fewer",
    "too_short": "{min_length} or more",
    "tuple_type": "a list",
    "value_error": "{error}",
}
"""What is allowed, by pydantic's type of error and with its context."""


def validate(model: type[_Model], source: Source) -> _Model:
    """Return `source` as a model, or raise a `ConfigError` with one line per mistake."""
    try:
        return model.model_validate(source.data, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False)
        found = _problems(model, source, details[:_MAX_LINES])
        lines = [line(source, each) for each in found]
        if len(details) > _MAX_LINES:
            more = f"{len(details) - _MAX_LINES} more mistakes"
            lines.append(f"{source.name}: {more}")
            found.append(Problem((), more, fix="correct these first", kind=Kind.WRONG_VALUE))
        raise ConfigError(*lines, problems=found) from None


def line(source: Source, problem: Problem) -> str:
    """Return `file:line: path: what is wrong`."""
    path = problem.path
    return f"{source.place(path)}: {readable(path, source.data)}: {problem}"


def readable(path: KeyPath, data: Any) -> str:
    """Return a path with list items under their names: `endpoints.chat.prefill.replicas`."""
    words = []
    for key in path:
        data = child(data, key)
        name = child(data, "name") if isinstance(key, int) else key
        words.append(shortened(name if isinstance(name, str) and name else str(key)))
    return ".".join(words) or "file"


def _problems(model: type[BaseModel], source: Source, details: list[ErrorDetails]) -> list[Problem]:
    """Return each mistake once, and none that only follows from another one."""
    found = [(value_path(model, each["loc"]), each) for each in details]
    misspelt = {
        (*path[:-1], nearest(str(path[-1]), keys_at(model, path[:-1], source.data)))
        for path, each in found
        if each["type"] == "extra_forbidden"
    }
    problems = [
        _problem(model, source, path, each)
        for path, each in found
        if not (each["type"] == "missing" and path in misspelt)
        and not _counts_faulty(each)
        and not _kind_misspelt(model, source, path, each, misspelt)
    ]
    return list(dict.fromkeys(problems))


def _counts_faulty(details: ErrorDetails) -> bool:
    """Return whether a list is long enough and pydantic only left its faulty items out."""
    return details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]


def _kind_misspelt(
    model: type[BaseModel],
    source: Source,
    path: KeyPath,
    details: ErrorDetails,
    misspelt: set[tuple[Any, ...]],
) -> bool:
    """Return whether a key is unknown only because the key that says the kind is misspelt."""
    if details["type"] != "extra_forbidden":
        return False
    kinds = kind_with(model, path, source.data)
    return kinds is not None and kinds[0].path in misspelt


def _problem(
    model: type[BaseModel], source: Source, path: KeyPath, details: ErrorDetails
) -> Problem:
    given, kind = details["input"], details["type"]
    if kind == "extra_forbidden":
        if kinds := kind_with(model, path, source.data):
            fix = f"remove it, or use {kinds[1]}"
            return Problem(path, f"no key with {kinds[0]}", fix=fix, kind=Kind.UNKNOWN_KEY)
        return _unknown_key(path, keys_at(model, path[:-1], source.data))
    if kind == "missing":
        return Problem(path, "required, but not given", kind=Kind.MISSING)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _union_tag(path, given, *kinds_at(model, path, source.data))
    context = details.get("ctx", {})
    if kind not in _ALLOWED:
        return Problem(path, f"given {shown(given)}", fix=details["msg"], kind=Kind.WRONG_VALUE)
    allowed_text = _ALLOWED[kind].format_map(context)
    what = f"{len(given)} of them" if kind.startswith("too_") else shown(given)
    hint = _quotes_hint(kind, given, allowed_text)
    return Problem(path, f"given {what}", allowed_text, hint, Kind.WRONG_VALUE)


def _unknown_key(path: KeyPath, known: list[str]) -> Problem:
    allowed, fix = choice(str(path[-1]), known)
    return Problem(path, "unknown key", allowed, fix, Kind.UNKNOWN_KEY)


def _union_tag(path: KeyPath, given: Any, key: str, kinds: list[str]) -> Problem:
    allowed = ", ".join(kinds)
    if key in given:
        what = f"given {shown(given[key])}"
        return Problem((*path, key), what, allowed, kind=Kind.WRONG_VALUE)
    if misspelt := nearest(key, map(str, given)):
        return _unknown_key((*path, misspelt), [key])
    return Problem((*path, key), "required, but not given", allowed, kind=Kind.MISSING)


def _quotes_hint(kind: str, given: Any, allowed: str) -> str:
    """Return the advice for a number or boolean that was meant as text: `1.34`."""
    is_bare = isinstance(given, bool | int | float)
    meant_as_text = kind == "string_type" or repr(str(given)) in allowed
    return "put it in quotes" if is_bare and meant_as_text else ""
