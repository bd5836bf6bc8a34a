"""What endpoints stand on: storage drivers, certificates, metrics, the inference operator."""

from constructs import Construct

from dpd.config import Environment
from dpd.config.naming import stack_name
from dpd_constructs.csi_drivers import CsiDrivers
from dpd_constructs.endpoint_waiter import EndpointWaiter
from dpd_constructs.inference_operator import InferenceOperator
from stacks.base import EnvironmentStack
from stacks.cluster import ClusterStack
from stacks.foundation import FoundationStack


class PlatformStack(EnvironmentStack):
    """Add-ons, the operator with its roles, and the waiter that endpoints share."""

    def __init__(
        self,
        scope: Construct,
        *,
        environment: Environment,
        foundation: FoundationStack,
        cluster: ClusterStack,
    ) -> None:
        super().__init__(
            scope,
            stack_name(environment, "platform"),
            environment=environment,
            description="hyperpod-dpd: storage drivers and inference operator",
        )
        buckets = foundation.buckets
        csi_drivers = CsiDrivers(
            self,
            "CsiDrivers",
            eks_cluster=cluster.eks_cluster,
            buckets=buckets,
        )
        cert_manager = cluster.eks_cluster.addon("cert-manager", scope=self)
        metrics_server = cluster.eks_cluster.addon("metrics-server", scope=self)
        InferenceOperator(
            self,
            "InferenceOperator",
            environment=environment,
            eks_cluster=cluster.eks_cluster,
            hyperpod_cluster_arn=cluster.hyperpod_cluster.cluster_arn,
            tls_bucket=buckets.tls,
            after=[csi_drivers, cert_manager, metrics_server],
        )
        self.waiter = EndpointWaiter(
            self,
            "EndpointWaiter",
            eks_cluster=cluster.eks_cluster,
            network=foundation.network,
            buckets=buckets,
        )
