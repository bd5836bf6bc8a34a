"""EKS and HyperPod: expensive, slow to replace."""

import aws_cdk as cdk
import cdk8s
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from dpd.config import Environment
from dpd.config.naming import cluster_name, stack_name
from dpd_constructs.device_plugins import DevicePlugins
from dpd_constructs.eks_cluster import EksCluster
from dpd_constructs.execution_role import ExecutionRole
from dpd_constructs.hyperpod_cluster import HyperPodCluster
from dpd_constructs.lifecycle_scripts import LifecycleScripts
from k8s.dependencies import DependenciesChart
from stacks.base import EnvironmentStack
from stacks.foundation import FoundationStack


class ClusterStack(EnvironmentStack):
    """EKS with its system nodes, what HyperPod expects on it, then HyperPod."""

    def __init__(
        self, scope: Construct, *, environment: Environment, foundation: FoundationStack
    ) -> None:
        super().__init__(
            scope,
            stack_name(environment, "cluster"),
            environment=environment,
            description="hyperpod-dpd: EKS and HyperPod cluster",
        )
        network, buckets = foundation.network, foundation.buckets
        self.eks_cluster = EksCluster(
            self,
            "Eks",
            environment=environment,
            network=network,
            efa_security_group=foundation.efa_security_group,
        )
        cluster = self.eks_cluster.cluster
        chart = DependenciesChart(cdk8s.App(), "dependencies", environment=environment)
        dependencies = eks.KubernetesManifest(
            self, "HyperPodDependencies", cluster=cluster, manifest=chart.to_json()
        )
        device_plugins = DevicePlugins(
            self, "DevicePlugins", environment=environment, cluster=cluster
        )
        execution_role = ExecutionRole(
            self,
            "ExecutionRole",
            environment=environment,
            buckets=buckets,
            gpu_subnet=network.gpu_subnet,
            security_group=foundation.efa_security_group,
        )
        lifecycle_scripts = LifecycleScripts(self, "LifecycleScripts", buckets=buckets)
        self.hyperpod_cluster = HyperPodCluster(
            self,
            "HyperPod",
            environment=environment,
            eks_cluster=cluster,
            gpu_subnet=network.gpu_subnet,
            security_group=foundation.efa_security_group,
            execution_role=execution_role.role,
            lifecycle_scripts=lifecycle_scripts,
        )
        self.hyperpod_cluster.node.add_dependency(
            self.eks_cluster, dependencies, device_plugins, execution_role, lifecycle_scripts
        )
        cdk.CfnOutput(
            self,
            "HyperPodClusterArn",
            value=self.hyperpod_cluster.cluster_arn,
            description="HyperPod cluster",
        )
        cdk.CfnOutput(
            self,
            "KubeconfigCommand",
            value=f"aws eks update-kubeconfig --name {cluster_name(environment)}"
            f" --region {environment.region}",
            description="Run this to reach the cluster with kubectl",
        )
