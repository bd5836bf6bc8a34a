"""What an endpoint may be, and what it is when nothing is said."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from dpd.config.endpoint import ColocatedEndpoint, DisaggregatedEndpoint, Endpoint

ENDPOINT: TypeAdapter[Any] = TypeAdapter(Endpoint)
WORKERS = {"instanceGroup": "gpu"}
DISAGGREGATED = {
    "name": "chat",
    "topology": "disaggregated",
    "model": "m",
    "prefill": WORKERS,
    "decode": WORKERS,
}
COLOCATED = {"name": "chat", "topology": "colocated", "model": "m", "workers": WORKERS}


def test_topology_decides_the_kind() -> None:
    """And the roles, under the keys that the file uses."""
    disaggregated = ENDPOINT.validate_python(DISAGGREGATED)
    colocated = ENDPOINT.validate_python(COLOCATED)
    assert isinstance(disaggregated, DisaggregatedEndpoint)
    assert isinstance(colocated, ColocatedEndpoint)
    for endpoint, data in ((disaggregated, DISAGGREGATED), (colocated, COLOCATED)):
        assert endpoint.roles
        assert all(
            data[role] == {"instanceGroup": w.instance_group} for role, w in endpoint.roles.items()
        )


def test_defaults_are_the_documented_example() -> None:
    """AWS's guide: threshold 4096, prefix-aware, 8 GiB of buffer, eight GPUs, one hour."""
    endpoint = ENDPOINT.validate_python(DISAGGREGATED)
    assert endpoint.routing.threshold_tokens == 4096
    assert endpoint.routing.strategy == "prefixaware"
    assert endpoint.kv_transfer.buffer_size == 8_589_934_592
    assert endpoint.tensor_parallel_size == 8
    assert endpoint.readiness.timeout == 3000
    assert endpoint.resolved_namespace == endpoint.name


@pytest.mark.parametrize(
    "change",
    [
        {"prefill": None}, {"workers": WORKERS}, {"topology": "split"}, {"name": "Chat"},
        {"name": "a" * 41}, {"namespace": "-x"}, {"tensorParallelSize": 16}, {"cpu": 0},
        {"tensorParallelSize": True}, {"memory": "512MiB"}, {"maxModelLenTokens": 0},
        {"maxModelLenTokens": 2**31}, {"gpuMemoryUtilization": 0}, {"gpuMemoryUtilization": 1},
        {"gpuMemoryUtilization": True}, {"args": "x"}, {"args": [None]}, {"overrides": []},
        {"environmentVariables": {"A-B": "x"}}, {"environmentVariables": {"A": None}},
        {"readiness": {"timeout": "61m"}}, {"readiness": {"wait": "no"}},
        {"routing": {"thresholdTokens": -1}}, {"routing": {"thresholdTokens": 2**31}},
        {"routing": {"threshold": 1}}, {"kvTransfer": {"bufferSize": "257GiB"}},
        {"prefill": {**WORKERS, "replicas": 0}}, {"tensor_parallel": 8},
    ],
    ids=str,
)  # fmt: skip
def test_faults(change: dict[str, Any]) -> None:
    """Each alone is refused."""
    with pytest.raises(ValidationError):
        ENDPOINT.validate_python({**DISAGGREGATED, **change})


@pytest.mark.parametrize("key", ["kvTransfer", "prefill"])
def test_colocated_has_nothing_to_transfer(key: str) -> None:
    """Keys of the other topology are unknown ones."""
    with pytest.raises(ValidationError, match="extra_forbidden"):
        ENDPOINT.validate_python({**COLOCATED, key: {}})


def test_colocated_has_no_threshold() -> None:
    """A router may stand in front, but nothing is split."""
    assert ENDPOINT.validate_python(COLOCATED).routing is None
    with pytest.raises(ValidationError, match="extra_forbidden"):
        ENDPOINT.validate_python({**COLOCATED, "routing": {"thresholdTokens": 1}})
