"""What does not fit together about access, capacity and address blocks."""

import pytest

from dpd.config import load_environment
from dpd.errors import UserError

ROLE = "arn:aws:iam::111122223333:role/Admin"
PLAN = "arn:aws:sagemaker:us-east-2:111122223333:training-plan/a"


def refusal(setting: str) -> str:
    """The one line that says what is wrong."""
    with pytest.raises(UserError) as caught:
        load_environment({"env": "prod", "set": setting})
    (line,) = caught.value.lines
    return line


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (f"cluster.administratorRoleArns=[{ROLE}, {ROLE}]", "a second time"),
        ("cluster.publicAccessCidrs=[10.0.0.0/8]", "no public address"),
        ("cluster.publicAccessCidrs=[8.8.8.0/24, 192.168.1.0/24]", "given 192.168.1.0/24"),
        (
            f"cluster.instanceGroups.0.capacity=spot,cluster.instanceGroups.0.trainingPlanArn={PLAN}",
            "given spot beside trainingPlanArn",
        ),
        ("network.gpuSubnet.cidr=192.168.0.0/16", "come from one range"),
        ("network.gpuSubnet.cidr=172.20.0.0/16", "a block of 10.0.0.0/8"),
        ("tags={'dpd:environment': other}", "every resource has"),
    ],
)
def test_what_aws_would_refuse_later_is_refused_now(setting: str, said: str) -> None:
    assert said in refusal(setting)


@pytest.mark.parametrize(
    "setting",
    [
        f"cluster.administratorRoleArns=[{ROLE}, {ROLE}2]",
        "cluster.publicAccessCidrs=[8.8.8.8/32]",
        "cluster.instanceGroups.0.capacity=spot",
        f"cluster.instanceGroups.0.trainingPlanArn={PLAN}",
        "network.gpuSubnet.cidr=100.64.0.0/16",
        "network.gpuSubnet.cidr=10.2.0.0/16",
        "tags={team: search}",
    ],
)
def test_neighbours_are_taken(setting: str) -> None:
    assert load_environment({"env": "prod", "set": setting}).name == "prod"
