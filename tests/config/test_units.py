"""Quantities with their unit in the value."""

from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from dpd.config.units import (
    Bytes,
    Seconds,
    byte_range,
    bytes_text,
    second_range,
    seconds_text,
)

BYTES = TypeAdapter(Bytes)
SECONDS = TypeAdapter(Seconds)
HUNDRED = settings(derandomize=True, max_examples=100, deadline=None, database=None)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1KiB", 1024), ("8GiB", 2**33), ("1.5 MiB", 1_572_864), ("2TiB", 2**41), ("0GiB", 0)],
)
def test_bytes_are_powers_of_two(text: str, size: int) -> None:
    """KiB to TiB, with a fraction and one space if wanted."""
    assert BYTES.validate_python(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("30ms", 0.03), ("45s", 45), ("1.5m", 90), ("1h", 3600)]
)
def test_seconds(text: str, seconds: float) -> None:
    """Milliseconds to hours."""
    assert SECONDS.validate_python(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    [
        "8GB",
        "8",
        8,
        8.0,
        None,
        True,
        "GiB",
        "-1GiB",
        "1e3GiB",
        "8gib",
        "8  GiB",
        "8GiB\n",
        " 8GiB",
        "٣GiB",
        "8GiB8",
        [],
        {},
        "9" * 400 + "GiB",
        "1,5GiB",
        "30ms",
        "infGiB",
    ],
)
def test_everything_else_is_refused_with_the_units(value: object) -> None:
    """A wrong unit, no unit, another type or an endless number: the message lists the units."""
    with pytest.raises(ValidationError, match="units KiB, MiB, GiB, TiB, such as 8GiB"):
        BYTES.validate_python(value)


@HUNDRED
@given(st.integers(min_value=0, max_value=2**52))
def test_bytes_survive_a_dump(size: int) -> None:
    """What is written out reads back as the same number of bytes."""
    assert BYTES.validate_python(bytes_text(size)) == pytest.approx(size, abs=1)
    whole = size // 1024 * 1024
    assert BYTES.validate_python(BYTES.dump_python(whole, mode="json")) == whole


@HUNDRED
@given(st.integers(min_value=0, max_value=10**7))
def test_seconds_survive_a_dump(milliseconds: int) -> None:
    """What is written out reads back as the same time."""
    seconds = SECONDS.validate_python(f"{milliseconds}ms")
    assert SECONDS.validate_python(seconds_text(seconds)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("size", "text"), [(2**33, "8GiB"), (1536 * 2**20, "1536MiB"), (0, "0TiB"), (2**40, "1TiB")]
)
def test_bytes_text_takes_the_largest_whole_unit(size: int, text: str) -> None:
    """8589934592 is written as 8GiB."""
    assert bytes_text(size) == text


@pytest.mark.parametrize(
    ("text", "is_allowed"), [("1GiB", True), ("2GiB", True), ("1023MiB", False)]
)
def test_byte_range_includes_its_ends(text: str, is_allowed: bool) -> None:
    """A range is said in the units a person writes."""
    ranged: TypeAdapter[int] = TypeAdapter(Annotated[Bytes, byte_range("1GiB", "2GiB")])
    if is_allowed:
        assert ranged.validate_python(text) >= 2**30
    else:
        with pytest.raises(ValidationError, match="1GiB to 2GiB"):
            ranged.validate_python(text)


def test_second_range_refuses_what_is_outside() -> None:
    """Both ends are checked."""
    ranged: TypeAdapter[float] = TypeAdapter(Annotated[Seconds, second_range("1m", "1h")])
    assert ranged.validate_python("60m") == 3600
    for outside in ("59s", "3601s"):
        with pytest.raises(ValidationError, match="1m to 1h"):
            ranged.validate_python(outside)
