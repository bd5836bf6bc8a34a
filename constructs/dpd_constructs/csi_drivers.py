"""Storage drivers: S3 for the weights, FSx because the operator demands it."""

from collections.abc import Mapping

from aws_cdk import aws_iam as iam
from constructs import Construct

from dpd_constructs.acknowledge import acknowledge, in_finding
from dpd_constructs.buckets import Buckets
from dpd_constructs.eks_cluster import EksCluster
from dpd_constructs.service_account_role import service_account_principal


class CsiDrivers(Construct):
    """The S3 driver's role is the identity that reads the weights, and it only reads."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        eks_cluster: EksCluster,
        buckets: Buckets,
    ) -> None:
        super().__init__(scope, id_)
        s3_role = _role(
            self,
            "S3",
            eks_cluster=eks_cluster,
            service_account="s3-csi-driver-sa",
            grants={
                "s3:ListBucket": buckets.models_arn,
                "s3:GetObject": f"{buckets.models_arn}/*",
                "kms:Decrypt": buckets.model_key.key_arn,
            },
        )
        objects = f"{in_finding(buckets.models_arn)}/*"
        acknowledge(s3_role, {f"IAM5[Resource::{objects}]": "Reads every model; reads only"})
        eks_cluster.addon("aws-mountpoint-s3-csi-driver", scope=self, role=s3_role)
        # The driver must be there but nothing here uses FSx; this is what it asks when idle.
        fsx_role = _role(
            self,
            "Fsx",
            eks_cluster=eks_cluster,
            service_account="fsx-csi-controller-sa",
            grants={"fsx:DescribeFileSystems": "*"},
        )
        acknowledge(fsx_role, {"IAM5[Resource::*]": "Listing file systems takes no resource"})
        eks_cluster.addon("aws-fsx-csi-driver", scope=self, role=fsx_role)


def _role(
    scope: Construct,
    id_: str,
    *,
    eks_cluster: EksCluster,
    service_account: str,
    grants: Mapping[str, str],
) -> iam.Role:
    """Make the role of a service account; `grants` maps an action to the one resource it is for."""
    return iam.Role(
        scope,
        f"{id_}Role",
        assumed_by=service_account_principal(
            scope,
            f"{id_}Principal",
            eks_cluster=eks_cluster,
            namespace="kube-system",
            name=service_account,
        ),
        inline_policies={
            id_: iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(actions=[action], resources=[resource])
                    for action, resource in grants.items()
                ]
            )
        },
    )
