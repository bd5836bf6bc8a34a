"""What a node costs: a dated table that a person can replace."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from dpd.config.base import Config
from dpd.config.report import validate
from dpd.config.source import read_source

_DEFAULT = Path(__file__).with_name("prices.yaml")


class PriceTable(Config):
    """Prices of one date."""

    date: str
    """Day of the prices, in quotes: `"2026-09-01"`."""
    region: str
    source: str
    usd_per_hour: dict[str, Annotated[float, Field(gt=0)]]
    """Price of one node by instance type, in US dollars per hour."""


def read_prices(path: Path | None = None) -> PriceTable:
    """Return the table of a file, or the one that comes with the planner.

    Raises:
        UserError: a mistake in the file, with its line.
    """
    if path is None:
        return validate(PriceTable, read_source(_DEFAULT, name=_DEFAULT.name))
    return validate(PriceTable, read_source(path))
