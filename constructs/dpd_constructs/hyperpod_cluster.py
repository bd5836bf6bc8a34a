"""The HyperPod cluster: GPU nodes that join the EKS cluster."""

from typing import Any

from aws_cdk import Acknowledgment, CfnResource, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from dpd.config import Environment, InstanceGroup
from dpd.config.capacity import node_count
from dpd.config.naming import cluster_name
from dpd_constructs.efa_security_group import EfaSecurityGroup
from dpd_constructs.lifecycle_scripts import LifecycleScripts

_RATHER_ELSEWHERE = {"Key": "nvidia.com/gpu", "Value": "true", "Effect": "PreferNoSchedule"}


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
        self._execution_role_arn = execution_role.role_arn
        self._lifecycle_scripts = lifecycle_scripts
        vpc_config = {
            "Subnets": [gpu_subnet.ref],
            "SecurityGroupIds": [security_group.group_id],
        }
        # Not the typed resource: loading its module takes a thirtieth of a synth, and cfn-lint
        # knows every property of it.
        cluster = CfnResource(
            self,
            "Cluster",
            type="AWS::SageMaker::Cluster",
            properties={
                "ClusterName": cluster_name(environment),
                "Orchestrator": {"Eks": {"ClusterArn": eks_cluster.cluster_arn}},
                "VpcConfig": vpc_config,
                "NodeProvisioningMode": "Continuous",
                "NodeRecovery": "Automatic",
                "InstanceGroups": [
                    {
                        **self._instance_group(group),
                        # Said per group, since a group cannot be moved once it exists.
                        "OverrideVpcConfig": vpc_config,
                    }
                    for group in environment.cluster.instance_groups
                ],
            },
        )
        Validations.of(cluster).acknowledge(
            Acknowledgment(
                id="CloudFormation-Validate::E3644",
                reason="The CDK's list of instance types by region lags behind AWS's regions",
            )
        )
        self.cluster_arn = cluster.get_att("ClusterArn").to_string()

    def _instance_group(self, group: InstanceGroup) -> dict[str, Any]:
        properties: dict[str, Any] = {
            "InstanceGroupName": group.name,
            "InstanceType": group.instance_type,
            "InstanceCount": node_count(self._environment, group),
            "ExecutionRole": self._execution_role_arn,
            "LifeCycleConfig": {
                "SourceS3Uri": self._lifecycle_scripts.uri,
                "OnCreate": self._lifecycle_scripts.entry_point,
            },
            "InstanceStorageConfigs": [
                {"EbsVolumeConfig": {"VolumeSizeInGB": group.volume_size // 2**30}}
            ],
        }
        if group.deep_health_checks:
            properties["OnStartDeepHealthChecks"] = list(group.deep_health_checks)
        else:
            # Keeps what needs no GPU on the system nodes, where pods can ask for VPC and region.
            # Workers come all the same; HyperPod allows no taint beside deep health checks.
            properties["KubernetesConfig"] = {"Taints": [_RATHER_ELSEWHERE]}
        if group.training_plan_arn:
            properties["TrainingPlanArn"] = group.training_plan_arn
        if group.capacity == "spot":
            properties["CapacityRequirements"] = {"Spot": {}}
        if group.network_interface:
            properties["NetworkInterface"] = {"InterfaceType": group.network_interface}
        return properties
