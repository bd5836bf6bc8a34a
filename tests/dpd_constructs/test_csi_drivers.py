"""The storage drivers, and the one role that reads weights."""

from typing import Any

from tests.synthesized import Synthesized, text

MODELS = "arn:<AWS::Partition>:s3:::dpd-prod-models-111122223333-us-east-2"


def addon_role(made: Synthesized, addon: str) -> tuple[str, dict[str, Any]]:
    """Logical id and properties of the role that an add-on's service account takes."""
    reference = made["platform"].properties("AWS::EKS::Addon", AddonName=addon)
    part, logical_id = made.origin("platform", reference["ServiceAccountRoleArn"])
    return logical_id, made[part].resources[logical_id]["Properties"]


def grants(made: Synthesized, role: tuple[str, dict[str, Any]]) -> dict[str, str]:
    """Resource by action of everything that a role may do."""
    logical_id, properties = role
    policies = [*properties.get("Policies", [])]
    policies += [
        policy["Properties"]
        for policy in made["platform"].of_type("AWS::IAM::Policy").values()
        if {"Ref": logical_id} in policy["Properties"]["Roles"]
    ]
    return {
        action: text(statement["Resource"])
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        for action in (
            [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
        )
    }


def test_s3_driver_reads_weights_and_only_reads(prod: Synthesized) -> None:
    """Two actions on the one bucket, and its key."""
    role = addon_role(prod, "aws-mountpoint-s3-csi-driver")
    made = grants(prod, role)
    key_id, _ = prod["foundation"].only("AWS::KMS::Key")
    key = made.pop("kms:Decrypt")
    assert prod.origin("platform", {"Fn::ImportValue": key.strip("<>")}) == ("foundation", key_id)
    assert made == {"s3:ListBucket": MODELS, "s3:GetObject": f"{MODELS}/*"}
    assert "ManagedPolicyArns" not in role[1]


def test_fsx_driver_can_only_look(prod: Synthesized) -> None:
    """It must be there; nothing here uses FSx."""
    role = addon_role(prod, "aws-fsx-csi-driver")
    assert grants(prod, role) == {"fsx:DescribeFileSystems": "*"}
    assert "ManagedPolicyArns" not in role[1]


def test_roles_are_for_the_drivers_service_accounts(prod: Synthesized) -> None:
    """Of kube-system, on this cluster, and no other pod's."""
    for addon, account in (
        ("aws-mountpoint-s3-csi-driver", "s3-csi-driver-sa"),
        ("aws-fsx-csi-driver", "fsx-csi-controller-sa"),
    ):
        assert trusted_accounts(prod, addon_role(prod, addon)[1]) == {f"kube-system:{account}"}


def trusted_accounts(made: Synthesized, role: dict[str, Any]) -> set[str]:
    """Namespace and name of every service account that may take a role."""
    found = set()
    for statement in role["AssumeRolePolicyDocument"]["Statement"]:
        if statement["Action"] != "sts:AssumeRoleWithWebIdentity":
            continue
        provider = made.resource("platform", statement["Principal"]["Federated"])
        assert provider["Type"] == "AWS::IAM::OIDCProvider"
        conditions = statement["Condition"]["StringEquals"]
        written = text(_value(made, conditions))
        assert ':aud":"sts.amazonaws.com"' in written
        found.add(written.partition(':sub":"system:serviceaccount:')[2].partition('"')[0])
    return found


def _value(made: Synthesized, conditions: Any) -> Any:
    """What stands behind conditions whose keys are known at deployment only."""
    return made.resource("platform", conditions)["Properties"]["Value"]
