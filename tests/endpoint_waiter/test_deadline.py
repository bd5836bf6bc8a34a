"""When a wait is over, and what is said then."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

HINT = "see the log"
SECONDS = st.integers(min_value=0, max_value=2**40)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


def look(waiter: Any, *, timeout: int, now: float, **event: Any) -> str | None:
    """Look once at an endpoint that is not ready; what is said if its time is over."""
    properties = {"TimeoutSeconds": str(timeout), "LogHint": HINT}
    try:
        waiter.deadline.require_time_left(
            {"ResourceProperties": properties, **event},
            waiter.failure.NotYet("pods are Pending"),
            endpoint="chat/chat",
            now_seconds=now,
        )
    except waiter.failure.Failure as failure:
        return str(failure)
    return None


@settings(derandomize=True, deadline=None, database=None)
@given(start=SECONDS, timeout=st.integers(60, 3600), waited=st.integers(-60, 7200))
def test_wait_is_over_when_its_time_is(waiter: Any, start: int, timeout: int, waited: int) -> None:
    """Whenever it began, and not before, even if two clocks differ."""
    data = waiter.deadline.start(float(start))
    line = look(waiter, timeout=timeout, now=start + waited, Data=data)
    assert (line is not None) == (waited >= timeout)
    if line is not None:
        assert line.startswith("chat/chat is not ready after ")
        assert line.endswith(f": pods are Pending; {HINT}")


@settings(derandomize=True, deadline=None, database=None)
@given(started=st.text().filter(lambda text: not any(map(str.isdecimal, text))))
def test_garbled_start_counts_as_now(waiter: Any, started: str) -> None:
    """Then the provider's timeout is what is left."""
    assert look(waiter, timeout=60, now=1e9, Data={"StartedAt": started}) is None


@pytest.mark.parametrize(
    "event",
    [
        {},
        *(
            {"Data": data}
            for data in (None, {}, "text", {"StartedAt": None}, {"StartedAt": math.inf})
        ),
    ],
    ids=str,
)
def test_missing_start_counts_as_now(waiter: Any, event: dict[str, Any]) -> None:
    """As where an older version of the function began."""
    assert look(waiter, timeout=60, now=1e9, **event) is None


@settings(derandomize=True, deadline=None, database=None)
@given(data=JSON | st.fixed_dictionaries({"StartedAt": JSON}))
def test_no_start_breaks_the_look(waiter: Any, data: Any) -> None:
    """It fails with words or not at all."""
    line = look(waiter, timeout=60, now=1e9, Data=data)
    assert line is None or line.endswith(HINT)


@pytest.mark.parametrize(
    ("waited", "words"), [(60, "60 seconds"), (119, "119 seconds"), (120, "2 minutes")]
)
def test_time_is_said_in_a_fitting_unit(waiter: Any, waited: int, words: str) -> None:
    """Nobody reads 3000 seconds."""
    line = look(waiter, timeout=60, now=waited, Data=waiter.deadline.start(0))
    assert line is not None
    assert f"is not ready after {words}: " in line


def test_unavailable_api_server_is_a_reason_to_wait(waiter: Any) -> None:
    """And is said like any other."""
    assert issubclass(waiter.kubernetes.Unavailable, waiter.failure.NotYet)
