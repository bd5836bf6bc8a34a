"""The HyperPod cluster: GPU nodes that join the EKS cluster."""

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from dpd.config import Environment, InstanceGroup
from dpd.config.capacity import node_count
from dpd.config.naming import cluster_name
from dpd_constructs.efa_security_group import EfaSecurityGroup
from dpd_constructs.lifecycle_scripts import LifecycleScripts


class HyperPodCluster(Construct):
    """Instance groups in one subnet; nodes are replaced when they fail.

    Continuous provisioning brings the cluster up as soon as its control plane is, and fetches
    nodes afterwards: the end of this resource's creation does not mean that a GPU exists.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        eks_cluster: eks.ICluster,
        gpu_subnet: ec2.CfnSubnet,
        security_group: EfaSecurityGroup,
        execution_role: iam.IRole,
        lifecycle_scripts: LifecycleScripts,
    ) -> None:
        super().__init__(scope, id_)
        self._environment = environment
        self._execution_role = execution_role
        self._lifecycle_scripts = lifecycle_scripts
        vpc_config = sagemaker.CfnCluster.VpcConfigProperty(
            subnets=[gpu_subnet.ref], security_group_ids=[security_group.group_id]
        )
        cluster = sagemaker.CfnCluster(
            self,
            "Cluster",
            cluster_name=cluster_name(environment),
            orchestrator=sagemaker.CfnCluster.OrchestratorProperty(
                eks=sagemaker.CfnCluster.ClusterOrchestratorEksConfigProperty(
                    cluster_arn=eks_cluster.cluster_arn
                )
            ),
            vpc_config=vpc_config,
            node_provisioning_mode="Continuous",
            node_recovery="Automatic",
            instance_groups=[
                self._instance_group(group, vpc_config)
                for group in environment.cluster.instance_groups
            ],
        )
        Validations.of(cluster).acknowledge(
            Acknowledgment(
                id="CloudFormation-Validate::E3644",
                reason="The CDK's list of instance types by region lags behind AWS's regions",
            )
        )
        self.cluster_arn = cluster.attr_cluster_arn

    def _instance_group(
        self, group: InstanceGroup, vpc_config: sagemaker.CfnCluster.VpcConfigProperty
    ) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
        cluster = sagemaker.CfnCluster
        volume = cluster.ClusterEbsVolumeConfigProperty(
            volume_size_in_gb=group.volume_size // 2**30
        )
        return cluster.ClusterInstanceGroupProperty(
            instance_group_name=group.name,
            instance_type=group.instance_type,
            instance_count=node_count(self._environment, group),
            execution_role=self._execution_role.role_arn,
            life_cycle_config=cluster.ClusterLifeCycleConfigProperty(
                source_s3_uri=self._lifecycle_scripts.uri,
                on_create=self._lifecycle_scripts.entry_point,
            ),
            # Says it per group, since a group cannot be moved once it exists.
            override_vpc_config=vpc_config,
            instance_storage_configs=[
                cluster.ClusterInstanceStorageConfigProperty(ebs_volume_config=volume)
            ],
            on_start_deep_health_checks=list(group.deep_health_checks) or None,
            training_plan_arn=group.training_plan_arn,
            capacity_requirements=(
                cluster.ClusterCapacityRequirementsProperty(spot={})
                if group.capacity == "spot"
                else None
            ),
            network_interface=(
                cluster.ClusterNetworkInterfaceProperty(interface_type=group.network_interface)
                if group.network_interface
                else None
            ),
        )
