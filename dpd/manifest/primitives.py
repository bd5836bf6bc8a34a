"""The value types of the custom resource below the level of an object."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    GetPydanticSchema,
    JsonValue,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_INT_OR_STRING = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}


class Named(Protocol):
    """Anything that is told apart by its name."""

    @property
    def name(self) -> str:
        """Name within the list."""
        ...


T = TypeVar("T")
NamedT = TypeVar("NamedT", bound=Named)


def refuse_repeats(values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list that holds something twice, as the API server does for a set."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise PydanticCustomError("repeated", f"{value!r} is there twice; remove one")
    return values


def _refuse_repeated_names(values: tuple[NamedT, ...]) -> tuple[NamedT, ...]:
    refuse_repeats(tuple(value.name for value in values))
    return values


def _int_or_string(value: object) -> int | str:
    # One function rather than int | str: a union reports one error per member.
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        return value
    raise PydanticCustomError(
        "int_or_string", "Input should be a whole number or a string; quote anything else"
    )


def _quantity(value: object) -> int | str:
    quantity = _int_or_string(value)
    if isinstance(quantity, str) and not re.fullmatch(QUANTITY_PATTERN, quantity):
        raise PydanticCustomError(
            "quantity", "Input should be a Kubernetes quantity such as 8, '500m' or '1024Gi'"
        )
    return quantity


Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1, json_schema_extra={"format": "int32"})]
"""Narrow it with `Annotated[Int32, Field(ge=0)] = 1`; in `= Field(1, ge=0)` this range wins."""
Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1, json_schema_extra={"format": "int64"})]
IntOrString = Annotated[int | str, PlainValidator(_int_or_string), WithJsonSchema(_INT_OR_STRING)]
"""A number, or a string such as the name of a port."""
Quantity = Annotated[
    int | str,
    PlainValidator(_quantity),
    WithJsonSchema({**_INT_OR_STRING, "pattern": QUANTITY_PATTERN}),
]
"""A Kubernetes quantity as it was written: `8`, `"500m"`, `"1024Gi"`. A float is refused."""
DnsName = Annotated[
    str,
    Field(
        max_length=253,
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    ),
]
"""Name of a Kubernetes object (a DNS subdomain)."""
Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A list, kept as a tuple."""
NamedItems = Annotated[
    tuple[NamedT, ...],
    Field(
        strict=False,
        json_schema_extra={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    ),
    AfterValidator(_refuse_repeated_names),
]
"""A list whose items must differ in their name."""
KubernetesObject = Annotated[
    Mapping[str, Any], GetPydanticSchema(lambda _, handler: handler(dict[str, JsonValue]))
]
"""An object of Kubernetes' own API, passed through unread.

The one exception to typing the spec: `nodeAffinity`, `initContainers` and `volumes` embed whole
core types (some 4,700 lines of schema, which change with Kubernetes and not with the operator).
The API server and kubernetes-validate judge them.
"""
