"""The EKS cluster as HyperPod accepts it, closed to the outside, and its system nodes."""

import pytest

from tests.conftest import Synthesize
from tests.synthesized import Synthesized, text

LOGS = {"api", "audit", "authenticator", "controllerManager", "scheduler"}
BASE_ADDONS = {"vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"}
ADMINISTRATOR = "arn:aws:iam::111122223333:role/Platform"
POLICY = "arn:<AWS::Partition>:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def test_access_is_by_access_entry(shipped: Synthesized) -> None:
    """HyperPod supports no ConfigMap."""
    cluster = shipped["cluster"].properties("AWS::EKS::Cluster")
    assert cluster["AccessConfig"] == {"AuthenticationMode": "API"}
    assert cluster["Name"] == shipped.prefix


def test_auto_mode_is_off(shipped: Synthesized) -> None:
    """It is the construct's default, and HyperPod does not support it."""
    cluster = shipped["cluster"].properties("AWS::EKS::Cluster")
    assert cluster["ComputeConfig"] == {"Enabled": False}
    assert cluster["KubernetesNetworkConfig"]["ElasticLoadBalancing"] == {"Enabled": False}
    assert cluster["StorageConfig"]["BlockStorage"] == {"Enabled": False}
    assert shipped["cluster"].of_type("AWS::EKS::Nodegroup")


def test_secrets_are_encrypted_under_a_turning_key(prod: Synthesized) -> None:
    """Of the cluster's own."""
    cluster = prod["cluster"].properties("AWS::EKS::Cluster")
    (encryption,) = cluster["EncryptionConfig"]
    assert encryption["Resources"] == ["secrets"]
    key = prod.resource("cluster", encryption["Provider"]["KeyArn"])
    assert key["Type"] == "AWS::KMS::Key"
    assert key["Properties"]["EnableKeyRotation"] is True


def test_control_plane_logs_everything(prod: Synthesized) -> None:
    """All five types."""
    logging = prod["cluster"].properties("AWS::EKS::Cluster")["Logging"]
    assert {log["Type"] for log in logging["ClusterLogging"]["EnabledTypes"]} == LOGS


def test_control_plane_stands_in_two_zones_beside_the_gpu_nodes(prod: Synthesized) -> None:
    """In the system subnets, and as a member of the GPU nodes' group."""
    vpc_config = prod["cluster"].properties("AWS::EKS::Cluster")["ResourcesVpcConfig"]
    subnets = [prod.resource("cluster", s)["Properties"] for s in vpc_config["SubnetIds"]]
    assert [(s["AvailabilityZoneId"], s["CidrBlock"]) for s in subnets] == [
        (s.availability_zone_id, str(s.cidr)) for s in prod.environment.network.system_subnets
    ]
    efa_group, _ = prod["foundation"].only("AWS::EC2::SecurityGroup")
    members = [prod.origin("cluster", group) for group in vpc_config["SecurityGroupIds"]]
    assert members == [("foundation", efa_group)]


def test_api_is_private_unless_told_otherwise(shipped: Synthesized) -> None:
    """Nobody outside the VPC reaches it."""
    vpc_config = shipped["cluster"].properties("AWS::EKS::Cluster")["ResourcesVpcConfig"]
    assert vpc_config["EndpointPrivateAccess"] is True
    assert vpc_config["EndpointPublicAccess"] is False
    assert "PublicAccessCidrs" not in vpc_config


def test_api_is_open_to_the_given_blocks_only(synthesize: Synthesize) -> None:
    """And stays private for nodes and functions."""
    made = synthesize("prod", "cluster.publicAccessCidrs=[203.0.113.0/24, 198.51.100.7/32]")
    vpc_config = made["cluster"].properties("AWS::EKS::Cluster")["ResourcesVpcConfig"]
    assert vpc_config["EndpointPrivateAccess"] is True
    assert vpc_config["EndpointPublicAccess"] is True
    assert vpc_config["PublicAccessCidrs"] == ["203.0.113.0/24", "198.51.100.7/32"]


@pytest.mark.parametrize("version", ["1.33", "1.34", "1.35"])
def test_kubectl_is_of_the_clusters_version(synthesize: Synthesize, version: str) -> None:
    """Two minor versions away from the server, kubectl is not supported."""
    template = synthesize("prod", f"cluster.kubernetesVersion={version}")["cluster"]
    assert template.properties("AWS::EKS::Cluster")["Version"] == version
    layers = [
        resource["Properties"]["Description"]
        for resource in template.of_type("AWS::Lambda::LayerVersion").values()
        if "kubectl" in resource["Properties"].get("Description", "")
    ]
    assert len(layers) == 1
    assert f"kubectl {version}." in layers[0]


def test_kubectl_function_stands_in_the_vpc(prod: Synthesized) -> None:
    """It must reach an API that is private."""
    template = prod["cluster"]
    (layer,) = (
        id_
        for id_, layer in template.of_type("AWS::Lambda::LayerVersion").items()
        if "kubectl" in layer["Properties"].get("Description", "")
    )
    functions = [
        resource["Properties"]
        for resource in template.of_type("AWS::Lambda::Function").values()
        if {"Ref": layer} in resource["Properties"].get("Layers", [])
    ]
    assert [len(function["VpcConfig"]["SubnetIds"]) for function in functions] == [2]


