"""Errors that a person is meant to read."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class UserError(Exception):
    """A mistake of the user's: every line says what was given, what is allowed, what to do."""

    exit_code = 2

    def __init__(self, *lines: str) -> None:
        """Keep one line per mistake."""
        super().__init__("\n".join(lines))
        self.lines = lines


def suggestion(given: str, allowed: Iterable[str]) -> str:
    """Return `did you mean ...?`, or the whole list where nothing is near."""
    names = sorted(allowed)
    near = get_close_matches(given, names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(names)}"


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
