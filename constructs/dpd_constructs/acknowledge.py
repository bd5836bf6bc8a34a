"""Findings of cdk-nag's AwsSolutions pack that we accept, each with its reason."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Aws, Validations
from constructs import Construct

MANAGED_POLICY = "Policy::arn:<AWS::Partition>:iam::aws:policy"


def acknowledge(construct: Construct, reasons: Mapping[str, str]) -> None:
    """Accept findings on a construct and what is below it.

    `reasons` maps a rule, or a rule and the one finding in brackets, to what a reviewer should
    know: `{"IAM5[Resource::*]": "..."}`.
    """
    Validations.of(construct).acknowledge(
        *(
            Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason)
            for rule, reason in reasons.items()
        )
    )


def in_finding(arn: str) -> str:
    """Return an ARN the way cdk-nag spells it."""
    return arn.replace(Aws.PARTITION, "<AWS::Partition>")
