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


@pytest.mark.parametrize(
    ("fields", "weight_format"),
    [
        ({"architecture": "llama-3.3-70b"}, "bfloat16"),
        ({"architecture": "llama-3.3-70b", "dtype": "float16"}, "float16"),
        ({"architecture": "llama-3.3-70b", "quantization": "fp8"}, "fp8"),
        ({"architecture": "deepseek-r1"}, "fp8"),
        ({"architecture": "deepseek-r1", "quantization": "none"}, "bfloat16"),
        ({"architecture": "gpt-oss-120b"}, "mxfp4"),
        ({"architecture": "gpt-oss-120b", "quantization": "fp8"}, "fp8"),
    ],
)
def test_weights_are_as_published_unless_said(fields: dict[str, str], weight_format: str) -> None:
    """The published format is the catalog's."""
    assert Model.model_validate({"name": "m", **fields}).weight_format == weight_format