def test_administrators_are_those_of_the_file(synthesize: Synthesize, prod: Synthesized) -> None:
    """Beside the one function that applies manifests, which always is one."""

    def administrators(made: Synthesized) -> list[str]:
        return [
            text(entry["Properties"]["PrincipalArn"])
            for entry in made["cluster"].of_type("AWS::EKS::AccessEntry").values()
            for policy in entry["Properties"]["AccessPolicies"]
            if text(policy["PolicyArn"]) == POLICY
        ]

    added = synthesize("prod", f"cluster.administratorRoleArns=[{ADMINISTRATOR}]")
    assert set(administrators(added)) - set(administrators(prod)) == {ADMINISTRATOR}
    assert len(administrators(prod)) == 1


def test_system_nodes_are_amd64_and_many_enough(shipped: Synthesized) -> None:
    """The operator has no other build."""
    nodes = shipped["cluster"].properties("AWS::EKS::Nodegroup")
    config = shipped.environment.cluster.system_nodes
    assert nodes["AmiType"] == "AL2023_x86_64_STANDARD"
    assert nodes["InstanceTypes"] == [config.instance_type]
    assert nodes["ScalingConfig"]["MinSize"] == config.count
    assert nodes["ScalingConfig"]["DesiredSize"] == config.count
    assert len(nodes["Subnets"]) == 2


def test_system_nodes_keep_no_plain_disks_and_no_plain_metadata(prod: Synthesized) -> None:
    """Encrypted volumes; IMDSv2 only, one hop further for the load balancer controller's pod."""
    nodes = prod["cluster"].properties("AWS::EKS::Nodegroup")
    template = prod.resource("cluster", nodes["LaunchTemplate"]["Id"])
    data = template["Properties"]["LaunchTemplateData"]
    assert [disk["Ebs"]["Encrypted"] for disk in data["BlockDeviceMappings"]] == [True]
    assert data["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}


def test_pods_on_system_and_gpu_nodes_reach_each_other(prod: Synthesized) -> None:
    """DNS, the router and metrics on one side, workers on the other."""
    template = prod["cluster"]
    cluster, _ = template.only("AWS::EKS::Cluster")
    efa_group, _ = prod["foundation"].only("AWS::EC2::SecurityGroup")
    nodes, gpu = ("cluster", cluster), ("foundation", efa_group)
    rules = [r["Properties"] for r in template.of_type("AWS::EC2::SecurityGroupIngress").values()]
    pairs = {
        (
            prod.origin("cluster", rule["SourceSecurityGroupId"]),
            prod.origin("cluster", rule["GroupId"]),
        )
        for rule in rules
        if rule["IpProtocol"] == "-1"
    }
    assert pairs == {(nodes, gpu), (gpu, nodes)}


def test_base_addons_are_pinned_by_the_catalog(shipped: Synthesized) -> None:
    """And go onto this cluster; CoreDNS after the nodes, since it is not healthy without one."""
    template = shipped["cluster"]
    cluster, _ = template.only("AWS::EKS::Cluster")
    addons = {a["Properties"]["AddonName"]: a for a in template.of_type("AWS::EKS::Addon").values()}
    assert set(addons) == BASE_ADDONS
    assert {a["Properties"]["ClusterName"]["Ref"] for a in addons.values()} == {cluster}
    coredns, _ = template.only("AWS::EKS::Addon", AddonName="coredns")
    assert template.only("AWS::EKS::Nodegroup")[0] in template.needs(coredns)


def test_addon_versions_of_the_file_win(synthesize: Synthesize, prod: Synthesized) -> None:
    """For one add-on and no other."""

    def versions(made: Synthesized) -> dict[str, str | None]:
        return {
            addon["Properties"]["AddonName"]: addon["Properties"].get("AddonVersion")
            for template in made.templates.values()
            for addon in template.of_type("AWS::EKS::Addon").values()
        }

    pinned = synthesize("prod", "cluster.addonVersions.cert-manager=v1.18.2-eksbuild.2")
    assert versions(pinned) == {**versions(prod), "cert-manager": "v1.18.2-eksbuild.2"}
    assert versions(prod)["vpc-cni"]


def test_service_accounts_have_a_provider_to_trust(prod: Synthesized) -> None:
    """Of this cluster's issuer."""
    cluster, _ = prod["cluster"].only("AWS::EKS::Cluster")
    provider = prod["cluster"].properties("AWS::IAM::OIDCProvider")
    assert provider["Url"] == {"Fn::GetAtt": [cluster, "OpenIdConnectIssuerUrl"]}
    assert provider["ClientIdList"] == ["sts.amazonaws.com"]


def test_system_nodes_are_of_the_clusters_version(shipped: Synthesized) -> None:
    """Without it an upgrade of the cluster would leave them behind."""
    _, nodes = shipped["cluster"].only("AWS::EKS::Nodegroup")
    _, cluster = shipped["cluster"].only("AWS::EKS::Cluster")
    assert nodes["Version"] == cluster["Version"]


def test_an_administrator_who_leaves_takes_no_other_along(synthesize: Synthesize) -> None:
    """The entry of who stays keeps its logical id, or CloudFormation would make it twice."""
    alice, bob = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Alice", "Bob"))

    def entries(*arns: str) -> dict[str, str]:
        setting = f"cluster.administratorRoleArns=[{', '.join(arns)}]"
        found = synthesize("prod", setting)["cluster"].of_type("AWS::EKS::AccessEntry")
        return {
            id_: entry["Properties"]["PrincipalArn"]
            for id_, entry in found.items()
            if entry["Properties"]["PrincipalArn"] in arns
        }

    both, one = entries(alice, bob), entries(bob)
    assert len(both) == 2
    assert one.items() <= both.items()
