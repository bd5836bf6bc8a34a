"""What every part of a file shares."""

import pytest
from pydantic import TypeAdapter, ValidationError

from dpd.config import Model
from dpd.config.base import Name

NAME = TypeAdapter(Name)


@pytest.mark.parametrize("name", ["a", "a1", "a-b", "a--b", "x" * 40])
def test_names(name: str) -> None:
    """Lower-case letters, digits and hyphens inside."""
    assert NAME.validate_python(name) == name


@pytest.mark.parametrize(
    "name", ["", "1a", "-a", "a-", "A", "a_b", "a.b", "a b", "é", "a\n", "x" * 41]
)
def test_what_kubernetes_or_cloudformation_refuses(name: str) -> None:
    """Refused here already."""
    with pytest.raises(ValidationError):
        NAME.validate_python(name)


def test_nothing_changes_and_nothing_is_added() -> None:
    """Frozen, and closed to unknown keys."""
    model = Model(name="m", architecture="a")
    with pytest.raises(ValidationError, match="frozen"):
        model.name = "n"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Model.model_validate({"name": "m", "architecture": "a", "extra": 1})
