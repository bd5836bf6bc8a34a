"""The bearer token by which EKS recognises an IAM role."""

import base64
from typing import Any

_CLUSTER_HEADER = "x-k8s-aws-id"
_EXPIRES_SECONDS = 60
"""EKS refuses more than 900; the token itself is good for 15 minutes whatever stands here."""


def eks_token(cluster_name: str, *, region: str, credentials: Any) -> str:
    """Return a token: a presigned STS GetCallerIdentity that is bound to one cluster.

    Signing asks nobody, so it needs no route to STS.

    Args:
        cluster_name: The EKS cluster; the signature covers it, so no other cluster accepts it.
        region: Whose STS the control plane shall ask who signed.
        credentials: botocore credentials of the role.
    """
    from botocore.auth import SigV4QueryAuth  # type: ignore[import-untyped]
    from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]

    request = AWSRequest(
        method="GET",
        url=f"https://sts.{region}.amazonaws.com/",
        params={"Action": "GetCallerIdentity", "Version": "2011-06-15"},
        headers={_CLUSTER_HEADER: cluster_name},
    )
    SigV4QueryAuth(credentials, "sts", region, expires=_EXPIRES_SECONDS).add_auth(request)
    encoded = base64.urlsafe_b64encode(str(request.url).encode()).decode()
    return f"k8s-aws-v1.{encoded.rstrip('=')}"
