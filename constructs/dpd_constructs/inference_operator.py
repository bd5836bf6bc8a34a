"""The HyperPod inference operator: an EKS add-on with three roles."""

import json
from collections.abc import Sequence
from pathlib import Path

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IDependable

from dpd.config import Environment
from dpd.config.naming import OPERATOR_NAMESPACE, operator_role
from dpd_constructs.acknowledge import MANAGED_POLICY, acknowledge
from dpd_constructs.eks_cluster import EksCluster
from dpd_constructs.service_account_role import service_account_principal

_POLICIES = Path(__file__).parent / "policies"
_NAME = "amazon-sagemaker-hyperpod-inference"


class InferenceOperator(Construct):
    """Turns InferenceEndpointConfigs into workloads, with a load balancer controller and KEDA."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        eks_cluster: EksCluster,
        hyperpod_cluster_arn: str,
        tls_bucket: s3.IBucket,
        after: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, id_)
        self._eks_cluster = eks_cluster
        operator = self._operator_role(environment)
        load_balancer = self._role(
            "LoadBalancer",
            "aws-load-balancer-controller",
            policy=_load_balancer_policy(environment),
        )
        keda = self._role("Keda", "keda-operator", policy=_keda_policy(environment))
        acknowledge(self, _accepted(environment))
        addon = eks_cluster.addon(
            _NAME,
            scope=self,
            configuration=Stack.of(self).to_json_string(
                {
                    "executionRoleArn": operator.role_arn,
                    "tlsCertificateS3Bucket": tls_bucket.bucket_name,
                    "hyperpodClusterArn": hyperpod_cluster_arn,
                    "alb": {
                        "enabled": True,
                        "serviceAccount": {"create": True, "roleArn": load_balancer.role_arn},
                    },
                    "keda": {
                        "enabled": True,
                        "auth": {"aws": {"irsa": {"enabled": True, "roleArn": keda.role_arn}}},
                    },
                }
            ),
        )
        # Its init container looks for both storage drivers and cert-manager and gives up.
        addon.node.add_dependency(*after, operator, load_balancer, keda)

    def _role(self, id_: str, service_account: str, *, policy: iam.PolicyDocument) -> iam.Role:
        return iam.Role(
            self,
            f"{id_}Role",
            assumed_by=self._principal(f"{id_}Principal", service_account),
            inline_policies={id_: policy},
        )

    def _principal(self, id_: str, service_account: str) -> iam.WebIdentityPrincipal:
        return service_account_principal(
            self,
            id_,
            eks_cluster=self._eks_cluster,
            namespace=OPERATOR_NAMESPACE,
            name=service_account,
        )

    def _operator_role(self, environment: Environment) -> iam.Role:
        account = self._principal("OperatorPrincipal", "hyperpod-inference-controller-manager")
        return iam.Role(
            self,
            "OperatorRole",
            role_name=operator_role(environment),
            assumed_by=iam.CompositePrincipal(
                iam.ServicePrincipal("sagemaker.amazonaws.com"), account
            ),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(
                    "AmazonSageMakerHyperPodInferenceAccess"
                )
            ],
            inline_policies={
                # What AWS's troubleshooting page adds for a SageMaker endpoint within a VPC.
                "EndpointInVpc": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=[
                                "ec2:CreateNetworkInterfacePermission",
                                "ec2:DeleteNetworkInterfacePermission",
                            ],
                            resources=[
                                f"arn:{Aws.PARTITION}:ec2:{environment.region}:"
                                f"{environment.account}:network-interface/*"
                            ],
                        )
                    ]
                )
            },
        )


def _accepted(environment: Environment) -> dict[str, str]:
    own = f"{environment.region}:{environment.account}"
    named_later = "Operator and load balancer controller make these; their ids come later"
    return {
        f"IAM4[{MANAGED_POLICY}/AmazonSageMakerHyperPodInferenceAccess]": (
            "The operator's own policy; the add-on accepts no other set of permissions"
        ),
        "IAM5[Resource::*]": "Describe, list and metric calls take no resource",
        **{
            f"IAM5[Resource::arn:<AWS::Partition>:{resource}]": named_later
            for resource in (
                f"acm:{own}:certificate/*",
                f"ec2:{own}:network-interface/*",
                f"ec2:{own}:security-group-rule/*",
                f"ec2:{own}:security-group/*",
                f"ec2:{own}:vpc/*",
                f"elasticloadbalancing:{own}:listener-rule/app/*/*/*",
                f"elasticloadbalancing:{own}:listener-rule/net/*/*/*",
                f"elasticloadbalancing:{own}:listener/app/*/*/*",
                f"elasticloadbalancing:{own}:listener/net/*/*/*",
                f"elasticloadbalancing:{own}:loadbalancer/app/*/*",
                f"elasticloadbalancing:{own}:loadbalancer/net/*/*",
                f"elasticloadbalancing:{own}:targetgroup/*/*",
                f"iam::{environment.account}:server-certificate/*",
                f"shield::{environment.account}:protection/*",
                f"waf-regional:{own}:webacl/*",
                f"wafv2:{own}:regional/webacl/*/*",
            )
        },
        f"IAM5[Resource::arn:<AWS::Partition>:aps:{own}:workspace/*]": (
            "Endpoints name their Prometheus workspace in their own scaling rules; queries only"
        ),
    }


def _load_balancer_policy(environment: Environment) -> iam.PolicyDocument:
    """Return the controller's policy for this account and region.

    The one that its project publishes for version 2.13, with every `*` replaced by the kind of
    resource that the action is for, and without Outposts, IPAM and Cognito.
    """
    text = (_POLICIES / "aws_load_balancer_controller.json").read_text(encoding="utf-8")
    text = text.replace("arn:aws:", f"arn:{Aws.PARTITION}:")
    text = text.replace(":*:*:", f":{environment.region}:{environment.account}:")
    text = text.replace("::*:", f"::{environment.account}:")
    return iam.PolicyDocument.from_json(json.loads(text))


def _keda_policy(environment: Environment) -> iam.PolicyDocument:
    workspaces = f"arn:{Aws.PARTITION}:aps:{environment.region}:{environment.account}:workspace/*"
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(
                # None of these actions takes a resource.
                actions=[
                    "cloudwatch:GetMetricData",
                    "cloudwatch:GetMetricStatistics",
                    "cloudwatch:ListMetrics",
                ],
                resources=["*"],
            ),
            iam.PolicyStatement(
                actions=[
                    "aps:GetLabels",
                    "aps:GetMetricMetadata",
                    "aps:GetSeries",
                    "aps:QueryMetrics",
                ],
                resources=[workspaces],
            ),
        ]
    )
