"""The nodes' role: what the guide's prerequisites name, on what is ours."""

import re
from typing import Any

from tests.synthesized import Synthesized, text

ASKED_FOR = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
    "ec2:CreateTags",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
}
"""SageMaker guide, HyperPod's `Prerequisites for IAM`, execution role with EKS."""
MANAGED = "arn:<AWS::Partition>:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"


def role(made: Synthesized) -> dict[str, Any]:
    """Properties of the role that the instance groups name."""
    groups = made["cluster"].properties("AWS::SageMaker::Cluster")["InstanceGroups"]
    ((part, logical_id),) = {made.origin("cluster", group["ExecutionRole"]) for group in groups}
    found: dict[str, Any] = made[part].resources[logical_id]["Properties"]
    return found


def grants(made: Synthesized) -> dict[str, list[str]]:
    """Resources by action."""
    found: dict[str, list[str]] = {}
    for policy in role(made)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            actions, resources = statement["Action"], statement["Resource"]
            for action in [actions] if isinstance(actions, str) else actions:
                some = resources if isinstance(resources, list) else [resources]
                found.setdefault(action, []).extend(map(text, some))
    return found


def test_sagemaker_alone_takes_the_role(shipped: Synthesized) -> None:
    """HyperPod creates and runs nodes under it."""
    (statement,) = role(shipped)["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert [text(arn) for arn in role(shipped)["ManagedPolicyArns"]] == [MANAGED]


def test_nodes_make_interfaces_in_the_gpu_subnet_only(prod: Synthesized) -> None:
    """With the GPU nodes' group, and nowhere else in the account."""
    subnet = role_reference(prod, "subnet")
    group = role_reference(prod, "security-group")
    assert subnet["Properties"]["CidrBlock"] == str(prod.environment.network.gpu_subnet.cidr)
    assert group["Type"] == "AWS::EC2::SecurityGroup"
    account = f"{prod.environment.region}:{prod.environment.account}"
    for resource in grants(prod)["ec2:CreateNetworkInterface"]:
        assert resource.startswith(f"arn:<AWS::Partition>:ec2:{account}:")


def role_reference(made: Synthesized, kind: str) -> dict[str, Any]:
    """The resource behind `arn:...:<kind>/<reference>` of CreateNetworkInterface."""
    (arn,) = (r for r in grants(made)["ec2:CreateNetworkInterface"] if f":{kind}/" in r)
    (export,) = re.findall(r"/<(.+)>$", arn)
    return made.resource("cluster", {"Fn::ImportValue": export})


def test_nodes_read_the_lifecycle_bucket_and_no_other(prod: Synthesized) -> None:
    """The weights are not theirs to read: the storage driver has a role for that."""
    arn = "arn:<AWS::Partition>:s3:::sagemaker-dpd-prod-111122223333-us-east-2"
    s3 = {action: set(arns) for action, arns in grants(prod).items() if action.startswith("s3:")}
    assert s3 == {"s3:GetObject": {arn, f"{arn}/*"}, "s3:ListBucket": {arn, f"{arn}/*"}}


def test_nodes_pull_images_and_push_none(prod: Synthesized) -> None:
    """Of any repository: add-on images lie in accounts of AWS's."""
    assert {action for action in grants(prod) if action.startswith("ecr:")} == {
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
    }


def test_everything_the_guide_asks_for_is_granted(prod: Synthesized) -> None:
    """With one action less, creating the cluster fails at the check of its subnets."""
    assert not ASKED_FOR - set(grants(prod))
