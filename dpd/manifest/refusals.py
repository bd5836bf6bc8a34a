"""Validation errors of our own making, in pydantic's form so that one reader serves all."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from dpd.errors import suggestion
from dpd.manifest.names import Path, fields_at

_WORDS = {
    "dict_type": "Input should be a mapping",
    "mapping_type": "Input should be a mapping",
    "model_type": "Input should be a mapping",
    "tuple_type": "Input should be a list",
}


@dataclass(frozen=True)
class Refusal:
    """One thing that is wrong: where, what was given, and what is allowed."""

    path: Path
    kind: str
    message: str
    given: object


def refuse(title: str, refusals: Iterable[Refusal]) -> ValidationError:
    """Return the error to raise for all of `refusals` at once."""
    return ValidationError.from_exception_data(
        title,
        [
            InitErrorDetails(
                type=PydanticCustomError(refusal.kind, refusal.message),
                loc=refusal.path,
                input=refusal.given,
            )
            for refusal in refusals
        ],
    )


def unknown_field(model: type[BaseModel], path: Path, given: object) -> Refusal:
    """Return the refusal of a field that `model` does not have, with the nearest right name."""
    *parent, name = path
    allowed = fields_at(model, tuple(parent))
    hint = suggestion(str(name), allowed)
    return Refusal(path, "unknown_field", f"Unknown field {name!r}; {hint}", given)


def with_suggestions(model: type[BaseModel], error: ValidationError) -> ValidationError:
    """Return the same errors in the words of a YAML author."""
    details = error.errors(include_url=False)
    return refuse(error.title, (_reworded(model, detail) for detail in details))


def _reworded(model: type[BaseModel], detail: ErrorDetails) -> Refusal:
    path, given = detail["loc"], detail["input"]
    if detail["type"] == "extra_forbidden":
        return unknown_field(model, path, given)
    message = _WORDS.get(detail["type"], detail["msg"]).replace("Tuple", "List")
    return Refusal(path, detail["type"], message, given)
