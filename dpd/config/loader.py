"""From an environment file and context parameters to one checked `Environment`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpd.config.consistency import problems
from dpd.config.context import overridden
from dpd.config.environment import Environment, EnvironmentFile
from dpd.config.problem import ConfigError
from dpd.config.report import line, validate
from dpd.config.source import Source, read_source
from dpd.errors import UserError, shortened, suggestion

ENVIRONMENTS = Path(__file__).parents[2] / "environments"


def load_environment(context: Mapping[str, Any]) -> Environment:
    """Return the environment that `-c env=NAME` chooses, with the other parameters applied.

    Raises:
        UserError: One line per mistake, with the file and line or the parameter it stands in.
    """
    source = environment_source(context)
    return environment_from(source, name=str(context["env"]))


def environment_source(context: Mapping[str, Any]) -> Source:
    """Return the file that `-c env=NAME` chooses in the folder `-c environments=FOLDER`, unchecked.

    The other parameters are applied to it; `UserError` where that cannot be done.
    """
    folder = Path(str(context.get("environments") or ENVIRONMENTS))
    known = _names_in(folder)
    if not (name := str(context.get("env") or "")):
        raise UserError(f"no environment chosen; add -c env=NAME, one of: {', '.join(known)}")
    if name not in known:
        place = f"-c env={shortened(name)}"
        raise UserError(f"{place}: no such file in {folder.name}/; {suggestion(name, known)}")
    path = folder / f"{name}.yaml"
    return overridden(read_source(path, name=str(Path(folder.name, path.name))), context)


def _names_in(folder: Path) -> list[str]:
    """Return the environments of a folder; `UserError` where there are none."""
    try:
        names = sorted(path.stem for path in folder.glob("*.yaml"))
    except OSError:  # Such as a name that is too long.
        names = []
    if not names:
        place = f"-c environments={shortened(str(folder))}"
        raise UserError(f"{place}: no environments there; give a folder with files NAME.yaml")
    return names


def environment_from(source: Source, *, name: str) -> Environment:
    """Return a checked environment; `UserError` lists every mistake."""
    validate(EnvironmentFile, source)
    places = {**source.places, ("name",): f"{source.name}: taken from the file's name"}
    named = Source(name=source.name, data={**source.data, "name": name}, places=places)
    environment = validate(Environment, named)
    if found := list(problems(environment)):
        raise ConfigError(*(line(source, each) for each in found), problems=found)
    return environment
