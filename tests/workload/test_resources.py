"""Devices, pages and times of a worker."""

import pytest

from dpd.catalog import ec2_instance_types, model_architectures
from dpd.workload.resources import efa_devices, hugepages_bytes, rollout_seconds, startup_seconds
from tests.workload.conftest import build


def group(instance_type: str) -> dict[str, object]:
    """A cluster whose only nodes are of one type."""
    nodes = [{"name": "gpu", "instanceType": instance_type, "count": 4}]
    return {"instanceGroups": [], "nodeGroups": nodes}


@pytest.mark.parametrize("instance_type", sorted(ec2_instance_types()))
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_worker_has_its_share_of_the_devices(instance_type: str, size: int) -> None:
    """Workers that fill a node take all its EFA devices together, and each takes one or more."""
    environment = build(
        cluster=group(instance_type),
        tensorParallelSize=size,
        prefill={"instanceGroup": "gpu"},
        decode={"instanceGroup": "gpu"},
    )
    devices = efa_devices(environment, environment.endpoints[0], "decode")
    assert devices >= 1
    assert devices * (8 // size) == ec2_instance_types()[instance_type].efa_devices


def test_devices_and_pages_can_be_said() -> None:
    """Where nodes advertise fewer than their type has."""
    environment = build(efaDevices=16, hugepages="2GiB")
    (endpoint,) = environment.endpoints
    assert efa_devices(environment, endpoint, "prefill") == 16
    assert hugepages_bytes(endpoint) == 2 * 2**30


def test_pages_are_those_of_awss_manifests() -> None:
    """5120 MiB for a worker with eight GPUs, whole pages for any."""
    for size in (1, 2, 4, 8):
        pages = hugepages_bytes(build(tensorParallelSize=size).endpoints[0])
        assert pages == 5120 * 2**20 * size // 8
        assert pages % (2 * 2**20) == 0


def test_larger_models_have_longer_to_start() -> None:
    """More than the ten minutes that 70B has been seen to take, half of it with 8-bit weights."""

    def seconds(architecture: str, **model: str) -> int:
        environment = build()
        changed = environment.models[0].model_copy(update={"architecture": architecture, **model})
        environment = environment.model_copy(update={"models": (changed,)})
        return startup_seconds(environment, environment.endpoints[0])

    sizes = sorted(model_architectures().values(), key=lambda model: model.parameters)
    times = [seconds(model.name, quantization="none") for model in sizes]
    assert times == sorted(times)
    assert seconds("llama-3.3-70b") > 1200
    assert seconds("llama-3.3-70b", quantization="fp8") < seconds("llama-3.3-70b")
    assert seconds("gpt-oss-120b") < seconds("gpt-oss-120b", quantization="fp8")


def test_a_start_time_can_be_said() -> None:
    """And pulling the image comes on top where the whole rollout is waited for."""
    environment = build(startupTimeout="45m")
    (endpoint,) = environment.endpoints
    assert startup_seconds(environment, endpoint) == 2700
    assert rollout_seconds(environment, endpoint) > 2700
