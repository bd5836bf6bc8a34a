"""A rule: one function with an id, a severity and the source of its fact."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from dpd.rules.finding import Severity, Violation

FAMILIES = {
    "0": "worthwhile",
    "1": "config",
    "2": "capacity",
    "3": "memory",
    "4": "KV transfer",
    "5": "networking",
    "6": "operator",
    "7": "routing",
    "8": "images",
    "9": "naming",
}
"""Family by the first digit of an id."""

_Subject = TypeVar("_Subject")
_Check = Callable[[_Subject], Iterator[Violation]]


class Rule(NamedTuple):
    """One rule. What it looks at is the type of its check's only argument."""

    id: str
    severity: Severity
    title: str
    source: str
    explanation: str
    subject: type | None = None
    """None for what the readers of files find themselves."""
    check: _Check[Any] | None = None

    @property
    def family(self) -> str:
        """Name of the rule's family."""
        return FAMILIES[self.id.removeprefix("DPD")[0]]


REGISTRY: dict[str, Rule] = {}
"""All rules by id, once `dpd.rules.check` is imported."""


def rule(
    id_: str, severity: Severity, *, title: str, source: str
) -> Callable[[_Check[_Subject]], _Check[_Subject]]:
    """Register a function as a rule; its docstring is the explanation."""

    def register(check: _Check[_Subject]) -> _Check[_Subject]:
        subject = next(iter(check.__annotations__.values()))
        explanation = " ".join((check.__doc__ or "").split())
        _add(id_, severity, title, source, explanation, subject=subject, check=check)
        return check

    return register


def declare(id_: str, severity: Severity, *, title: str, source: str, explanation: str) -> str:
    """Register a rule that the reader of a file applies itself; return its id."""
    _add(id_, severity, title, source, explanation)
    return id_


def violations(subject: object) -> Iterator[tuple[Rule, Violation]]:
    """Yield what the rules about the type of `subject` find in it."""
    for each in REGISTRY.values():
        if each.check is not None and each.subject is type(subject):
            for violation in each.check(subject):
                yield each, violation


def _add(
    id_: str,
    severity: Severity,
    title: str,
    source: str,
    explanation: str,
    *,
    subject: type | None = None,
    check: _Check[Any] | None = None,
) -> None:
    assert id_ not in REGISTRY, f"{id_} is there twice"
    REGISTRY[id_] = Rule(
        id=id_,
        severity=severity,
        title=title,
        source=source,
        explanation=explanation,
        subject=subject,
        check=check,
    )
