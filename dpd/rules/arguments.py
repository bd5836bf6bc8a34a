"""Config: the arguments of `vllm serve`."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from dpd.catalog import vllm_flags as vllm
from dpd.catalog.vllm_flags import MODEL_TAG, Flag
from dpd.errors import nearest, shown
from dpd.rules import sources
from dpd.rules.environment_view import FIELD_FLAGS
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView


class _Bounds(NamedTuple):
    above: float
    most: float | None

    def hold(self, amount: float) -> bool:
        return self.above < amount <= (self.most or amount)

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.above + 1:g} or more"
        return f"more than {self.above:g} and up to {self.most:g}"


_BOUNDS = {
    "gpu-memory-utilization": _Bounds(0, 1),
    "port": _Bounds(0, 65535),
    **dict.fromkeys(
        (
            "block-size",
            "data-parallel-size",
            "max-model-len",
            "max-num-batched-tokens",
            "max-num-seqs",
            "pipeline-parallel-size",
            "tensor-parallel-size",
        ),
        _Bounds(0, None),
    ),
}
# What a role may have of its own; the other flags that a field sets must be the same everywhere.
_PER_ROLE = {"gpu-memory-utilization", "max-model-len"}


@rule(
    "DPD110",
    Severity.ERROR,
    title="vLLM knows the flag",
    source=sources.VLLM_FLAGS,
)
def flag_exists(endpoint: EndpointView) -> Iterator[Violation]:
    """It stops at a flag that it does not know, after the node has been paid for.

    The flags are those of `vllm serve --help=all` of the version in both documented images, which
    is also the only one that disaggregated endpoints are documented for.
    """
    if endpoint.known_image or endpoint.is_disaggregated:
        yield from _unknown_flags(endpoint, otherwise="remove it")


@rule(
    "DPD111",
    Severity.WARNING,
    title="The version of vLLM that is known knows the flag",
    source=sources.VLLM_FLAGS,
)
def flag_exists_in_known_version(endpoint: EndpointView) -> Iterator[Violation]:
    """The image may hold another version of vLLM, so an unknown flag need not be a mistake."""
    if not (endpoint.known_image or endpoint.is_disaggregated):
        yield from _unknown_flags(endpoint, otherwise="see whether the vLLM in the image knows it")


def _unknown_flags(endpoint: EndpointView, *, otherwise: str) -> Iterator[Violation]:
    for flag in endpoint.arguments if endpoint.is_vllm else ():
        if flag.known is None and flag.name != MODEL_TAG:
            yield Violation(
                flag.path,
                f"given {shown(flag.word)}",
                f"the flags of vLLM {vllm.version()}",
                _meant(flag.name) or otherwise,
            )


def _meant(name: str) -> str | None:
    """Return a question that names the nearest flag, unless that one says the opposite."""
    near = nearest(name.removeprefix("no-"), vllm.known_flags())
    said = {*name.split("-")} ^ {*(near or "").split("-")}
    is_opposite = {"enable", "disable"} <= said
    return f"did you mean --{near}?" if near and not is_opposite else None


@rule(
    "DPD118",
    Severity.ERROR,
    title="Each word of the arguments is an item of its own",
    source=sources.VLLM_FLAGS,
)
def words_are_apart(endpoint: EndpointView) -> Iterator[Violation]:
    """No shell takes `--port 8000` apart: vLLM gets it as one word and stops.

    `--port=8000` may be one item. The other rules read such an item as it was meant.
    """
    items = {flag.path: flag.item for flag in endpoint.arguments if endpoint.is_vllm}
    for path, item in items.items():
        if item:
            words = ", ".join(item.split())
            yield Violation(
                path, f"given {shown(item)} in one item", "one word in each item", f"write {words}"
            )


@rule(
    "DPD112",
    Severity.ERROR,
    title="A flag's value is one that vLLM takes",
    source=sources.VLLM_FLAGS,
)
def flag_value_is_allowed(endpoint: EndpointView) -> Iterator[Violation]:
    """A value is there where one is needed, of the right type, within bounds, one of the choices.

    A share of memory is not a percentage, and counts and sizes are 1 or more.
    """
    for flag in endpoint.arguments if endpoint.is_vllm else ():
        if flag.known and (allowed := _allowed_instead(flag)):
            given = " ".join((flag.word, *flag.values))
            yield Violation(flag.path, f"given {shown(given)}", allowed, "correct the value")


def _allowed_instead(flag: Flag) -> str | None:
    """Return what the flag takes if that is not what it was given."""
    known = flag.known
    assert known is not None
    if "." in flag.word:
        return None if flag.values else f"{flag.word} with a value"
    if known.takes in ("nothing", "negatable"):
        return f"--{known.name} without a value" if flag.values else None
    if not flag.values:
        return None if known.takes == "optional" else f"--{known.name} with a value"
    if known.choices:
        wrong = [value for value in flag.values if value not in known.choices]
        return f"one of {', '.join(known.choices)}" if wrong else None
    if any(not _is_of_type(flag, value) for value in flag.values):
        return f"a {known.type}"
    bounds = _BOUNDS.get(known.name)
    if bounds is None or _is_automatic(flag, flag.value):
        return None
    amount = vllm.whole_number(flag.value) if known.type != "number" else vllm.number_of(flag.value)
    return None if amount is not None and bounds.hold(amount) else str(bounds)


def _is_of_type(flag: Flag, value: str) -> bool:
    kind = flag.known.type if flag.known else None
    if kind == "whole number":
        return value.strip().removeprefix("-").isdecimal()
    if kind == "number":
        return vllm.number_of(value) is not None
    if kind == "human-readable number":
        return _is_automatic(flag, value) or vllm.whole_number(value) is not None
    if kind == "JSON":
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return False
    return True


def _is_automatic(flag: Flag, value: str) -> bool:
    return flag.name == "max-model-len" and value.lower() in ("auto", "-1")


@rule(
    "DPD116",
    Severity.ERROR,
    title="A flag stands once in a list of arguments",
    source=sources.VLLM_FLAGS,
)
def flag_stands_once(endpoint: EndpointView) -> Iterator[Violation]:
    """Of two the last one counts, which is seldom known to the one who reads the first.

    A role's argument replaces the same flag of all workers; that is not a repetition.
    """
    lists: dict[tuple[str | int, ...], dict[str, Flag]] = defaultdict(dict)
    for flag in endpoint.arguments if endpoint.is_vllm else ():
        seen = lists[flag.path[:-1]]
        if flag.name in seen and "." not in flag.word and _is_listed(endpoint, flag):
            first = " ".join((seen[flag.name].word, *seen[flag.name].values))
            yield Violation(
                flag.path,
                f"given {shown(' '.join((flag.word, *flag.values)))} after {shown(first)}",
                "each flag once",
                "remove one",
            )
        seen.setdefault(flag.name, flag)


@rule(
    "DPD114",
    Severity.ERROR,
    title="A flag is not one that a field of the file sets",
    source="docs/check.md",
)
def flag_is_free(endpoint: EndpointView) -> Iterator[Violation]:
    """Sizes and checks follow the field; a flag beside it would change one and not the other.

    A role may have its own `--gpu-memory-utilization` and `--max-model-len`.
    """
    if not (endpoint.is_environment and endpoint.is_vllm):
        return
    for flag in endpoint.arguments:
        name = "model" if flag.name == MODEL_TAG else flag.name
        is_of_role = len(flag.path) == 5
        if (
            name in FIELD_FLAGS
            and _is_listed(endpoint, flag)
            and not (is_of_role and name in _PER_ROLE)
        ):
            yield Violation(
                flag.path,
                f"given {shown(flag.word)} in args",
                f"{FIELD_FLAGS[name]}, from which --{name} is made",
                f"remove it from args and set {FIELD_FLAGS[name]}",
            )


def _is_listed(endpoint: EndpointView, flag: Flag) -> bool:
    """Return whether a flag stands in a list that somebody wrote, not in a field."""
    return not endpoint.is_environment or isinstance(flag.path[-1], int)
