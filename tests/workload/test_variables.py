"""What workers find in their environment."""

import pytest

from dpd.config import Environment
from dpd.workload import ports
from dpd.workload.variables import worker_variables
from tests.workload.conftest import build, colocated, every_variant


@every_variant()
def test_roles_hash_alike(variant: Environment) -> None:
    """With a seed that Python would otherwise choose for each process."""
    (endpoint,) = variant.endpoints
    assert endpoint.runtime == "self-managed"
    seeds = {worker_variables(endpoint, role).get("PYTHONHASHSEED") for role in endpoint.roles}
    assert seeds == ({"0"} if endpoint.topology == "disaggregated" else {None})


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_nixl_is_found_at_the_pods_address(role: str) -> None:
    """Not at localhost, and over EFA."""
    (endpoint,) = build().endpoints
    variables = worker_variables(endpoint, role)
    assert variables["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "$(POD_IP)"
    assert variables["VLLM_NIXL_SIDE_CHANNEL_PORT"] == str(ports.NIXL_SIDE_CHANNEL)
    assert variables["FI_PROVIDER"] == "efa"
    assert not [name for name in variables if name.startswith("LMCACHE_")]


def test_dead_names_are_not_used() -> None:
    """NIXL_BACKEND is ignored by vLLM; RDMAV_FORK_SAFE should not be set."""
    variables = worker_variables(build().endpoints[0], "decode")
    assert not {"NIXL_BACKEND", "RDMAV_FORK_SAFE", "PYTORCH_CUDA_ALLOC_CONF"} & set(variables)


def test_without_hugepages_libfabric_asks_for_none() -> None:
    """It would otherwise ask for pages that the pod does not have."""
    variables = worker_variables(build(hugepages="0MiB").endpoints[0], "decode")
    assert variables["FI_EFA_USE_HUGE_PAGE"] == "0"


def test_colocated_workers_have_nothing_of_transfer() -> None:
    """No EFA, no side channel, no seed."""
    variables = worker_variables(colocated().endpoints[0], "workers")
    assert not [name for name in variables if name.startswith(("FI_", "VLLM_NIXL", "PYTHON"))]


def test_the_endpoints_own_come_last() -> None:
    """A person who knows better can say so."""
    environment = build(environmentVariables={"FI_PROVIDER": "tcp", "MORE": "1"})
    variables = worker_variables(environment.endpoints[0], "decode")
    assert (variables["FI_PROVIDER"], variables["MORE"]) == ("tcp", "1")
