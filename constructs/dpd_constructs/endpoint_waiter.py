"""Waits until weights are there, an endpoint answers, or an endpoint is gone."""

from pathlib import Path

from aws_cdk import CfnResource, Duration, custom_resources
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from dpd.config.naming import WAITER_GROUP
from dpd_constructs.acknowledge import MANAGED_POLICY, acknowledge
from dpd_constructs.buckets import Buckets
from dpd_constructs.eks_cluster import EksCluster
from dpd_constructs.network import Network

_CODE = Path(__file__).parent / "assets" / "endpoint_waiter"


_OWN_FUNCTIONS = "The CDK's provider calls these functions of ours, in whatever version"
_ACCEPTED = {
    f"IAM4[{MANAGED_POLICY}/service-role/AWSLambdaBasicExecutionRole]": "Writes logs only",
    f"IAM4[{MANAGED_POLICY}/service-role/AWSLambdaVPCAccessExecutionRole]": (
        "Writes logs and makes the network interfaces of a function in a VPC"
    ),
    "IAM5[Resource::<EndpointWaiterOnEvent374E2F4F.Arn>:*]": _OWN_FUNCTIONS,
    "IAM5[Resource::<EndpointWaiterIsComplete9425C2AC.Arn>:*]": _OWN_FUNCTIONS,
    "IAM5[Resource::<EndpointWaiterProviderframeworkisCompleteA200096B.Arn>:*]": _OWN_FUNCTIONS,
    "IAM5[Resource::<EndpointWaiterProviderframeworkonTimeout89535AC1.Arn>:*]": _OWN_FUNCTIONS,
    "SF1": "The state machine only repeats one function, which logs every round itself",
    "SF2": "The state machine only repeats one function; a trace would show the same",
}


class EndpointWaiter(Construct):
    """One provider for all endpoints of an environment.

    The kubectl Lambda cannot wait longer than a quarter of an hour, and nodes alone may take that;
    CloudFormation waits for a custom resource one hour at most.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        eks_cluster: EksCluster,
        network: Network,
        buckets: Buckets,
    ) -> None:
        super().__init__(scope, id_)
        cluster = eks_cluster.cluster
        group = ec2.CfnSecurityGroup(
            self,
            "Group",
            vpc_id=network.vpc_id,
            group_description="Endpoint waiter: out to the Kubernetes API and S3",
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="tcp",
                    from_port=443,
                    to_port=443,
                    cidr_ip="0.0.0.0/0",
                    description="Kubernetes API and S3",
                )
            ],
        )
        ec2.CfnSecurityGroupIngress(
            self,
            "WaiterToApi",
            group_id=eks_cluster.security_group_id,
            source_security_group_id=group.attr_group_id,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            description="Endpoint waiter reads custom resources",
        )
        vpc = network.as_vpc(self, "Vpc")
        security_groups = [
            ec2.SecurityGroup.from_security_group_id(
                self, "LambdaGroup", group.attr_group_id, mutable=False
            )
        ]
        code = lambda_.Code.from_asset(str(_CODE), exclude=["__pycache__", "**/*.pyc"])
        role = self._role(buckets)
        on_event, is_complete = (
            lambda_.Function(
                self,
                name,
                runtime=lambda_.Runtime.PYTHON_3_14,
                code=code,
                handler=handler,
                role=role,
                timeout=Duration.minutes(1),
                memory_size=256,
                vpc=vpc,
                vpc_subnets=ec2.SubnetSelection(subnets=vpc.private_subnets),
                security_groups=security_groups,
                environment={
                    "CLUSTER_NAME": eks_cluster.cluster_name,
                    "CLUSTER_ENDPOINT": cluster.cluster_endpoint,
                    "CLUSTER_CERTIFICATE_AUTHORITY": cluster.cluster_certificate_authority_data,
                },
            )
            for name, handler in (
                ("OnEvent", "index.on_event"),
                ("IsComplete", "index.is_complete"),
            )
        )
        provider = custom_resources.Provider(
            self,
            "Provider",
            on_event_handler=on_event,
            is_complete_handler=is_complete,
            query_interval=Duration.seconds(20),
            # The outer bound: the function gives up after 50 minutes, and says what is missing.
            total_timeout=Duration.minutes(55),
        )
        acknowledge(self, _ACCEPTED)
        self.service_token = provider.service_token
        # A group and not a policy: it may read what an endpoint's own Role names, no more.
        CfnResource(
            self,
            "AccessEntry",
            type="AWS::EKS::AccessEntry",
            properties={
                "ClusterName": eks_cluster.cluster_name,
                "PrincipalArn": role.role_arn,
                "KubernetesGroups": [WAITER_GROUP],
                "Type": "STANDARD",
            },
        )

    def _role(self, buckets: Buckets) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(
                    "service-role/AWSLambdaVPCAccessExecutionRole"
                )
            ],
        )
        role.add_to_policy(
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[buckets.models_arn])
        )
        return role
