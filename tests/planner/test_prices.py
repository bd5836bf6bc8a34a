"""Price tables."""

from pathlib import Path

import pytest

from dpd.catalog.instance_types import instance_types
from dpd.errors import UserError
from dpd.planner.prices import read_prices


def test_every_instance_type_has_a_dated_price() -> None:
    """One for each of the catalog, and no other."""
    table = read_prices()
    assert set(table.usd_per_hour) == set(instance_types())
    assert len(table.date) == len("2026-09-01")


def test_a_table_of_ones_own_replaces_it(tmp_path: Path) -> None:
    """Other numbers, and a mistake with its line."""
    path = tmp_path / "prices.yaml"
    text = 'date: "2026-12-01"\nregion: us-east-2\nsource: contract\n'
    text += "usdPerHour:\n  ml.p5.48xlarge: 31\n"
    path.write_text(text)
    assert read_prices(path).usd_per_hour == {"ml.p5.48xlarge": 31}
    path.write_text(text.replace("31", "-1"))
    with pytest.raises(UserError, match=r"prices\.yaml:5: usdPerHour"):
        read_prices(path)
