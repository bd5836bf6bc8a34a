"""Operator: versions of the add-ons that it needs, and of its own."""

from collections.abc import Iterator

from dpd.config import DisaggregatedEndpoint, Environment
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule

OPERATOR_ADDON = "amazon-sagemaker-hyperpod-inference"
_FIRST_WITH_DPD = (1, 3, 0)
_FLOOR = (1, 5, 0)
_PREREQUISITES = {
    "aws-mountpoint-s3-csi-driver": (1, 14, 1),
    "aws-fsx-csi-driver": (1, 6, 0),
    "metrics-server": (0, 7, 2),
    "cert-manager": (1, 18, 2),
    "vpc-cni": (1, 18, 3),
}


@rule(
    "DPD603",
    Severity.ERROR,
    title="The operator knows disaggregated endpoints",
    source=sources.RELEASE_NOTES,
)
def operator_knows_disaggregation(environment: Environment) -> Iterator[Violation]:
    """Operator v3.2 is the first, in add-on v1.3.0; with an older one workers restart for ever."""
    version = environment.cluster.addon_versions.get(OPERATOR_ADDON)
    if version and _has_disaggregated(environment) and _numbers(version) < _FIRST_WITH_DPD:
        yield Violation(
            _addon_path(OPERATOR_ADDON),
            f"given {version}",
            "v1.3.0 or newer",
            "use v1.5.0-eksbuild.1",
        )


@rule(
    "DPD604",
    Severity.WARNING,
    title="The operator is of the line that this project was made for",
    source=sources.GATEWAY_GUIDE,
)
def operator_is_of_the_line(environment: Environment) -> Iterator[Violation]:
    """Before v1.5.0 the routing Service could get lost; v2 takes another configuration.

    The gateway of v2 wants a role of its own before the add-on is installed.
    """
    version = environment.cluster.addon_versions.get(OPERATOR_ADDON)
    if not version:
        return
    numbers = _numbers(version)
    is_refused = _has_disaggregated(environment) and numbers < _FIRST_WITH_DPD
    if not is_refused and not _FLOOR <= numbers < (2, 0, 0):
        yield Violation(
            _addon_path(OPERATOR_ADDON), f"given {version}", "v1.5.0 up to v2.0.0", "remove it"
        )


@rule(
    "DPD605",
    Severity.ERROR,
    title="Add-ons are as new as the operator needs them",
    source=sources.OPERATOR_SETUP,
)
def addons_are_new_enough(environment: Environment) -> Iterator[Violation]:
    """The operator's own installation checks for the drivers, and HyperPod for the network."""
    for name, version in environment.cluster.addon_versions.items():
        least = _PREREQUISITES.get(name)
        if least and _numbers(version) < least:
            newest = "v" + ".".join(map(str, least))
            yield Violation(
                _addon_path(name), f"given {version}", f"{newest} or newer", "raise it or remove it"
            )


def _has_disaggregated(environment: Environment) -> bool:
    return any(isinstance(each, DisaggregatedEndpoint) for each in environment.endpoints)


def _addon_path(name: str) -> tuple[str | int, ...]:
    return ("cluster", "addonVersions", name)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.removeprefix("v").split("-")[0].split(".")))
