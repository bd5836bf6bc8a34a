"""The HyperPod cluster: every group of the file, all in one subnet of one zone."""

from typing import Any

import pytest

from dpd.config.capacity import node_count
from tests.conftest import Synthesize
from tests.synthesized import Synthesized

PLAN = "arn:aws:sagemaker:us-east-2:111122223333:training-plan/p5-november"


def cluster(made: Synthesized) -> dict[str, Any]:
    """Properties of the cluster."""
    return made["cluster"].properties("AWS::SageMaker::Cluster")


def groups(made: Synthesized) -> dict[str, dict[str, Any]]:
    """Instance groups by name."""
    return {group["InstanceGroupName"]: group for group in cluster(made)["InstanceGroups"]}


def test_groups_are_those_of_the_file(shipped: Synthesized) -> None:
    """Type, and as many nodes as the workers on them need."""
    config = shipped.environment
    assert [
        (name, group["InstanceType"], group["InstanceCount"])
        for name, group in groups(shipped).items()
    ] == [
        (group.name, group.instance_type, node_count(config, group))
        for group in config.cluster.instance_groups
    ]


@pytest.mark.parametrize(("replicas", "nodes"), [(1, 1), (2, 2), (5, 5)])
def test_nodes_follow_replicas(synthesize: Synthesize, replicas: int, nodes: int) -> None:
    """A worker of eight GPUs takes a node."""
    made = groups(synthesize("prod", prefillReplicas=replicas))
    assert made["prefill"]["InstanceCount"] == nodes
    assert made["decode"]["InstanceCount"] == 1


@pytest.mark.parametrize(("replicas", "nodes"), [(8, 1), (9, 2)])
def test_small_workers_share_nodes(synthesize: Synthesize, replicas: int, nodes: int) -> None:
    """Eight of one GPU fit on one."""
    assert groups(synthesize("dev", prefillReplicas=replicas))["prefill"]["InstanceCount"] == nodes


def test_a_count_in_the_file_is_kept(synthesize: Synthesize) -> None:
    """Such as a spare node."""
    made = groups(synthesize("prod", "cluster.instanceGroups.prefill.count=3"))
    assert made["prefill"]["InstanceCount"] == 3


def test_all_gpu_nodes_are_in_one_subnet_of_one_zone(shipped: Synthesized) -> None:
    """EFA traffic cannot leave a zone, and a group cannot be moved once it exists."""
    places = [group["OverrideVpcConfig"] for group in groups(shipped).values()]
    subnets = {
        shipped.origin("cluster", subnet)
        for place in [*places, cluster(shipped)["VpcConfig"]]
        for subnet in place["Subnets"]
    }
    ((part, logical_id),) = subnets
    subnet = shipped[part].resources[logical_id]["Properties"]
    gpu_subnet = shipped.environment.network.gpu_subnet
    assert subnet["AvailabilityZoneId"] == gpu_subnet.availability_zone_id
    assert subnet["CidrBlock"] == str(gpu_subnet.cidr)


def test_all_gpu_nodes_are_in_the_efa_group(shipped: Synthesized) -> None:
    """And in no other: each would need the rules to itself."""
    efa_group, _ = shipped["foundation"].only("AWS::EC2::SecurityGroup")
    places = [group["OverrideVpcConfig"] for group in groups(shipped).values()]
    for place in [*places, cluster(shipped)["VpcConfig"]]:
        members = [shipped.origin("cluster", group) for group in place["SecurityGroupIds"]]
        assert members == [("foundation", efa_group)]


def test_nodes_are_fetched_continuously_and_replaced(shipped: Synthesized) -> None:
    """A node that cannot be had does not fail the stack; one that breaks is replaced."""
    assert cluster(shipped)["NodeProvisioningMode"] == "Continuous"
    assert cluster(shipped)["NodeRecovery"] == "Automatic"
    eks_cluster, _ = shipped["cluster"].only("AWS::EKS::Cluster")
    arn = {"Fn::GetAtt": [eks_cluster, "Arn"]}
    assert cluster(shipped)["Orchestrator"] == {"Eks": {"ClusterArn": arn}}
    assert cluster(shipped)["ClusterName"] == shipped.prefix


def test_nodes_only_ask_other_pods_to_go_elsewhere(shipped: Synthesized) -> None:
    """The operator's pods would not tolerate a taint that forbids."""
    for group in groups(shipped).values():
        assert [taint["Effect"] for taint in group["KubernetesConfig"]["Taints"]] == [
            "PreferNoSchedule"
        ]


def test_nodes_with_deep_health_checks_carry_no_taint(synthesize: Synthesize) -> None:
    """HyperPod forbids any of ours beside them."""
    checks = ["InstanceStress", "InstanceConnectivity"]
    setting = f"cluster.instanceGroups.prefill.deepHealthChecks=[{', '.join(checks)}]"
    group = groups(synthesize("prod", setting))["prefill"]
    assert group["OnStartDeepHealthChecks"] == checks
    assert "KubernetesConfig" not in group


@pytest.mark.parametrize(
    ("setting", "given", "field", "rendered"),
    [
        ("volumeSize", "1TiB", "InstanceStorageConfigs",
         [{"EbsVolumeConfig": {"VolumeSizeInGB": 1024}}]),
        ("trainingPlanArn", PLAN, "TrainingPlanArn", PLAN),
        ("capacity", "spot", "CapacityRequirements", {"Spot": {}}),
        ("networkInterface", "efa-only", "NetworkInterface", {"InterfaceType": "efa-only"}),
        ("networkInterface", "efa", "NetworkInterface", {"InterfaceType": "efa"}),
    ],
    ids=["volume", "training-plan", "spot", "efa-only", "efa"],
)  # fmt: skip
def test_settings_of_a_group_change_that_group(
    synthesize: Synthesize,
    prod: Synthesized,
    setting: str,
    given: str,
    field: str,
    rendered: object,
) -> None:
    """That one field of it, and nothing else in the cluster."""
    before = groups(prod)
    after = groups(synthesize("prod", f"cluster.instanceGroups.prefill.{setting}={given}"))
    assert after == {**before, "prefill": {**before["prefill"], field: rendered}}
    assert before["prefill"].get(field) != rendered


def test_what_a_group_does_not_ask_for_is_left_to_hyperpod(prod: Synthesized) -> None:
    """Nothing is said about capacity, plans, checks or interfaces."""
    for group in groups(prod).values():
        assert set(group) == {
            "ExecutionRole",
            "InstanceCount",
            "InstanceGroupName",
            "InstanceStorageConfigs",
            "InstanceType",
            "KubernetesConfig",
            "LifeCycleConfig",
            "OverrideVpcConfig",
        }
