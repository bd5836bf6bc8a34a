"""Quantities that carry their unit in the value: `8GiB`, `30ms`."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def _quantity(value: Any, *, units: dict[str, Any], example: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", value) if isinstance(value, str) else None
    if match is None or match[2] not in units:
        raise ValueError(f"a number with one of the units {', '.join(units)}, such as {example}")
    return float(match[1]) * units[match[2]]


def _bytes(value: Any) -> int:
    return round(_quantity(value, units=_BYTES, example="8GiB"))


def _seconds(value: Any) -> float:
    return _quantity(value, units=_SECONDS, example="45m")


def _schema(units: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": "string", "pattern": rf"^\d+(\.\d+)?\s*({'|'.join(units)})$"}, mode="validation"
    )


Bytes = Annotated[int, BeforeValidator(_bytes), _schema(_BYTES)]
"""Bytes, written with KiB, MiB, GiB or TiB."""
Seconds = Annotated[float, BeforeValidator(_seconds), _schema(_SECONDS)]
"""Seconds, written with ms, s, m or h."""
