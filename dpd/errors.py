"""Errors that a person is meant to read."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any


class UserError(Exception):
    """A mistake of the user's: every line says what was given, what is allowed, what to do."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        """Keep one line per mistake, control characters escaped."""
        self.lines = tuple(_printable(line) for line in lines)
        super().__init__("\n".join(self.lines))


def suggestion(given: str, allowed: Iterable[str]) -> str:
    """Return `did you mean ...?`, or the whole list where nothing is near."""
    names = sorted(allowed)
    near = nearest(given, names)
    return f"did you mean {near!r}?" if near else f"allowed: {', '.join(names) or 'none'}"


def nearest(given: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name that `given` was probably meant to be."""
    names = {name.casefold(): name for name in allowed}
    near = get_close_matches(given.casefold(), sorted(names), n=1, cutoff=0.6)
    return names[near[0]] if near else None


def shown(value: Any) -> str:
    """Return a value as a person would write it into a file, on one line and not too long."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return shortened(repr(value))


def shortened(text: str, *, limit: int = 100) -> str:
    """Return `text`, its middle left out where it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 20]}...{text[-17:]}"


@contextmanager
def exit_on_user_error() -> Iterator[None]:
    """Turn a `UserError` into `error: ...` lines on stderr and an exit status, no traceback."""
    try:
        yield
    except UserError as error:
        import sys

        for line in error.lines:
            print(f"error: {line}", file=sys.stderr)
        sys.exit(error.exit_code)


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
