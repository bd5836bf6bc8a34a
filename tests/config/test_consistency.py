"""What fits together and what does not."""

# ruff: noqa: E501 - whole messages are easier to compare on one line

from collections.abc import Callable

import pytest

from dpd.catalog import instance_types
from tests.config.conftest import Load, Refusal

Edit = Callable[..., str]

SECOND = """\
  - name: summary
    topology: colocated
    model: Llama-3.3-70B-Instruct
    workers: {instanceGroup: decode}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("us-east-2", "us-eats-2", "region: given 'us-eats-2', which is no region with HyperPod images; did you mean 'us-east-2'?"),
        ("instanceType: ml.p5.48xlarge", "instanceType: p5.48xlarge", "cluster.instanceGroups.prefill.instanceType: given 'p5.48xlarge', which is no instance type for disaggregated serving; did you mean 'ml.p5.48xlarge'?"),
        ("architecture: llama-3.3-70b", "architecture: llama3.3-70b", "models.Llama-3.3-70B-Instruct.architecture: given 'llama3.3-70b', which is no architecture in the catalog; did you mean 'llama-3.3-70b'?"),
        ("model: Llama-3.3-70B-Instruct", "model: Llama-3.3-70B", "endpoints.chat.model: given 'Llama-3.3-70B', which is no model of this environment; did you mean 'Llama-3.3-70B-Instruct'?"),
        ("instanceGroup: decode", "instanceGroup: deocde", "endpoints.chat.decode.instanceGroup: given 'deocde', which is no instance group of this environment; did you mean 'decode'?"),
        ("    model:", "    image: deep-learning\n    model:", "endpoints.chat.image: given 'deep-learning', which is no worker image in the catalog; did you mean 'deep-learning-container'?"),
        ("    model:", "    image: ''\n    model:", "endpoints.chat.image: given '', which is no worker image in the catalog; allowed: deep-learning-container, lmcache"),
        ("    model:", "    image: repo/vllm\n    model:", "endpoints.chat.image: given 'repo/vllm'; allowed: repository:tag or repository@sha256:digest"),
        ("    model:", "    image: 'repo/vllm :1'\n    model:", "endpoints.chat.image: given 'repo/vllm :1'; allowed: repository:tag or repository@sha256:digest"),
        ("  instanceGroups:", "  addonVersions: {vpc_cni: v1.2.3-eksbuild.1}\n  instanceGroups:", "cluster.addonVersions.vpc_cni: given 'vpc_cni', which is no EKS add-on of ours; did you mean 'vpc-cni'?"),
        ("{name: decode,", "{name: prefill,", "cluster.instanceGroups.prefill.name: given 'prefill' a second time; allowed: each name once"),
        ("availabilityZoneId: use2-az1, cidr: 10.192.0.0/24", "availabilityZoneId: usw2-az1, cidr: 10.192.0.0/24", "network.publicSubnet.availabilityZoneId: given 'usw2-az1'; allowed: use2-az1, use2-az2, ... in us-east-2"),
        ("use2-az2", "use2-az1", "network.systemSubnets.1.availabilityZoneId: given 'use2-az1' twice; allowed: two zones, as EKS requires"),
        ("10.192.32.0/20", "10.192.16.0/21", "network.systemSubnets.1.cidr: given 10.192.16.0/21, which overlaps 10.192.16.0/20; allowed: a block of its own"),
        ("10.192.32.0/20", "10.200.32.0/20", "network.systemSubnets.1.cidr: given 10.200.32.0/20; allowed: a block inside vpcCidr 10.192.0.0/16"),
        ("10.192.0.0/24", "10.192.0.0/29", "network.publicSubnet.cidr: given 10.192.0.0/29; allowed: blocks from /16 to /28"),
        ("10.192.0.0/16", "10.192.0.0/15", "network.vpcCidr: given 10.192.0.0/15; allowed: blocks from /16 to /28"),
        ("10.1.0.0/16", "10.1.0.0/28", "network.gpuSubnet.cidr: given 10.1.0.0/28 with 11 addresses, but its nodes take 162; use a larger block"),
        ("{name: prefill,", "{name: prefill, count: 0,", "cluster.instanceGroups.prefill.count: given 0, but its workers need 1 nodes of 8 GPUs with room for 180 vCPUs and 1920GiB; raise count to 1, leave it out, or lower replicas"),
        ("    model:", "    namespace: kube-system\n    model:", "endpoints.chat.namespace: given 'kube-system', which is taken; allowed: a namespace for each endpoint"),
        ("account:", "tags: {AWS:x: y}\naccount:", "tags.AWS:x: given 'AWS:x'; allowed: keys that do not begin with aws:"),
    ],
)  # fmt: skip
def test_single_faults(
    old: str, new: str, message: str, edited: Edit, prod: str, refusal: Refusal
) -> None:
    """The line of the faulty value, what was given and what is allowed."""
    number = prod[: prod.index(old)].count("\n") + 1
    assert refusal(edited(old, new))[0] == f"environments/prod.yaml:{number}: {message}"


def test_unlike_instance_type_lists_the_five(edited: Edit, refusal: Refusal) -> None:
    """All that there are."""
    (only,) = refusal(edited("instanceType: ml.p5.48xlarge", "instanceType: trn"))
    assert only.endswith(f"; allowed: {', '.join(sorted(instance_types()))}")


def test_a_wrong_region_is_one_line(edited: Edit, refusal: Refusal) -> None:
    """Zones are compared with a region that exists only."""
    assert len(refusal(edited("us-east-2", "us-eats-2"))) == 1


def test_another_region_is_four_zones(edited: Edit, refusal: Refusal) -> None:
    """Every zone of the old region is named."""
    lines = refusal(edited("us-east-2", "us-west-2"))
    assert len(lines) == 4
    assert all("allowed: usw2-az1, usw2-az2, ... in us-west-2" in line for line in lines)


@pytest.mark.parametrize(
    "image",
    [
        "lmcache",
        "repo/vllm:1.0",
        "1.dkr.ecr.us-east-2.amazonaws.com/a/b:v1",
        f"a/b@sha256:{'0' * 64}",
    ],
)
def test_images_by_name_tag_or_digest(image: str, edited: Edit, load: Load) -> None:
    """Catalog names and full references."""
    endpoint = load(edited("    model:", f"    image: {image}\n    model:")).endpoints[0]
    assert endpoint.image == image


@pytest.mark.parametrize("name", ["chat", "summary"])
def test_namespaces_are_not_shared(name: str, prod: str, load: Load, refusal: Refusal) -> None:
    """A namespace goes when its endpoint goes."""
    text = (prod + SECOND).replace("name: chat", "name: chat\n    namespace: " + name)
    if name == "chat":
        assert [each.resolved_namespace for each in load(text).endpoints] == ["chat", "summary"]
    else:
        (only,) = refusal(text)
        assert "endpoints.summary.namespace: given 'summary', which is taken" in only


def test_an_endpoint_twice_is_one_line(prod: str, refusal: Refusal) -> None:
    """Its namespace is not a fault of its own."""
    (only,) = refusal(prod + SECOND.replace("summary", "chat"))
    assert only.endswith("endpoints.chat.name: given 'chat' a second time; allowed: each name once")


def test_a_model_twice_is_one_line(edited: Edit, refusal: Refusal) -> None:
    """Model names are unique too."""
    (only,) = refusal(
        edited(
            "\nendpoints:",
            "  - {name: Llama-3.3-70B-Instruct, architecture: llama-3.3-70b}\nendpoints:",
        )
    )
    assert (
        "models.Llama-3.3-70B-Instruct.name: given 'Llama-3.3-70B-Instruct' a second time" in only
    )


@pytest.mark.parametrize(("length", "fits"), [(23, True), (24, False)])
def test_names_that_the_operator_joins_fit_into_a_service_name(
    length: int, fits: bool, edited: Edit, load: Load, refusal: Refusal
) -> None:
    """Twice the name and `-routing-service` are at most 63 characters."""
    text = edited("name: chat", f"name: {'c' * length}")
    if fits:
        assert load(text)
    else:
        (only,) = refusal(text)
        assert (
            "of 65 characters; allowed: 63 in a Service; shorten the name or the namespace" in only
        )
        assert load(text.replace("    model:", "    namespace: short\n    model:", 1))


@pytest.mark.parametrize(
    ("block", "is_allowed"),
    [
        ("10.192.64.0/18", True),
        ("10.1.0.0/16", True),
        ("10.192.0.0/16", False),
        ("10.128.0.0/16", True),
    ],
)
def test_gpu_subnet_is_inside_or_outside(
    block: str, is_allowed: bool, edited: Edit, load: Load, refusal: Refusal
) -> None:
    """A block of the VPC or a second one, never across other subnets."""
    text = edited("10.1.0.0/16", block)
    if is_allowed:
        assert load(text)
    else:
        assert all("overlaps" in line for line in refusal(text))


def test_gpu_subnet_may_not_lie_across_the_vpc(edited: Edit, refusal: Refusal) -> None:
    """Larger than the VPC and around it."""
    text = edited("10.192.0.0/16", "10.192.0.0/18").replace("10.1.0.0/16", "10.192.0.0/16")
    assert any(
        "allowed: inside or outside vpcCidr 10.192.0.0/18, not across" in line
        for line in refusal(text)
    )


def test_efa_only_interfaces_take_no_addresses(edited: Edit, load: Load, refusal: Refusal) -> None:
    """Two nodes take 162 addresses, or 100; a /25 has 123."""
    text = edited("10.1.0.0/16", "10.1.0.0/25")
    (only,) = refusal(text)
    assert "with 123 addresses, but its nodes take 162" in only
    assert load(text.replace("instanceType:", "networkInterface: efa-only, instanceType:"))


def test_room_is_not_counted_while_names_do_not_resolve(edited: Edit, refusal: Refusal) -> None:
    """A misspelt group is not also too small."""
    text = edited("10.1.0.0/16", "10.1.0.0/28").replace("instanceGroup: decode", "instanceGroup: x")
    (only,) = refusal(text)
    assert "no instance group of this environment" in only


def test_without_models_nothing_is_suggested(prod: str, refusal: Refusal) -> None:
    """An empty choice is said to be empty."""
    text = prod.replace(
        "  - {name: Llama-3.3-70B-Instruct, architecture: llama-3.3-70b}\n", ""
    ).replace("models:", "models: []")
    (only,) = refusal(text)
    assert only.endswith("which is no model of this environment; allowed: none")


def test_without_a_router_no_service_name_is_made(prod: str, load: Load, refusal: Refusal) -> None:
    """A long name is fine for a colocated endpoint that the load balancer serves alone."""
    text = prod + SECOND.replace("summary", "s" * 24)
    assert load(text).endpoints[1].routing is None
    (only,) = refusal(text + "    routing: {strategy: session}\n")
    assert "of 65 characters; allowed: 63 in a Service" in only
