"""What every part of the InferenceEndpointConfig custom resource shares."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from dpd.manifest.names import manifest_name
from dpd.manifest.refusals import with_suggestions


class ManifestModel(BaseModel):
    """A frozen part of the custom resource.

    Python code builds it by attribute name; documents are read by the custom resource's names
    only. Values are strict, because the API server converts nothing either.
    """

    # Irregular names stand in a table instead of Field(alias=...), which type checkers would
    # demand in constructor calls. Validators are built on first use: importing stays cheap.
    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=manifest_name,
        validate_by_name=True,
        validate_by_alias=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    @classmethod
    def from_manifest(cls, data: object) -> Self:
        """Read parsed YAML or JSON in the custom resource's spelling.

        Raises:
            ValidationError: with the field's path; an unknown field names the nearest right one.
        """
        try:
            return cls.model_validate(data, by_alias=True, by_name=False)
        except ValidationError as error:
            raise with_suggestions(cls, error) from None

    def to_manifest(self) -> dict[str, Any]:
        """Return plain data with what was set, in order of declaration.

        A default that was written out is kept; one that was not is left to the API server.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
