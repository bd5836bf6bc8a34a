"""What every configuration model shares."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
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
