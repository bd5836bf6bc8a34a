"""vLLM 0.19.0's own parser takes every argument list of ours: `make test-vllm`."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from dpd.workload.vllm_arguments import vllm_arguments
from tests.self_managed.conftest import EXAMPLES

VERSION = "0.19.0"
PARSE = Path(__file__).with_name("parse_arguments.py")

LISTS = {
    f"{name}-{role}": vllm_arguments(environment, endpoint, role)
    for name, environment in EXAMPLES.items()
    for endpoint in environment.endpoints
    for role in endpoint.roles
}
GOOD = next(iter(LISTS.values()))
FAULTS = {
    "unknown flag": [*GOOD, "--tensor-paralel-size", "8"],
    "no number": [*GOOD, "--gpu-memory-utilization", "most"],
    "no JSON": [*GOOD, "--kv-transfer-config", "{"],
    "unknown key": [*GOOD, "--kv-transfer-config", '{"kv_conector":"NixlConnector"}'],
    "unknown role": [
        *GOOD,
        "--kv-transfer-config",
        '{"kv_connector":"NixlConnector","kv_role":"kv_sender"}',
    ],
    "unknown choice": [*GOOD, "--dtype", "bfloat17"],
}


@pytest.fixture(scope="session")
def refusals() -> dict[str, str | None]:
    """What vLLM says to each list: importing it takes seconds, so it is asked once."""
    if not (python := os.environ.get("DPD_VLLM")):
        pytest.skip("DPD_VLLM names no Python with vLLM 0.19.0; run `make test-vllm`")
    lists = {**LISTS, **FAULTS}
    answered = subprocess.run(
        [python, str(PARSE)],
        input=json.dumps(list(lists.values())),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answered.returncode == 0, answered.stderr[-2000:]
    messages = json.loads(answered.stdout.splitlines()[-1])
    return dict(zip(lists, messages, strict=True))


def test_it_is_the_version_of_the_images(refusals: dict[str, str | None]) -> None:
    """And not another one that happens to be installed."""
    code = "import importlib.metadata as m; print(m.version('vllm'))"
    found = subprocess.run(
        [os.environ["DPD_VLLM"], "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip().partition("+")[0] == VERSION


@pytest.mark.parametrize("name", LISTS)
def test_arguments_are_taken(name: str, refusals: dict[str, str | None]) -> None:
    """Name by name and value by value."""
    assert refusals[name] is None


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_refused(name: str, refusals: dict[str, str | None]) -> None:
    """So that being taken means something."""
    assert refusals[name]
