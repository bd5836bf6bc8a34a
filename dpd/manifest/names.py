"""How attributes are spelled in the custom resource, and which names are known where."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import get_args

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

Path = tuple[str | int, ...]
"""Field names and list positions that lead to a value."""

IRREGULAR_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "commit_sha": "commitSHA",
        "initial_replica_count": "InitialReplicaCount",
        "max_payload_size_kb": "maxPayloadSizeKB",
        "same_az": "sameAZ",
    }
)
"""Attributes whose name in the custom resource is not plain camelCase."""


def manifest_name(attribute: str) -> str:
    """Return how the custom resource spells an attribute."""
    return IRREGULAR_NAMES.get(attribute) or to_camel(attribute)


def fields_at(model: type[BaseModel], path: Path) -> Mapping[str, type[BaseModel] | None]:
    """Return the fields of the object at `path` and the model behind each.

    Nothing is returned where the path leaves the models, as it does in an untyped mapping.
    """
    fields = _fields(model)
    for step in path:
        if isinstance(step, int):
            continue
        inner = fields.get(step)
        fields = _fields(inner) if inner else {}
    return fields


def _fields(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    return {
        manifest_name(attribute): next(_models(field.annotation), None)
        for attribute, field in model.model_fields.items()
    }


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
