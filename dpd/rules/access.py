"""Networking: who reaches the Kubernetes API."""

from collections.abc import Iterator

from dpd.config import Environment
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule


@rule(
    "DPD510",
    Severity.WARNING,
    title="The Kubernetes API is not open to the whole internet",
    source=sources.EKS_ENDPOINT,
)
def api_is_not_open_to_everybody(environment: Environment) -> Iterator[Violation]:
    """IAM still asks who comes, but anybody may try."""
    for index, cidr in enumerate(environment.cluster.public_access_cidrs):
        if cidr.prefixlen == 0:
            yield Violation(
                ("cluster", "publicAccessCidrs", index),
                f"given {cidr}",
                "the addresses that you come from",
                "name them, or leave the API private",
            )
