"""The role that HyperPod nodes run under."""

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from dpd.config import Environment
from dpd_constructs.acknowledge import MANAGED_POLICY, acknowledge, in_finding
from dpd_constructs.buckets import Buckets
from dpd_constructs.efa_security_group import EfaSecurityGroup


class ExecutionRole(Construct):
    """The managed policy and what the guide's `Prerequisites for IAM` adds to it for EKS.

    With the managed policy alone, creating the cluster fails at the check of its subnets.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        buckets: Buckets,
        gpu_subnet: ec2.CfnSubnet,
        security_group: EfaSecurityGroup,
    ) -> None:
        super().__init__(scope, id_)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(
                    "AmazonSageMakerClusterInstanceRolePolicy"
                )
            ],
            inline_policies={
                "Nodes": iam.PolicyDocument(
                    statements=_statements(
                        environment,
                        lifecycle_bucket_arn=buckets.lifecycle_arn,
                        gpu_subnet_id=gpu_subnet.ref,
                        security_group_id=security_group.group_id,
                    )
                )
            },
        )
        acknowledge(self.role, _accepted(environment, buckets))


def _accepted(environment: Environment, buckets: Buckets) -> dict[str, str]:
    interfaces = f"ec2:{environment.region}:{environment.account}:network-interface/*"
    service_owned = "HyperPod makes these in an account of the service: their ids come later"
    return {
        f"IAM4[{MANAGED_POLICY}/AmazonSageMakerClusterInstanceRolePolicy]": (
            "HyperPod requires it and widens it as nodes learn to do more"
        ),
        "IAM5[Resource::*]": "EC2 describe calls and the ECR login take no resource",
        f"IAM5[Resource::arn:<AWS::Partition>:{interfaces}]": service_owned,
        "IAM5[Resource::arn:<AWS::Partition>:ec2:*:*:instance/*]": service_owned,
        "IAM5[Resource::arn:<AWS::Partition>:ecr:*:*:repository/*]": (
            "Add-on images lie in accounts of AWS's that differ by add-on and region; pull only"
        ),
        f"IAM5[Resource::{in_finding(buckets.lifecycle_arn)}/*]": "Reads the lifecycle scripts",
    }


def _statements(
    environment: Environment,
    *,
    lifecycle_bucket_arn: str,
    gpu_subnet_id: str,
    security_group_id: str,
) -> list[iam.PolicyStatement]:
    partition = Aws.PARTITION
    ec2_arn = f"arn:{partition}:ec2:{environment.region}:{environment.account}"
    interfaces = f"{ec2_arn}:network-interface/*"
    return [
        iam.PolicyStatement(
            sid="Describe",  # none of these actions takes a resource
            actions=[
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeInstances",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeTags",
                "ec2:DescribeVpcs",
                "ecr:GetAuthorizationToken",
            ],
            resources=["*"],
        ),
        iam.PolicyStatement(
            sid="CreateNetworkInterfaces",
            actions=["ec2:CreateNetworkInterface"],
            resources=[
                interfaces,
                f"{ec2_arn}:security-group/{security_group_id}",
                f"{ec2_arn}:subnet/{gpu_subnet_id}",
            ],
        ),
        iam.PolicyStatement(
            sid="ManageNetworkInterfaces",
            actions=[
                "ec2:AssignPrivateIpAddresses",
                "ec2:AttachNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DetachNetworkInterface",
                "ec2:ModifyNetworkInterfaceAttribute",
                "ec2:UnassignPrivateIpAddresses",
            ],
            # Nodes live in an account of the service: neither they nor their interfaces have
            # names or tags that are known beforehand.
            resources=[interfaces, f"arn:{partition}:ec2:*:*:instance/*"],
        ),
        iam.PolicyStatement(
            sid="TagNetworkInterfaces",
            actions=["ec2:CreateTags"],
            resources=[interfaces],
        ),
        iam.PolicyStatement(
            sid="ReadLifecycleScripts",
            actions=["s3:GetObject", "s3:ListBucket"],
            resources=[lifecycle_bucket_arn, f"{lifecycle_bucket_arn}/*"],
        ),
        iam.PolicyStatement(
            sid="PullImages",
            actions=[
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            # Images of AWS's own accounts, a different one for each add-on and region.
            resources=[f"arn:{partition}:ecr:*:*:repository/*"],
        ),
    ]
