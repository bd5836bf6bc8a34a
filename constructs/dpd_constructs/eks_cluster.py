"""The EKS cluster and its system nodes."""

from collections.abc import Callable
from typing import cast

from aws_cdk import Annotations, CfnResource, CfnTag
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from dpd.catalog import addons
from dpd.config import Environment
from dpd.config.naming import cluster_name
from dpd_constructs.acknowledge import MANAGED_POLICY, acknowledge
from dpd_constructs.efa_security_group import EfaSecurityGroup
from dpd_constructs.network import Network

_KUBECTL = "The CDK's kubectl function, which acts for this stack only"
_ECR_PUBLIC = (
    '{"Fn::If":["EksClusterKubectlProviderHandlerHasEcrPublicC426D1A5",{"Fn::Join":["",["arn:",'
    '{"Ref":"AWS::Partition"},":iam::aws:policy/AmazonElasticContainerRegistryPublicReadOnly"]]},'
    '{"Ref":"AWS::NoValue"}]}'
)
_ACCEPTED = {
    f"IAM4[{MANAGED_POLICY}/AmazonEKSClusterPolicy]": "What EKS itself asks for",
    f"IAM4[{MANAGED_POLICY}/AmazonEKSWorkerNodePolicy]": "What EKS nodes must have",
    f"IAM4[{MANAGED_POLICY}/AmazonEKS_CNI_Policy]": "The VPC CNI of the nodes needs it at boot",
    f"IAM4[{MANAGED_POLICY}/AmazonEC2ContainerRegistryReadOnly]": "Pulls images and charts",
    f"IAM4[{MANAGED_POLICY}/service-role/AWSLambdaBasicExecutionRole]": "Writes logs only",
    f"IAM4[{MANAGED_POLICY}/service-role/AWSLambdaVPCAccessExecutionRole]": (
        "Writes logs and makes the network interfaces of a function in a VPC"
    ),
    f"IAM4[Policy::{_ECR_PUBLIC}]": "Pulls public charts",
    "IAM5[Resource::<EksClusterKubectlProviderHandlerDA75FB7A.Arn>:*]": _KUBECTL,
    "L1": "The CDK chooses and tests the runtime of its kubectl function",
}


