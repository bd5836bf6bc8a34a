"""The five instance types."""

import pytest

from dpd.catalog import InstanceType, ec2_instance_types, instance_types
from dpd.catalog.instance_types import same_family

CARDS = {
    "ml.p5.48xlarge": 32,
    "ml.p5e.48xlarge": 32,
    "ml.p5en.48xlarge": 16,
    "ml.p6-b200.48xlarge": 8,
    "ml.p6-b300.48xlarge": 17,
}
NODES = list(instance_types().values())


def test_five_types_support_disaggregated_serving() -> None:
    """RDMA read and write; HyperPod spells them with `ml.`."""
    assert set(instance_types()) == set(CARDS)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_addresses_are_fifty_and_one_for_each_further_card(node: InstanceType) -> None:
    """As the HyperPod guide counts them."""
    assert node.ips_per_node == 50 + CARDS[node.name] - 1


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_numbers_fit_each_other(node: InstanceType) -> None:
    """EFA devices share the network evenly and so do GPUs; FP8 is twice BF16."""
    assert node.gpu_count == 8
    assert node.efa_devices % node.gpu_count == 0
    assert node.efa_devices <= CARDS[node.name]
    assert node.network_gbps / node.efa_devices in (100, 200, 400)
    assert node.gpu_fp8_tflops / node.gpu_bf16_tflops == pytest.approx(2, rel=0.01)
    assert node.memory_gib > node.gpu_count * node.gpu_memory_gib
    assert node.pods_per_node < node.ips_per_node


def test_the_same_gpu_has_the_same_figures() -> None:
    """p5e and p5en differ in their network only."""
    figures = {
        node.gpu: {
            (
                other.gpu_memory_gib,
                other.gpu_memory_bandwidth_gb_per_s,
                other.gpu_bf16_tflops,
                other.gpu_fp8_tflops,
            )
            for other in NODES
            if other.gpu == node.gpu
        }
        for node in NODES
    }
    assert all(len(values) == 1 for values in figures.values())
    assert len(figures) == 4


@pytest.mark.parametrize(
    ("given", "family"),
    [
        ("p5.24xlarge", ["p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"]),
        ("ml.p6-b100.48xlarge", ["p6-b200.48xlarge", "p6-b300.48xlarge"]),
        ("ml.g6e.48xlarge", []),
        ("ml.p4d.24xlarge", []),
        ("x", []),
    ],
)
def test_families(given: str, family: list[str]) -> None:
    """A type of another family is no slip of the pen."""
    assert same_family(given, ec2_instance_types()) == family
    assert same_family(given, instance_types()) == [f"ml.{name}" for name in family]
