"""One line, short enough for the console, with the remedy whole."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(derandomize=True, deadline=None, database=None)
@given(problem=st.text(max_size=3000), remedy=st.text(max_size=300))
def test_failure_is_one_short_line(waiter: Any, problem: str, remedy: str) -> None:
    """Whatever the operator writes."""
    text = str(waiter.failure.Failure(problem, remedy=remedy))
    assert len(text.splitlines()) == 1
    assert len(text) <= waiter.failure.MAX_CHARACTERS
    assert text.endswith("; " + " ".join(remedy.split()))


def test_short_text_stays_as_it_is(waiter: Any) -> None:
    """Nothing is cut that fits."""
    assert str(waiter.failure.Failure("no such\nbucket", remedy="make it")) == (
        "no such bucket; make it"
    )


def test_long_problem_keeps_its_beginning(waiter: Any) -> None:
    """The first words say most."""
    text = str(waiter.failure.Failure("first " + "x" * 5000, remedy="look there"))
    assert text.startswith("first xxx")
    assert text.endswith("xxx...; look there")
    assert len(text) == waiter.failure.MAX_CHARACTERS
