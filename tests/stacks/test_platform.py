"""In which order the operator comes to be."""

from tests.dpd_constructs.test_inference_operator import ADDON, configuration
from tests.synthesized import Synthesized

BEFORE = {
    "aws-mountpoint-s3-csi-driver",
    "aws-fsx-csi-driver",
    "cert-manager",
    "metrics-server",
}


def test_operator_waits_for_what_it_looks_for(shipped: Synthesized) -> None:
    """Its init container gives up where a storage driver or cert-manager is missing."""
    template = shipped["platform"]
    operator, _ = template.only("AWS::EKS::Addon", AddonName=ADDON)
    needed = template.needs(operator)
    for name in BEFORE:
        assert template.only("AWS::EKS::Addon", AddonName=name)[0] in needed
    assert len(template.of_type("AWS::EKS::Addon")) == len(BEFORE) + 1


def test_operator_waits_for_its_roles(shipped: Synthesized) -> None:
    """All three, and the policies on them: its controllers read them when they start."""
    template, values = shipped["platform"], configuration(shipped)
    operator, _ = template.only("AWS::EKS::Addon", AddonName=ADDON)
    arns = [
        values["executionRoleArn"],
        values["alb"]["serviceAccount"]["roleArn"],
        values["keda"]["auth"]["aws"]["irsa"]["roleArn"],
    ]
    roles = {arn.strip("<>").partition(".")[0] for arn in arns}
    assert len(roles) == 3
    assert roles <= template.needs(operator)
    policies = {
        id_
        for id_, policy in template.of_type("AWS::IAM::Policy").items()
        if any({"Ref": role} in policy["Properties"]["Roles"] for role in roles)
    }
    assert policies <= template.needs(operator)


def test_it_stands_on_the_cluster(shipped: Synthesized) -> None:
    """The HyperPod cluster, whose ARN the operator is told, is in that stack."""
    assert f"{shipped.prefix}-cluster" in shipped.artifact("platform")["dependencies"]


def test_it_does_not_wait_for_endpoints(shipped: Synthesized) -> None:
    """They come and go while it stays."""
    assert not [d for d in shipped.artifact("platform")["dependencies"] if "-endpoint-" in d]
