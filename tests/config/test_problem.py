"""Mistakes in parts, and their words."""

# ruff: noqa: E501 - a case is one line

from collections.abc import Callable

import pytest

from dpd.config import Environment
from dpd.config.problem import ConfigError, Kind, Problem, choice

Edit = Callable[..., str]
Load = Callable[..., Environment]


def test_words_leave_out_what_is_empty() -> None:
    """Given, allowed and what to do, in this order."""
    assert str(Problem((), "given 1", "2", "write 2")) == "given 1; allowed: 2; write 2"
    assert str(Problem((), "given 1", fix="write 2")) == "given 1; write 2"
    assert str(Problem((), "given 1", "2")) == "given 1; allowed: 2"


def test_a_choice_is_the_nearest_or_all() -> None:
    """Never both."""
    assert choice("replica", ["replicas", "args"]) == ("", "did you mean 'replicas'?")
    assert choice("x", ["replicas", "args"]) == ("args, replicas", "")
    assert choice("x", []) == ("none", "")


@pytest.mark.parametrize(
    ("old", "new", "path", "kind"),
    [
        ("region:", "regoin:", ("regoin",), Kind.UNKNOWN_KEY),
        ("region: us-east-2", "region: 5", ("region",), Kind.WRONG_VALUE),
        ("region: us-east-2\n", "", ("region",), Kind.MISSING),
        ("architecture: llama-3.3-70b", "architecture: x", ("models", 0, "architecture"), Kind.UNRESOLVED),
        ("prefill, instanceType: ml.p5", "prefill, instanceType: ml.g6", ("cluster", "instanceGroups", 0, "instanceType"), Kind.INSTANCE_TYPE),
        ("name: prefill,", "name: prefill, count: 0,", ("cluster", "instanceGroups", 0, "count"), Kind.TOO_FEW_NODES),
        ("10.1.0.0/16", "10.1.0.0/28", ("network", "gpuSubnet", "cidr"), Kind.NETWORK),
        ("name: chat", "name: a-rather-long-name-of-thirty-nine-signs", ("endpoints", 0, "name"), Kind.TOO_LONG_NAME),
    ],
)  # fmt: skip
def test_every_kind_is_told_by_what_is_wrong(
    old: str, new: str, path: tuple[str | int, ...], kind: Kind, edited: Edit, load: Load
) -> None:
    """Whoever reads the error need not read its words."""
    with pytest.raises(ConfigError) as caught:
        load(edited(old, new))
    (problem,) = caught.value.problems
    assert (problem.path, problem.kind) == (path, kind)
    assert caught.value.lines[0].endswith(f": {problem}")
