"""IAM roles for Kubernetes service accounts."""

from aws_cdk import CfnJson
from aws_cdk import aws_iam as iam
from constructs import Construct

from dpd_constructs.eks_cluster import EksCluster


def service_account_principal(
    scope: Construct, id_: str, *, eks_cluster: EksCluster, namespace: str, name: str
) -> iam.WebIdentityPrincipal:
    """Return the principal of one service account of one cluster."""
    issuer = eks_cluster.oidc_issuer
    # The issuer is known at deployment only, and a key cannot be a token.
    conditions = CfnJson(
        scope,
        id_,
        value={
            f"{issuer}:aud": "sts.amazonaws.com",
            f"{issuer}:sub": f"system:serviceaccount:{namespace}:{name}",
        },
    )
    return iam.WebIdentityPrincipal(eks_cluster.oidc_provider_arn, {"StringEquals": conditions})
