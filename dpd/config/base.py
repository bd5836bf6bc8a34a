"""What every configuration model shares."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel


class Config(BaseModel):
    """A frozen part of an environment file: camelCase keys, no unknown ones.

    Values are strict: YAML's `yes` or an unquoted account id never turns into something else.
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        # Validators are built on first use, and docstrings are read by the schema only: together
        # these take as long as everything else in a check.
        defer_build=True,
        protected_namespaces=(),
    )


Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=40)]
"""Lower-case letters, digits and hyphens, as Kubernetes and CloudFormation both accept."""


def default_kind(key: str, kind: str) -> BeforeValidator:
    """Let `key`, which tells the kinds of a mapping apart, be left out: it is `kind` then."""

    def filled(data: Any) -> Any:
        return {key: kind, **data} if isinstance(data, Mapping) else data

    return BeforeValidator(filled)
