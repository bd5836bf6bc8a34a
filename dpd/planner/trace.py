"""Recorded requests and recorded lengths."""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpd.errors import UserError, shown

COLUMNS = ("arrival", "input", "output")


@dataclass(frozen=True)
class Trace:
    """Recorded requests in order of arrival, in 24 bytes each."""

    arrivals: array[float] = field(default_factory=lambda: array("d"))
    """Seconds since the first request."""
    inputs: array[int] = field(default_factory=lambda: array("q"))
    outputs: array[int] = field(default_factory=lambda: array("q"))

    @property
    def rate(self) -> float:
        """Mean requests per second."""
        return (len(self.arrivals) - 1) / self.arrivals[-1]


def read_trace(path: Path) -> Trace:
    """Read a CSV file with a header, or JSONL by the file's ending.

    Raises:
        UserError: the file cannot be read, or names the line that is broken.
    """
    trace = Trace()
    start = previous = 0.0
    rows = _json_rows(path) if path.suffix in (".jsonl", ".ndjson", ".json") else _csv_rows(path)
    for place, row in rows:
        arrival = _number(place, row, "arrival", at_least=0)
        if not trace.arrivals:
            start = previous = arrival
        if arrival < previous:
            raise UserError(f"{place}: arrival {arrival:g} is before {previous:g}; sort the trace")
        previous = arrival
        trace.arrivals.append(arrival - start)
        trace.inputs.append(_tokens(place, row, "input"))
        trace.outputs.append(_tokens(place, row, "output"))
    if len(trace.arrivals) < 2:
        raise UserError(f"{path}: {len(trace.arrivals)} requests; a trace needs at least 2")
    if not trace.arrivals[-1]:
        raise UserError(
            f"{path}: all {len(trace.arrivals)} requests arrive at {start:g} s; "
            "allowed: arrivals at different times"
        )
    return trace


def read_lengths(path: Path) -> list[int]:
    """Read one number of tokens a line; `UserError` names the line that is broken."""
    lengths = [
        _tokens(place, {"tokens": text.strip()}, "tokens")
        for place, text in _lines(path)
        if text.strip()
    ]
    if not lengths:
        raise UserError(f"{path}: holds no lengths; give one number of tokens a line")
    return lengths


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8-sig") as stream:  # spreadsheets begin a file with a BOM
            for number, text in enumerate(stream, start=1):
                yield f"{path}:{number}", text
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8 text") from None


def _csv_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    header: list[str] = []
    for place, text in _lines(path):
        try:
            values = [value.strip() for value in next(csv.reader([text]), [])]
        except csv.Error as error:
            raise UserError(f"{place}: not CSV: {error}") from None
        if not any(values):
            continue
        if not header:
            header = values
            if len(set(header)) < len(header):
                raise UserError(f"{place}: a column stands twice in the header; name each once")
            if missing := set(COLUMNS) - set(header):
                raise UserError(
                    f"{place}: no column {', '.join(sorted(missing))} in the header; "
                    f"needed: {', '.join(COLUMNS)}"
                )
            continue
        if len(values) != len(header):
            raise UserError(f"{place}: {len(values)} values under {len(header)} columns")
        yield place, dict(zip(header, values, strict=True))


def _json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, text in _lines(path):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except ValueError as error:
            raise UserError(f"{place}: not JSON: {error}") from None
        except RecursionError:
            raise UserError(f"{place}: nested too deep; allowed: one flat object") from None
        if not isinstance(row, dict):
            raise UserError(f"{place}: not an object with {', '.join(COLUMNS)}")
        yield place, row


def _number(place: str, row: dict[str, Any], column: str, *, at_least: float) -> float:
    value = row.get(column)
    try:
        number = float(value if value is not None else "")
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not at_least <= number < 1e15 or isinstance(value, bool):
        given = "missing" if value is None else shown(value)
        raise UserError(f"{place}: {column} is {given}; allowed: a number from {at_least:g} up")
    return number


def _tokens(place: str, row: dict[str, Any], column: str) -> int:
    number = _number(place, row, column, at_least=1)
    if number != int(number):
        given = shown(row[column])
        raise UserError(f"{place}: {column} is {given}; allowed: a whole number of tokens")
    return int(number)
