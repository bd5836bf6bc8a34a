"""What holds for the whole file."""

from typing import Any

import pytest
from pydantic import ValidationError

from dpd.config import Environment
from dpd.config.environment import EnvironmentFile


def test_names_lead_to_what_they_name(environment: Environment) -> None:
    """Each model and group is found under its own name."""
    for model in environment.models:
        assert environment.model_named(model.name) is model
    for group in environment.cluster.instance_groups:
        assert environment.instance_group_named(group.name) is group


@pytest.mark.parametrize(
    "change",
    [
        {"account": "1111222233334"}, {"account": 111122223333}, {"account": "11112222333x"},
        {"region": "us-east"}, {"region": "us-east-2a"}, {"tags": {"a": 1}}, {"tags": {"": "a"}},
        {"tags": {"a": "b\n"}}, {"tags": {"k" * 129: "a"}}, {"tags": {"a": "v" * 257}},
        {"tags": {f"k{i}": "v" for i in range(41)}}, {"tags": ["a"]}, {"models": {}},
        {"endpoints": None}, {"name": "other"},
    ],
    ids=lambda change: str(change)[:40],
)  # fmt: skip
def test_faults(change: dict[str, Any], environment: Environment) -> None:
    """Each alone is refused; without it the file is taken."""
    data = environment.model_dump(mode="json", by_alias=True, exclude={"name"})
    assert EnvironmentFile.model_validate(data)
    with pytest.raises(ValidationError):
        EnvironmentFile.model_validate({**data, **change})
