"""JSON Schema of environment files, for editors: `python -m dpd.config.schema`."""

import json
from typing import Any

from dpd.config.environment import EnvironmentFile
from dpd.config.loader import ENVIRONMENTS

SCHEMA_FILE = ENVIRONMENTS / "environment.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema; the description of a field is the docstring under it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **EnvironmentFile.model_json_schema(by_alias=True),
        "title": "hyperpod-dpd environment",
    }


def rendered() -> str:
    """Return the schema as it stands in the file."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(rendered(), encoding="utf-8")
