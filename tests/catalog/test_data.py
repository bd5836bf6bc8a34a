"""What every catalog entry has."""

import pytest
from pydantic import ValidationError

from dpd.catalog import InstanceType, addons, instance_types, model_architectures, worker_images
from dpd.catalog.data import Fact, read

FILES = {
    "addons": addons,
    "images": worker_images,
    "instance_types": instance_types,
    "models": model_architectures,
}


@pytest.mark.parametrize("name", FILES)
def test_names_are_unique_and_all_are_read(name: str) -> None:
    """No entry hides another one, aliases included."""
    entries = read(name)
    names = [each for entry in entries for each in (entry["name"], *entry.get("aliases", ()))]
    assert entries
    assert len(set(names)) == len(names)
    assert set(FILES[name]()) == set(names)


@pytest.mark.parametrize(
    ("file", "name", "source"),
    [(file, entry["name"], entry["source"]) for file in FILES for entry in read(file)],
)
def test_every_entry_has_a_public_source(file: str, name: str, source: str) -> None:
    """Where the next person can look."""
    assert source.startswith("https://"), f"{file}.yaml: {name}"


@pytest.mark.parametrize("entries", FILES.values(), ids=FILES)
def test_entries_are_frozen_and_closed(entries: object) -> None:
    """Facts do not change at run time, and a misspelt key in a data file is found."""
    (fact, *_) = entries().values()  # type: ignore[operator]
    assert isinstance(fact, Fact)
    with pytest.raises(ValidationError, match="frozen"):
        fact.name = "other"  # type: ignore[attr-defined]


def test_misspelt_key_in_a_data_file_is_found() -> None:
    """By the model of the entry."""
    (entry, *_) = read("instance_types")
    with pytest.raises(ValidationError, match="extra_forbidden"):
        InstanceType.model_validate({**entry, "gpuCuont": 8})
