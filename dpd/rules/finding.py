"""What is wrong, where it is written, what is allowed and what to do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from dpd.config.source import KeyPath


class Severity(StrEnum):
    """How bad it is: an error refuses the synth, a warning is shown, a note is for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Violation(NamedTuple):
    """What a rule found; its three texts make one message."""

    path: KeyPath
    """Where it is written: in the environment file or in the manifest."""
    given: str
    allowed: str
    fix: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A violation with its rule and its place."""

    rule: str
    severity: Severity
    file: str
    line: int | None
    path: str
    """Keys joined by dots, list items under their names."""
    message: str
    """What was given and what is allowed."""
    fix: str
    """What to do."""
    source: str
    """Where the fact behind the rule is published."""

    @property
    def place(self) -> str:
        """Return `file:line`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        """Return the finding on one line, control characters escaped."""
        said = f"{self.path}: {self.message}; {self.fix}"
        line = f"{self.place}: {self.severity} {self.rule}: {said}"
        return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "file": self.file,
            "line": self.line,
            "path": self.path,
            "message": self.message,
            "fix": self.fix,
            "source": self.source,
        }
