"""Reads the catalog's data files."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

_FOLDER = Path(__file__).parent


class Fact(BaseModel):
    """Base of every catalog entry: frozen, no unknown keys, camelCase in the file."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        defer_build=True,
        protected_namespaces=(),
    )


def read(name: str) -> Any:
    """Return the content of `<name>.yaml` in this folder."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe loader
