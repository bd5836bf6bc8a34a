"""Exact identities of the simulation."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpd.planner.deployment import Deployment, KvTransfer, Worker
from dpd.planner.memory import kv_chunks
from dpd.planner.simulation.simulate import Result, simulate
from dpd.planner.step_time import attention_pairs, prefill_seconds, step_seconds
from dpd.planner.traffic import Traffic

Fixed = Callable[..., Traffic]
MIXED = ({"median": 2700, "sigma": 0.9}, {"median": 180, "sigma": 0.7})


def run(deployment: Deployment, traffic: Traffic, requests: int = 400, seed: int = 0) -> Result:
    return simulate(deployment, traffic, requests=requests, max_model_len=16_384, seed=seed)


def disaggregated(worker: Worker, transfer: KvTransfer, **changes: int) -> Deployment:
    values = {"prefill_replicas": 1, "routing_threshold": 1024} | changes
    return Deployment(decode=worker, prefill=worker, transfer=transfer, **values)


def test_zero_load_colocated_is_prefill_plus_steps(worker: Worker, fixed: Fixed) -> None:
    """A lone request: the bare prefill, then one decode step per further token."""
    traffic = fixed(4096, 2, concurrency=1)
    result = run(Deployment(decode=worker), traffic, 20)
    bare = prefill_seconds(worker.costs, 4096, max_num_batched_tokens=8192)
    step = step_seconds(worker.costs, 0, 0.0, 1, 4097)
    assert result.ttft.mean == pytest.approx(bare, rel=1e-12)
    assert result.e2e.mean == pytest.approx(bare + step, rel=1e-12)
    assert result.itl.mean == pytest.approx(step, rel=1e-12)


def test_zero_load_disaggregated_adds_the_way_and_one_step(
    worker: Worker, transfer: KvTransfer, fixed: Fixed
) -> None:
    """A lone request: prefill, hand-over, transfer of its chunks, copy, and one decode step."""
    result = run(disaggregated(worker, transfer), fixed(4000, 2, concurrency=1), 20)
    bare = prefill_seconds(worker.costs, 4000, max_num_batched_tokens=8192)
    way = (
        transfer.store_seconds_per_prompt
        + kv_chunks(4000) * transfer.seconds_per_chunk
        + transfer.handoff_seconds
        + 4000 * transfer.retrieve_seconds_per_token
    )
    step = step_seconds(worker.costs, 0, 0.0, 1, 4000)
    assert result.ttft.mean == pytest.approx(bare + way + step, rel=1e-12)


def test_a_prompt_beyond_the_token_budget_runs_in_chunks(worker: Worker, fixed: Fixed) -> None:
    """10,000 tokens at 4,096 a step are three steps."""
    small = replace(worker, max_num_batched_tokens=4096)
    result = run(Deployment(decode=small), fixed(10_000, 1, concurrency=1), 10)
    expected = prefill_seconds(worker.costs, 10_000, max_num_batched_tokens=4096)
    assert result.ttft.mean == pytest.approx(expected, rel=1e-12)
    assert result.steps == (30,)


def test_free_transfer_and_infinite_threshold_is_the_colocated_engine(
    worker: Worker, fixed: Fixed
) -> None:
    """Nothing goes to the prefill worker, and every number is the same."""
    free = KvTransfer(
        seconds_per_chunk=0.0,
        store_seconds_per_prompt=0.0,
        handoff_seconds=0.0,
        retrieve_seconds_per_token=0.0,
        buffer_chunks=819,
    )
    traffic = fixed(*MIXED, rate=2.0)
    split = run(disaggregated(worker, free, routing_threshold=1 << 40), traffic)
    whole = run(Deployment(decode=worker), traffic)
    assert split.remote_share == 0
    assert split.busy_seconds == (0.0, *whole.busy_seconds)
    same = replace(split, busy_seconds=whole.busy_seconds, steps=whole.steps)
    assert replace(same, prefill_utilization=0.0) == whole


def test_an_overloaded_run_is_measured_with_its_drain(worker: Worker, fixed: Fixed) -> None:
    """While requests arrive all at once, nothing is finished; the rate is that of the whole run."""
    result = run(Deployment(decode=worker), fixed(4096, 256, rate=500.0), 2000)
    assert result.is_overloaded
    assert result.request_rate == pytest.approx(2000 / result.seconds)
    assert result.output_token_rate == pytest.approx(2000 * 256 / result.seconds)


def test_a_high_rate_alone_is_no_overload(worker: Worker, fixed: Fixed) -> None:
    """Many requests are at work when the last one arrives, and none of them waits."""
    many = Deployment(decode=worker, decode_replicas=64)
    result = run(many, fixed(64, 200, rate=100.0), 2000)
    assert result.mean_in_system > 0.05 * 2000
    assert not result.is_overloaded


def test_fill_is_the_share_of_places_and_cache_that_is_taken(worker: Worker, fixed: Fixed) -> None:
    """One user holds one of 64 places, and prompt and answer in the cache, all the time."""
    result = run(Deployment(decode=worker), fixed(1000, 500, concurrency=1), 50)
    assert result.decode_batch_fill == pytest.approx(1 / 64, rel=0.02)
    assert result.decode_kv_fill == pytest.approx(1500 / worker.kv_cache_tokens, rel=0.02)


@pytest.mark.parametrize("arrivals", [{"rate": 3.0}, {"concurrency": 12}], ids=["open", "closed"])
@pytest.mark.parametrize("kind", ["colocated", "disaggregated"])
@pytest.mark.parametrize("seed", [0, 7])
def test_littles_law_and_work_conservation(
    arrivals: dict[str, float],
    kind: str,
    seed: int,
    worker: Worker,
    transfer: KvTransfer,
    fixed: Fixed,
) -> None:
    """Requests in the system = arrival rate * time in it; every token is computed exactly once."""
    deployment = (
        Deployment(decode=worker, decode_replicas=2)
        if kind == "colocated"
        else disaggregated(worker, transfer, prefill_replicas=2)
    )
    traffic = fixed(3000, 150, **arrivals)
    result = run(deployment, traffic, 500, seed)
    assert result.requests == 500
    assert result.mean_in_system * result.seconds == pytest.approx(result.latency_sum, rel=1e-9)
    assert result.prompt_tokens == 500 * 3000
    first_tokens = 500 if kind == "colocated" else 0
    assert result.decode_tokens + first_tokens == 500 * 150
    assert max(result.busy_seconds) <= result.seconds


def test_a_closed_loop_keeps_its_users_in_the_system(worker: Worker, fixed: Fixed) -> None:
    """Throughput * time in the system = number of users."""
    result = run(Deployment(decode=worker), fixed(2048, 100, concurrency=16), 3000)
    assert result.request_rate * result.e2e.mean == pytest.approx(16, rel=0.02)


def test_a_worker_with_work_never_idles(worker: Worker, fixed: Fixed) -> None:
    """Under a closed loop a single worker is busy from the first request to the last token."""
    result = run(Deployment(decode=worker), fixed(1000, 50, concurrency=8), 200)
    assert result.busy_seconds[0] == pytest.approx(result.seconds, rel=1e-9)


def test_steps_add_up_to_the_busy_time(worker: Worker, fixed: Fixed) -> None:
    """One user: every step of every request, counted by hand."""
    result = run(Deployment(decode=worker), fixed(512, 4, concurrency=1), 10)
    costs = worker.costs
    request = step_seconds(costs, 512, attention_pairs(512, 0), 0, 0)
    request += sum(step_seconds(costs, 0, 0.0, 1, 512 + made) for made in (1, 2, 3))
    assert result.busy_seconds[0] == pytest.approx(10 * request, rel=1e-12)
    assert result.steps == (40,)


def test_kv_capacity_limits_what_runs(worker: Worker, fixed: Fixed) -> None:
    """With room for two requests, 16 users wait for each other."""
    full = replace(worker, kv_cache_tokens=16_384)
    result = run(Deployment(decode=full), fixed(7000, 500, concurrency=16))
    free = run(Deployment(decode=worker), fixed(7000, 500, concurrency=16))
    assert result.itl.p99 < free.itl.p99
    assert result.ttft.p50 > 4 * free.ttft.p50


def test_a_small_pd_buffer_makes_transfers_wait(
    worker: Worker, transfer: KvTransfer, fixed: Fixed
) -> None:
    """64 chunks hold four prompts of 4,096; a slow decode worker leaves them there."""
    slow = replace(worker, max_num_seqs=4)
    tight = replace(transfer, buffer_chunks=64)
    traffic = fixed(4096, 400, concurrency=24)
    roomy = run(disaggregated(slow, transfer), traffic)
    small = run(disaggregated(slow, tight), traffic)
    assert roomy.buffer_waits == 0
    assert small.buffer_waits > 0


def test_the_threshold_splits_the_traffic(
    worker: Worker, transfer: KvTransfer, fixed: Fixed
) -> None:
    """Half of a lognormal lies above its median."""
    traffic = fixed(*MIXED, rate=1.0)
    result = run(disaggregated(worker, transfer, routing_threshold=2700), traffic, 4000)
    assert result.remote_share == pytest.approx(0.5, abs=0.02)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    prefill_workers=st.integers(0, 3),
    decoders=st.integers(1, 2),
    threshold=st.integers(0, 6000),
    rate=st.floats(0.5, 6),
    seed=st.integers(0, 1000),
)
def test_identities_hold_for_any_deployment(
    worker: Worker,
    transfer: KvTransfer,
    fixed: Fixed,
    prefill_workers: int,
    decoders: int,
    threshold: int,
    rate: float,
    seed: int,
) -> None:
    """Every request finishes, in no less than its bare time, under Little's law."""
    deployment = disaggregated(
        worker,
        transfer,
        prefill_replicas=prefill_workers,
        decode_replicas=decoders,
        routing_threshold=threshold,
    )
    result = run(deployment, fixed(*MIXED, rate=rate), 200, seed)
    assert result.requests == 200
    assert result.mean_in_system * result.seconds == pytest.approx(result.latency_sum, rel=1e-9)
    assert result.e2e.mean >= result.ttft.mean > 0


