"""In which order a cluster comes to be."""

import pytest

from tests.synthesized import Synthesized

HYPERPOD = "AWS::SageMaker::Cluster"


@pytest.mark.parametrize(
    "kind",
    ["ClusterRole", "ClusterRoleBinding", "ServiceAccount", "DaemonSet", "Namespace"],
)
def test_hyperpod_waits_for_its_dependencies(shipped: Synthesized, kind: str) -> None:
    """Every manifest that HyperPod expects is applied before its cluster is made."""
    template = shipped["cluster"]
    hyperpod, _ = template.only(HYPERPOD)
    with_kind = {
        id_
        for id_, things in template.manifests().items()
        if kind in {thing["kind"] for thing in things}
    }
    assert with_kind
    assert with_kind <= template.needs(hyperpod)


def test_hyperpod_waits_for_everything_else_too(shipped: Synthesized) -> None:
    """Device plugins, the lifecycle script, the role with its policies, nodes and base add-ons."""
    template = shipped["cluster"]
    hyperpod, properties = template.only(HYPERPOD)
    needed = template.needs(hyperpod)
    for kind in (
        "Custom::AWSCDK-EKS-HelmChart",
        "Custom::AWS",
        "AWS::EKS::Cluster",
        "AWS::EKS::Nodegroup",
        "AWS::EKS::Addon",
        "AWS::EC2::SecurityGroupIngress",
    ):
        made = set(template.of_type(kind))
        assert made, kind
        assert made <= needed, kind
    (role,) = {
        shipped.origin("cluster", group["ExecutionRole"])[1]
        for group in properties["InstanceGroups"]
    }
    assert role in needed
    assert {
        id_
        for id_, policy in template.of_type("AWS::IAM::Policy").items()
        if {"Ref": role} in policy["Properties"]["Roles"]
    } <= needed


def test_manifests_wait_until_the_function_is_administrator(prod: Synthesized) -> None:
    """Else the first of them is refused, sometimes."""
    template = prod["cluster"]
    applied = [
        *template.of_type("Custom::AWSCDK-EKS-KubernetesResource"),
        *template.of_type("Custom::AWSCDK-EKS-HelmChart"),
    ]
    entries = set(template.of_type("AWS::EKS::AccessEntry"))
    assert applied
    for id_ in applied:
        assert entries <= template.needs(id_)


def test_nothing_waits_for_hyperpod(prod: Synthesized) -> None:
    """Nor for a GPU node: the dependencies must not."""
    template = prod["cluster"]
    hyperpod, _ = template.only(HYPERPOD)
    assert not [id_ for id_ in template.resources if hyperpod in template.needs(id_)]


def test_outputs_say_how_to_get_in(shipped: Synthesized) -> None:
    """The HyperPod cluster, and the command for kubectl."""
    outputs = shipped["cluster"].data["Outputs"]
    hyperpod, _ = shipped["cluster"].only(HYPERPOD)
    assert outputs["HyperPodClusterArn"]["Value"] == {"Fn::GetAtt": [hyperpod, "ClusterArn"]}
    assert outputs["KubeconfigCommand"]["Value"] == (
        f"aws eks update-kubeconfig --name {shipped.prefix} --region {shipped.environment.region}"
    )
