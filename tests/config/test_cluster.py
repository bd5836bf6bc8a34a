"""What a cluster and its instance groups may be."""

from typing import Any

import pytest
from pydantic import ValidationError

from dpd.config.cluster import Cluster, InstanceGroup, SystemNodes

GROUP: dict[str, Any] = {"name": "decode", "instanceType": "ml.p5.48xlarge"}


@pytest.mark.parametrize(
    "name", ["m6i.4xlarge", "c7i.8xlarge", "r5.12xlarge", "m6a.24xlarge", "m6id.16xlarge"]
)
def test_system_nodes_are_large_amd64_types(name: str) -> None:
    """General, compute and memory types of 4xlarge or more."""
    assert SystemNodes.model_validate({"instanceType": name}).instance_type == name


@pytest.mark.parametrize(
    "name",
    ["m7g.4xlarge", "m6i.2xlarge", "m6i.large", "t3.4xlarge", "ml.m6i.4xlarge", "m6gd.8xlarge"],
)
def test_small_and_arm_system_nodes_are_refused(name: str) -> None:
    """The operator's images are amd64 and need the room."""
    with pytest.raises(ValidationError, match="string_pattern_mismatch"):
        SystemNodes.model_validate({"instanceType": name})


@pytest.mark.parametrize(
    "change",
    [
        {"count": -1}, {"count": 6759}, {"count": True}, {"capacity": "reserved"},
        {"volumeSize": "99GiB"}, {"volumeSize": "17TiB"}, {"volumeSize": 500},
        {"deepHealthChecks": ["All"]}, {"deepHealthChecks": "InstanceStress"},
        {"networkInterface": "ena"}, {"name": "Decode"}, {"name": "de code"}, {"name": ""},
        {"trainingPlanArn": "arn:aws:sagemaker:us-east-2:1:training-plan/x"},
        {"trainingPlanArn": "arn:aws:sagemaker:us-east-2:111122223333:cluster/x"},
        {"instance_type": "ml.p5.48xlarge", "x": 1},
    ],
    ids=str,
)  # fmt: skip
def test_instance_group_faults(change: dict[str, Any]) -> None:
    """Each alone is refused; without it the group is taken."""
    assert InstanceGroup.model_validate(GROUP)
    with pytest.raises(ValidationError):
        InstanceGroup.model_validate({**GROUP, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"kubernetesVersion": "1.32"}, {"kubernetesVersion": 1.34},
        {"instanceGroups": [GROUP] * 21}, {"publicAccessCidrs": ["1.2.3.4"]},
        {"publicAccessCidrs": "0.0.0.0/0"}, {"administratorRoleArns": ["arn:aws:iam::1:role/x"]},
        {"administratorRoleArns": ["arn:aws:iam::111122223333:user/x"]},
        {"addonVersions": {"vpc-cni": "1.20"}}, {"systemNodes": {"count": 0}},
    ],
    ids=str,
)  # fmt: skip
def test_cluster_faults(change: dict[str, Any]) -> None:
    """Each alone is refused; without it the cluster is taken."""
    assert Cluster.model_validate({"instanceGroups": [GROUP]})
    with pytest.raises(ValidationError):
        Cluster.model_validate({"instanceGroups": [GROUP], **change})


def test_the_kubernetes_api_is_closed_unless_opened() -> None:
    """Nobody reaches it from outside the VPC by default."""
    assert Cluster.model_validate({"instanceGroups": [GROUP]}).public_access_cidrs == ()
