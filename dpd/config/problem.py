"""What is wrong with a file, in parts that are put into words once."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from dpd.config.source import KeyPath
from dpd.errors import UserError, nearest


class Kind(Enum):
    """What kind of mistake it is."""

    UNKNOWN_KEY = auto()
    WRONG_VALUE = auto()
    MISSING = auto()
    UNRESOLVED = auto()
    """A name that belongs to nothing, or to two things."""
    INSTANCE_TYPE = auto()
    TOO_FEW_NODES = auto()
    NETWORK = auto()
    TOO_LONG_NAME = auto()


@dataclass(frozen=True)
class Problem:
    """One mistake."""

    path: KeyPath
    given: str
    """What is wrong: `given 9`."""
    allowed: str = ""
    fix: str = ""
    """What to do."""
    kind: Kind = Kind.UNRESOLVED

    def __str__(self) -> str:
        """Return `given ...; allowed: ...; what to do`, without what is empty."""
        allowed = self.allowed and f"allowed: {self.allowed}"
        return "; ".join(filter(None, (self.given, allowed, self.fix)))


class ConfigError(UserError):
    """Mistakes in one file."""

    def __init__(self, *lines: str, problems: Iterable[Problem]) -> None:
        """Keep a line for each of the problems."""
        super().__init__(*lines)
        self.problems = tuple(problems)


def choice(given: str, names: Iterable[str]) -> tuple[str, str]:
    """Return what is allowed and what to do in place of a name: all names, or the nearest one."""
    known = sorted(names)
    near = nearest(given, known)
    return ("", f"did you mean {near!r}?") if near else (", ".join(known) or "none", "")
