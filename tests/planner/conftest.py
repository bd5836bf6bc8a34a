"""Workers and traffic that the planner's tests share."""

from collections.abc import Callable
from typing import Any

import pytest

from dpd.catalog.instance_types import instance_types
from dpd.catalog.models import model_architectures
from dpd.planner.constants import default_constants
from dpd.planner.deployment import KvTransfer, Worker
from dpd.planner.question import Question
from dpd.planner.step_time import StepCosts, step_costs
from dpd.planner.traffic import Targets, Traffic, TrafficProfile


@pytest.fixture(scope="session")
def costs() -> StepCosts:
    """Llama 3.3 70B under TP 8 on H100."""
    model = model_architectures()["llama-3.3-70b"]
    instance = instance_types()["ml.p5.48xlarge"]
    return step_costs(model, instance, default_constants(), tensor_parallel=8)


@pytest.fixture(scope="session")
def worker(costs: StepCosts) -> Worker:
    """A worker with room for 64 sequences."""
    return Worker(
        costs=costs, kv_cache_tokens=1_000_000, max_num_seqs=64, max_num_batched_tokens=8192
    )


@pytest.fixture(scope="session")
def transfer() -> KvTransfer:
    """An EFA link and an 8 GiB buffer of 10 MiB chunks."""
    return KvTransfer(
        seconds_per_chunk=0.000262144,
        store_seconds_per_prompt=0.023,
        handoff_seconds=0.014,
        retrieve_seconds_per_token=2e-7,
        buffer_chunks=819,
    )


@pytest.fixture(scope="session")
def fixed() -> Callable[..., Traffic]:
    """Traffic of one length: `fixed(4096, 256, rate=5)` or `concurrency=32`."""

    def traffic(prompt: Any, answer: Any, **arrivals: Any) -> Traffic:
        profile = TrafficProfile.model_validate(
            {**arrivals, "classes": [{"input": prompt, "output": answer}]}
        )
        return Traffic(profile)

    return traffic


@pytest.fixture
def question(fixed: Callable[..., Traffic]) -> Question:
    """AWS's documented example at 5 requests a second, 2 s and 30 ms."""
    return Question(
        model=model_architectures()["llama-3.3-70b"],
        instance=instance_types()["ml.p5.48xlarge"],
        traffic=fixed(4096, 256, rate=5.0),
        targets=Targets.model_validate({"ttft": "2s", "itl": "30ms"}),
        requests=1500,
    )
