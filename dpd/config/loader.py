"""From an environment file and context parameters to one checked `Environment`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpd.config.consistency import problems
from dpd.config.context import overridden
from dpd.config.environment import Environment, EnvironmentFile
from dpd.config.report import line, validate
from dpd.config.source import Source, read_source
from dpd.errors import UserError, suggestion

ENVIRONMENTS = Path(__file__).parents[2] / "environments"


def load_environment(context: Mapping[str, Any], *, folder: Path = ENVIRONMENTS) -> Environment:
    """Return the environment that `-c env=NAME` chooses, with the other parameters applied.

    Raises:
        UserError: One line per mistake, with the file and line or the parameter it stands in.
    """
    name = context.get("env")
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if not name:
        raise UserError(f"no environment chosen; add -c env=NAME, one of: {', '.join(known)}")
    if name not in known:
        raise UserError(f"-c env={name}: no file {folder.name}/{name}.yaml; {suggestion(name, known)}")
    path = folder / f"{name}.yaml"
    source = overridden(read_source(path, name=f"{folder.name}/{path.name}"), context)
    return environment_from(source, name=name)


def environment_from(source: Source, *, name: str) -> Environment:
    """Return a checked environment; `UserError` lists every mistake."""
    validate(EnvironmentFile, source)
    named = Source(name=source.name, data={**source.data, "name": name}, places=source.places)
    environment = validate(Environment, named)
    found = [line(source, path, message) for path, message in problems(environment)]
    if found:
        raise UserError(*found)
    return environment
