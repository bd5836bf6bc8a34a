"""What stands before a synth: an environment with errors does not pass."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpd.config import Environment
from dpd.config.loader import environment_from, environment_source
from dpd.errors import UserError
from dpd.rules.check import check_environment
from dpd.rules.finding import Finding, Severity


def checked_environment(context: Mapping[str, Any]) -> tuple[Environment, Sequence[Finding]]:
    """Return the environment that the context chooses, and the rules' warnings about it.

    Raises:
        UserError: One line per mistake or per error that the rules find.
    """
    source = environment_source(context)
    environment = environment_from(source, name=str(context["env"]))
    findings = check_environment(environment, source)
    errors = [str(each) for each in findings if each.severity is Severity.ERROR]
    if errors:
        raise UserError(*errors)
    return environment, [each for each in findings if each.severity is Severity.WARNING]
