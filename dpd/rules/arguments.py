"""Config: the arguments of `vllm serve`."""

import json
from collections import defaultdict
from collections.abc import Iterator

from dpd.errors import nearest, shown
from dpd.rules import flags as vllm
from dpd.rules import sources
from dpd.rules.environment_view import FIELD_FLAGS
from dpd.rules.finding import Severity, Violation
from dpd.rules.flags import MODEL_TAG, Flag
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView

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
        yield from _unknown_flags(endpoint)


@rule(
    "DPD111",
    Severity.WARNING,
    title="The version of vLLM that is known knows the flag",
    source=sources.VLLM_FLAGS,
)
def flag_exists_in_known_version(endpoint: EndpointView) -> Iterator[Violation]:
    """The image may hold another version of vLLM, so an unknown flag need not be a mistake."""
    if not (endpoint.known_image or endpoint.is_disaggregated):
        yield from _unknown_flags(endpoint)


def _unknown_flags(endpoint: EndpointView) -> Iterator[Violation]:
    for flag in endpoint.arguments if endpoint.is_vllm else ():
        if flag.known is None and flag.name != MODEL_TAG:
            near = nearest(flag.name.removeprefix("no-"), vllm.known_flags())
            yield Violation(
                flag.path,
                f"given {shown(flag.word)}",
                f"the flags of vLLM {vllm.version()}",
                f"did you mean --{near}?" if near else "remove it",
            )


@rule(
    "DPD112",
    Severity.ERROR,
    title="A flag's value is one that vLLM takes",
    source=sources.VLLM_FLAGS,
)
def flag_value_is_allowed(endpoint: EndpointView) -> Iterator[Violation]:
    """A value is there where one is needed, of the right type, and one of the choices if any."""
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
    wrong = [value for value in flag.values if not _is_of_type(flag, value)]
    return f"a {known.type}" if wrong else None


def _is_of_type(flag: Flag, value: str) -> bool:
    kind = flag.known.type if flag.known else None
    if kind == "whole number":
        return value.strip().removeprefix("-").isdecimal()
    if kind == "number":
        return vllm.number_of(value) is not None
    if kind == "human-readable number":
        is_automatic = flag.name == "max-model-len" and value.lower() in ("auto", "-1")
        return is_automatic or vllm.whole_number(value) is not None
    if kind == "JSON":
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return False
    return True


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
