"""Quantities that carry their unit in the value: `8GiB`, `30ms`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema

_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
_NUMBER = r"[0-9]{1,15}(\.[0-9]{1,6})?"


def _quantity(value: Any, *, units: Mapping[str, float], example: str) -> float:
    match = re.fullmatch(rf"({_NUMBER}) ?([A-Za-z]+)", value) if isinstance(value, str) else None
    if match is None or match[3] not in units:
        raise ValueError(f"a number with one of the units {', '.join(units)}, such as {example}")
    return float(match[1]) * units[match[3]]


def _bytes(value: Any) -> int:
    return round(_quantity(value, units=_BYTES, example="8GiB"))


def _seconds(value: Any) -> float:
    return _quantity(value, units=_SECONDS, example="45m")


def bytes_text(value: int) -> str:
    """Return bytes in the largest unit that leaves a whole number, else in KiB: `1536MiB`."""
    for unit, size in reversed(_BYTES.items()):
        if value % size == 0:
            return f"{value // size}{unit}"
    return f"{value / 2**10:f}KiB"


def seconds_text(value: float) -> str:
    """Return seconds as a file holds them: `3600s`."""
    return f"{value:g}s" if value == round(value) else f"{value:f}s"


def _schema(units: Mapping[str, float]) -> WithJsonSchema:
    pattern = rf"^{_NUMBER} ?({'|'.join(units)})$"
    return WithJsonSchema({"type": "string", "pattern": pattern}, mode="validation")


def byte_range(low: str, high: str) -> AfterValidator:
    """Allow bytes between two quantities, both included: `byte_range("100GiB", "16TiB")`."""
    return _range(low, high, _bytes(low), _bytes(high))


def second_range(low: str, high: str) -> AfterValidator:
    """Allow seconds between two quantities, both included: `second_range("1m", "1h")`."""
    return _range(low, high, _seconds(low), _seconds(high))


def _range(low: str, high: str, lowest: float, highest: float) -> AfterValidator:
    def check(value: float) -> float:
        if not lowest <= value <= highest:
            raise ValueError(f"{low} to {high}")
        return value

    return AfterValidator(check)


Bytes = Annotated[
    int,
    BeforeValidator(_bytes),
    PlainSerializer(bytes_text, when_used="json"),
    _schema(_BYTES),
]
"""Bytes, written with KiB, MiB, GiB or TiB."""
Seconds = Annotated[
    float,
    BeforeValidator(_seconds),
    PlainSerializer(seconds_text, when_used="json"),
    _schema(_SECONDS),
]
"""Seconds, written with ms, s, m or h."""