def test_the_same_seed_gives_the_same_result_and_another_one_does_not(
    worker: Worker, transfer: KvTransfer, fixed: Fixed
) -> None:
    """Bit for bit."""
    traffic = fixed(*MIXED, rate=3.0)
    deployment = disaggregated(worker, transfer)
    assert run(deployment, traffic) == run(deployment, traffic)
    assert run(deployment, traffic) != run(deployment, traffic, seed=1)


_SCRIPT = """
import sys
sys.path.insert(0, "tests/planner")
from dpd.catalog import instance_types, model_architectures
from dpd.planner.constants import default_constants
from dpd.planner.deployment import *
from dpd.planner.simulation.simulate import simulate
from dpd.planner.step_time import step_costs
from dpd.planner.traffic import *
costs = step_costs(model_architectures()["llama-3.3-70b"], instance_types()["ml.p5.48xlarge"],
                   default_constants(), tensor_parallel=8)
worker = Worker(costs=costs, kv_cache_tokens=60000, max_num_seqs=16, max_num_batched_tokens=2048)
way = KvTransfer(seconds_per_chunk=0.0003, store_seconds_per_prompt=0.02, handoff_seconds=0.01,
                 retrieve_seconds_per_token=2e-7, buffer_chunks=70)
split = Deployment(decode=worker, prefill=worker, prefill_replicas=2, routing_threshold=2000,
                   transfer=way)
kind = {"input": {"median": 2700, "sigma": 0.9}, "output": {"median": 60, "sigma": 0.7}}
profile = TrafficProfile.model_validate({"rate": 3, "classes": [kind]})
print(simulate(split, Traffic(profile), requests=60, max_model_len=16384))
"""


def test_compiled_and_interpreted_runs_agree_to_the_last_bit() -> None:
    """Numba changes the speed and nothing else."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "NUMBA_DISABLE_JIT": switch, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for switch in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert "requests=60" in outputs[0]
