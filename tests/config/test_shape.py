"""What may stand where, by the model's own schema."""

import pytest

from dpd.config.environment import EnvironmentFile
from dpd.config.shape import is_text_at, keys_at, kind_with, kinds_at, value_path
from dpd.config.source import KeyPath

DATA = {
    "endpoints": [
        {"topology": "disaggregated"},
        {"topology": "colocated"},
        {"topology": ["x"]},
        {},
        5,
    ]
}


@pytest.mark.parametrize(
    ("path", "some", "others"),
    [
        ((), {"account", "endpoints"}, {"name", "prefill"}),
        (("network",), {"vpcCidr", "gpuSubnet"}, {"vpc_cidr"}),
        (("network", "systemSubnets", 0), {"cidr"}, {"vpcCidr"}),
        (("cluster", "instanceGroups", 7), {"instanceType"}, {"kubernetesVersion"}),
        (("endpoints", 0), {"prefill", "decode"}, {"workers"}),
        (("endpoints", 1), {"workers"}, {"prefill"}),
        (("endpoints", 0, "prefill"), {"replicas"}, {"name"}),
        (("endpoints", 0, "routing"), {"thresholdTokens"}, set()),
        (("endpoints", 1, "routing"), {"strategy"}, {"thresholdTokens"}),
    ],
)
def test_keys_of_every_level(path: KeyPath, some: set[str], others: set[str]) -> None:
    """The keys of an endpoint are those of its topology."""
    keys = set(keys_at(EnvironmentFile, path, DATA))
    assert some <= keys
    assert not others & keys


@pytest.mark.parametrize(
    "path",
    [
        ("endpoints", 2),
        ("endpoints", 3),
        ("endpoints", 4),
        ("endpoints", 99),
        ("none", "such"),
        ("account", "x"),
        (0, "x"),
        ("endpoints", "x"),
        ("tags", "x", "y"),
        ("endpoints", 0, 1, 2),
    ],
)
def test_places_that_the_model_does_not_know_have_no_keys(path: KeyPath) -> None:
    """Nothing is known about them, and nothing breaks."""
    assert keys_at(EnvironmentFile, path, DATA) == []
    assert not is_text_at(EnvironmentFile, path, DATA)


@pytest.mark.parametrize("position", range(2, 6))
def test_kinds_are_told_where_the_data_does_not_decide(position: int) -> None:
    """The union's tag and its values, where the tag is wrong or missing."""
    key, kinds = kinds_at(EnvironmentFile, ("endpoints", position), DATA)
    assert (key, set(kinds)) == ("topology", {"disaggregated", "colocated"})


def test_inner_kinds_are_told_after_the_outer_ones() -> None:
    """With a topology that there is, the runtime is what is wrong."""
    data = {"endpoints": [{"topology": "colocated", "runtime": "slurm"}]}
    key, kinds = kinds_at(EnvironmentFile, ("endpoints", 0), data)
    assert (key, set(kinds)) == ("runtime", {"operator", "self-managed"})


@pytest.mark.parametrize(
    "path", [(), ("network",), ("models", 0), ("endpoints",), ("endpoints", 0), ("endpoints", 1)]
)
def test_where_the_data_decides_no_kinds_are_told(path: KeyPath) -> None:
    """A runtime may be left out, a network has one kind only."""
    assert kinds_at(EnvironmentFile, path, DATA) == ("", [])


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        (("endpoints", 0, "workers"), ("topology: disaggregated", "topology: colocated")),
        (("endpoints", 0, "privileged"), ("runtime: operator", "runtime: self-managed")),
        (("endpoints", 0, "routing", "router"), ("runtime: operator", "runtime: self-managed")),
        (("endpoints", 0, "routing", "rooter"), None),
        (("endpoints", 2, "workers"), None),
        (("network", "gpu"), None),
    ],
)
def test_other_kinds_know_a_key(path: KeyPath, kinds: tuple[str, str] | None) -> None:
    """The nearest choice whose other side has the key, at any depth below it."""
    found = kind_with(EnvironmentFile, path, DATA)
    assert (found and tuple(map(str, found))) == kinds


def test_locations_lose_what_pydantic_adds() -> None:
    """Kinds of a union at any depth, and marks of keys."""
    location = ("endpoints", 0, "disaggregated", "self-managed", "kvTransfer", "nixl", "x")
    assert value_path(EnvironmentFile, location) == ("endpoints", 0, "kvTransfer", "x")
    assert value_path(EnvironmentFile, ("tags", "a", "[key]")) == ("tags", "a")


@pytest.mark.parametrize(
    ("path", "is_text"),
    [
        (("account",), True),
        (("cluster", "kubernetesVersion"), True),
        (("cluster", "addonVersions", "vpc-cni"), True),
        (("tags", "owner"), True),
        (("endpoints", 0, "namespace"), True),
        (("endpoints", 0, "environmentVariables", "A"), True),
        (("endpoints", 0, "args", 0), True),
        (("endpoints", 0, "kvTransfer", "bufferSize"), True),
        (("endpoints", 0, "prefill", "replicas"), False),
        (("endpoints", 0, "overrides", "x"), False),
        (("endpoints", 0, "readiness", "wait"), False),
        (("cluster", "instanceGroups", 0, "count"), False),
        ((), False),
    ],
)
def test_places_of_text(path: KeyPath, is_text: bool) -> None:
    """Optional text is text; numbers, booleans and raw overrides are not."""
    assert is_text_at(EnvironmentFile, path, DATA) == is_text
