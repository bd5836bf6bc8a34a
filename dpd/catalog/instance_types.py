"""The five instance types that support disaggregated serving."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from dpd.catalog.data import Fact, read


class InstanceType(Fact):
    """One HyperPod instance type; the numbers are per node unless the name says per GPU."""

    name: str
    """Name with the `ml.` prefix, as HyperPod and its node labels spell it."""
    gpu: str
    gpu_count: int
    gpu_memory_gib: int
    """Memory of one GPU in GiB."""
    gpu_memory_bandwidth_gb_per_s: float
    """HBM bandwidth of one GPU in 10^9 bytes per second."""
    gpu_bf16_tflops: float
    """Dense bfloat16 throughput of one GPU in 10^12 operations per second."""
    gpu_fp8_tflops: float
    """Dense 8-bit floating point throughput of one GPU in 10^12 operations per second."""
    nvlink_gb_per_s: float
    """NVLink bandwidth of one GPU in one direction, in 10^9 bytes per second."""
    vcpus: int
    memory_gib: int
    network_gbps: int
    """EFA bandwidth of the node in 10^9 bits per second."""
    efa_devices: int
    """`vpc.amazonaws.com/efa` devices that a node offers to pods."""
    ips_per_node: int
    """Addresses that HyperPod takes from the subnet for one node."""
    pods_per_node: int
    source: str

    @property
    def ec2_name(self) -> str:
        """Name as EC2 and the labels of nodes outside HyperPod spell it."""
        return self.name.removeprefix("ml.")


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """Return the supported instance types by name."""
    return {entry["name"]: InstanceType.model_validate(entry) for entry in read("instance_types")}


def same_family(given: str, names: Iterable[str]) -> list[str]:
    """Return the names of the family of `given`: `ml.p5.48xlarge` for `p5.24xlarge`, not for P4."""
    return [name for name in names if _family(name) == _family(given)]


def _family(name: str) -> str:
    found = re.match(r"(?:ml\.)?([a-z]+[0-9]+)", name.casefold())
    return found[1] if found else ""


@cache
def ec2_instance_types() -> Mapping[str, InstanceType]:
    """Return the same types by the name without `ml.`."""
    return {kind.ec2_name: kind for kind in instance_types().values()}