class EksCluster(Construct):
    """EKS with ordinary nodes for everything but workers, and the add-ons that every pod needs."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        network: Network,
        efa_security_group: EfaSecurityGroup,
    ) -> None:
        super().__init__(scope, id_)
        config = environment.cluster
        version = config.kubernetes_version
        self._environment = environment
        vpc = network.as_vpc(self, "Vpc")
        subnets = ec2.SubnetSelection(subnets=vpc.private_subnets)
        key = kms.Key(
            self, "SecretsKey", description="Kubernetes secrets", enable_key_rotation=True
        )
        cluster = eks.Cluster(
            self,
            "Cluster",
            cluster_name=cluster_name(environment),
            version=eks.KubernetesVersion.of(version),
            vpc=vpc,
            vpc_subnets=[subnets],
            # Auto Mode, the default, manages nodes of its own and is not supported by HyperPod.
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            endpoint_access=self._endpoint_access(),
            kubectl_provider_options=eks.KubectlProviderOptions(
                kubectl_layer=kubectl_layer(version)(self, "KubectlLayer")
            ),
            # Makes the control plane a member of the GPU nodes' group: that is how they meet.
            security_group=ec2.SecurityGroup.from_security_group_id(
                self, "EfaGroup", efa_security_group.group_id, mutable=False
            ),
            secrets_encryption_key=key,
            cluster_logging=list(eks.ClusterLoggingTypes),
            # Each custom resource is a manifest of its own, so nothing is left for pruning.
            prune=False,
            output_config_command=False,
        )
        # Python's Cluster lacks a member of the interface that the CDK says it implements.
        self.cluster = cast(eks.ICluster, cluster)
        acknowledge(cluster, _ACCEPTED)
        Annotations.of(cluster).acknowledge_warning(
            "@aws-cdk/aws-eks:clusterMustManuallyTagSubnet", "tagged in the foundation stack"
        )
        self.cluster_name = self.cluster.cluster_name
        self.security_group_id = self.cluster.cluster_security_group_id
        self.kubectl_service_token = cast(
            eks.IKubectlProvider, cluster.kubectl_provider
        ).service_token
        provider = eks.OidcProviderNative(
            self, "OidcProvider", url=cluster.cluster_open_id_connect_issuer_url
        )
        self.oidc_issuer = provider.oidc_provider_issuer
        self.oidc_provider_arn = provider.oidc_provider_arn
        self._join(efa_security_group)
        for arn in config.administrator_role_arns:
            # By name, not by position: whoever leaves the list takes no other's entry along.
            cluster.grant_cluster_admin(f"Administrator-{arn.partition(':role/')[2]}", arn)
        nodes = self._system_nodes(cluster, subnets)
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            self.addon(name)
        self.addon("coredns", after=nodes)

    def addon(
        self,
        name: str,
        *,
        scope: Construct | None = None,
        after: Construct | None = None,
        role: iam.IRole | None = None,
        configuration: str | None = None,
    ) -> CfnResource:
        """Install an EKS add-on at the environment's version, else at EKS's default.

        Not the L2, which takes no role, nor the L1, whose module costs more than it checks.
        """
        config = self._environment.cluster
        version = config.addon_versions.get(name) or addons()[name].versions.get(
            config.kubernetes_version
        )
        properties = {
            "AddonName": name,
            "AddonVersion": version,
            "ClusterName": self.cluster_name,
            "ResolveConflicts": "OVERWRITE",
            "ServiceAccountRoleArn": role.role_arn if role else None,
            "ConfigurationValues": configuration,
        }
        addon = CfnResource(
            scope or self,
            "".join(word.capitalize() for word in name.split("-")),
            type="AWS::EKS::Addon",
            properties={key: value for key, value in properties.items() if value is not None},
        )
        if after is not None:
            addon.node.add_dependency(after)
        return addon

    def _endpoint_access(self) -> eks.EndpointAccess:
        cidrs = [str(cidr) for cidr in self._environment.cluster.public_access_cidrs]
        if not cidrs:
            return eks.EndpointAccess.PRIVATE
        return eks.EndpointAccess.PUBLIC_AND_PRIVATE.only_from(*cidrs)

    def _join(self, efa_security_group: EfaSecurityGroup) -> None:
        """Let pods on system nodes and pods on GPU nodes reach each other: DNS, router, metrics."""
        nodes, gpu = self.security_group_id, efa_security_group.group_id
        for id_, group, source in (("GpuToSystem", nodes, gpu), ("SystemToGpu", gpu, nodes)):
            ec2.CfnSecurityGroupIngress(
                self,
                id_,
                group_id=group,
                source_security_group_id=source,
                ip_protocol="-1",
                description="Pods on system nodes and on GPU nodes",
            )

    def _system_nodes(self, cluster: eks.Cluster, subnets: ec2.SubnetSelection) -> eks.Nodegroup:
        config = self._environment.cluster.system_nodes
        template = ec2.CfnLaunchTemplate(
            self,
            "SystemNodeTemplate",
            launch_template_data=ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
                block_device_mappings=[
                    ec2.CfnLaunchTemplate.BlockDeviceMappingProperty(
                        device_name="/dev/xvda",
                        ebs=ec2.CfnLaunchTemplate.EbsProperty(
                            encrypted=True, volume_size=100, volume_type="gp3"
                        ),
                    )
                ],
                metadata_options=ec2.CfnLaunchTemplate.MetadataOptionsProperty(
                    http_tokens="required",
                    # The operator's load balancer controller reads region and VPC from a pod.
                    http_put_response_hop_limit=2,
                ),
                tag_specifications=[
                    ec2.CfnLaunchTemplate.TagSpecificationProperty(
                        resource_type="instance",
                        tags=[
                            CfnTag(key="Name", value=f"{cluster_name(self._environment)}/system")
                        ],
                    )
                ],
            ),
        )
        nodes = cluster.add_nodegroup_capacity(
            "SystemNodes",
            instance_types=[ec2.InstanceType(config.instance_type)],
            ami_type=eks.NodegroupAmiType.AL2023_X86_64_STANDARD,
            desired_size=config.count,
            min_size=config.count,
            max_size=config.count + 1,
            subnets=subnets,
            launch_template_spec=eks.LaunchTemplateSpec(
                id=template.ref, version=template.attr_latest_version_number
            ),
        )
        # Without it nodes would stay on the version that they were made with.
        resource = cast(CfnResource, nodes.node.default_child)
        resource.add_property_override("Version", self._environment.cluster.kubernetes_version)
        return nodes


def kubectl_layer(version: str) -> Callable[[Construct, str], lambda_.ILayerVersion]:
    """Return the kubectl of the cluster's own version; only that one is loaded."""
    if version == "1.33":
        from aws_cdk.lambda_layer_kubectl_v33 import KubectlV33Layer

        return KubectlV33Layer
    if version == "1.34":
        from aws_cdk.lambda_layer_kubectl_v34 import KubectlV34Layer

        return KubectlV34Layer
    from aws_cdk.lambda_layer_kubectl_v35 import KubectlV35Layer

    return KubectlV35Layer
