"""What may stand where, by the model's own schema."""

import pytest

from dpd.config.environment import EnvironmentFile
from dpd.config.shape import is_text_at, keys_at, kinds_at
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


@pytest.mark.parametrize("position", range(6))
def test_kinds_of_endpoint_are_known_whatever_is_given(position: int) -> None:
    """The union's tag and its values, also where the tag is wrong or missing."""
    kinds = kinds_at(EnvironmentFile, ("endpoints", position), DATA)
    assert (kinds[0], set(kinds[1])) == ("topology", {"disaggregated", "colocated"})


@pytest.mark.parametrize("path", [(), ("network",), ("models", 0), ("endpoints",)])
def test_what_is_no_union_has_no_kinds(path: KeyPath) -> None:
    """Only an endpoint is of several kinds."""
    assert kinds_at(EnvironmentFile, path, DATA) == ("", [])


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
