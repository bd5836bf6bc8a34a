"""What does not fit together about the cluster's access, capacity and address blocks."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from dpd.config.environment import Environment
from dpd.config.problem import Kind, Problem

_PRIVATE_RANGES = tuple(
    IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)
"""RFC 1918. A VPC's blocks come from one of them at most."""


def cluster_problems(environment: Environment) -> Iterator[Problem]:
    """Yield what AWS would refuse after the first stacks are there."""
    yield from _access(environment)
    yield from _capacity(environment)
    yield from _blocks(environment)
    yield from _tags(environment)


def _access(environment: Environment) -> Iterator[Problem]:
    arns: Sequence[str] = environment.cluster.administrator_role_arns
    for index, arn in enumerate(arns):
        if arn in arns[:index]:
            path = ("cluster", "administratorRoleArns", index)
            yield Problem(path, f"given {arn!r} a second time", "each role once")
    for index, cidr in enumerate(environment.cluster.public_access_cidrs):
        if _private_range(cidr):
            yield Problem(
                ("cluster", "publicAccessCidrs", index),
                f"given {cidr}, which is no public address",
                "addresses as the internet sees them",
                "remove it: the VPC reaches the API anyway",
                kind=Kind.WRONG_VALUE,
            )


def _capacity(environment: Environment) -> Iterator[Problem]:
    for index, group in enumerate(environment.cluster.instance_groups):
        if group.capacity == "spot" and group.training_plan_arn:
            yield Problem(
                ("cluster", "instanceGroups", index, "capacity"),
                "given spot beside trainingPlanArn",
                "one of the two",
                kind=Kind.WRONG_VALUE,
            )


def _blocks(environment: Environment) -> Iterator[Problem]:
    vpc, gpu = environment.network.vpc_cidr, environment.network.gpu_subnet.cidr
    first, second = _private_range(vpc), _private_range(gpu)
    if first and second and first != second:
        yield Problem(
            ("network", "gpuSubnet", "cidr"),
            f"given {gpu} beside vpcCidr {vpc}",
            f"a block of {first}: the private blocks of one VPC come from one range",
            kind=Kind.NETWORK,
        )


def _private_range(block: IPv4Network) -> IPv4Network | None:
    return next((each for each in _PRIVATE_RANGES if block.subnet_of(each)), None)


def _tags(environment: Environment) -> Iterator[Problem]:
    if "dpd:environment" in environment.tags:
        yield Problem(
            ("tags", "dpd:environment"),
            "given a tag that every resource has with the environment's name",
            "other keys",
            "remove it",
            kind=Kind.WRONG_VALUE,
        )
