"""Kubernetes objects that the cluster's kubectl function applies and deletes."""

import json
from collections.abc import Sequence
from typing import Any

from aws_cdk import CfnResource
from constructs import Construct

from dpd_constructs.eks_cluster import EksCluster


class KubernetesManifest(CfnResource):
    """The resource that `eks.KubernetesManifest` makes, and nothing beside it.

    An environment may have a hundred endpoints with two manifests each: that construct reads
    every one of them to prune and to annotate, which nothing here needs, and doubles their cost.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        eks_cluster: EksCluster,
        manifest: Sequence[Any],
    ) -> None:
        super().__init__(
            scope,
            id_,
            type="Custom::AWSCDK-EKS-KubernetesResource",
            properties={
                "ServiceToken": eks_cluster.kubectl_service_token,
                "ClusterName": eks_cluster.cluster_name,
                "Manifest": json.dumps(manifest, separators=(",", ":")),
            },
        )
