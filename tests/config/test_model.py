"""Models in the model bucket."""

import pytest
from pydantic import ValidationError

from dpd.config import Model


def test_folder_is_the_name_unless_given() -> None:
    """Without slashes at its ends."""
    assert Model(name="Llama-3.3", architecture="a").prefix == "Llama-3.3"
    assert Model(name="Llama-3.3", architecture="a", location="x/y").prefix == "x/y"


@pytest.mark.parametrize(
    "change",
    [
        {"location": "/x"},
        {"location": "x/"},
        {"location": "x//y"},
        {"location": "s3://b/x"},
        {"location": ""},
        {"location": "x y"},
        {"name": "a_b"},
        {"name": "-a"},
        {"name": "a" * 64},
        {"dtype": "fp8"},
        {"quantization": "int4"},
        {"dtype": None},
    ],
    ids=str,
)
def test_faults(change: dict[str, str | None]) -> None:
    """Each alone is refused."""
    with pytest.raises(ValidationError):
        Model.model_validate({"name": "m", "architecture": "a", **change})
