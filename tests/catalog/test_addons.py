"""EKS add-ons."""

import re
from typing import get_args

import pytest

from dpd.catalog import addons
from dpd.config import Cluster

KUBERNETES = get_args(Cluster.model_fields["kubernetes_version"].annotation)
VERSION = r"v(\d+)\.(\d+)\.(\d+)-eksbuild\.(\d+)"


def order(version: str) -> tuple[int, ...]:
    """What sorts versions."""
    match = re.fullmatch(VERSION, version)
    assert match, version
    return tuple(map(int, match.groups()))


def test_what_the_stacks_install_is_here() -> None:
    """The stacks install these nine and no more."""
    assert set(addons()) == {
        "vpc-cni",
        "coredns",
        "kube-proxy",
        "eks-pod-identity-agent",
        "aws-mountpoint-s3-csi-driver",
        "aws-fsx-csi-driver",
        "metrics-server",
        "cert-manager",
        "amazon-sagemaker-hyperpod-inference",
    }


@pytest.mark.parametrize("name", sorted(addons()))
def test_versions_are_pinned_for_every_kubernetes_or_for_none(name: str) -> None:
    """A version for some would leave the others to chance without a word."""
    assert set(addons()[name].versions) in (set(), set(KUBERNETES))


@pytest.mark.parametrize("name", sorted(addons()))
def test_pinned_versions_reach_the_minimum(name: str) -> None:
    """The minimum is what makes the feature work that we use."""
    addon = addons()[name]
    for version in addon.versions.values():
        assert order(version) >= order(addon.minimum or "v0.0.0-eksbuild.0")


@pytest.mark.parametrize("kubernetes", KUBERNETES)
def test_kube_proxy_is_of_the_clusters_own_version(kubernetes: str) -> None:
    """It must not be newer than the control plane."""
    assert addons()["kube-proxy"].versions[kubernetes].startswith(f"v{kubernetes}.")


def test_every_entry_has_a_source() -> None:
    """A number without its source cannot be checked."""
    assert all(addon.source.startswith("https://") for addon in addons().values())
