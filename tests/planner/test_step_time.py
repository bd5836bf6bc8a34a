"""The step-time model against its limits and against the table it is fitted to."""

from statistics import mean

import pytest

from dpd.catalog.instance_types import instance_types
from dpd.catalog.models import model_architectures
from dpd.planner.constants import Constants, default_constants, documented_constants
from dpd.planner.step_grid import modelled_seconds, step_grid
from dpd.planner.step_time import (
    StepCosts,
    attention_pairs,
    prefill_seconds,
    step_costs,
    step_seconds,
)


def test_a_step_is_never_faster_than_any_of_its_parts(costs: StepCosts) -> None:
    """Compute bounds a large prompt, reading weights a small batch."""
    large = step_seconds(costs, 8192, attention_pairs(8192, 0), 0, 0)
    small = step_seconds(costs, 0, 0.0, 1, 100)
    assert large > 8192 * costs.gemm_per_token > costs.weights_read
    assert small > costs.weights_read > costs.gemm_per_token


def test_chunks_cover_the_same_attention_as_the_whole_prompt() -> None:
    """Pairs of (token, context token) do not depend on where a prompt is cut."""
    chunks = [(0, 3000), (3000, 96), (3096, 1000)]
    assert sum(attention_pairs(size, before) for before, size in chunks) == attention_pairs(4096, 0)


def test_prefill_in_chunks_costs_one_fixed_time_a_chunk(costs: StepCosts) -> None:
    """Two compute-bound chunks differ from one by the fixed costs of a step."""
    whole = prefill_seconds(costs, 8192, max_num_batched_tokens=8192)
    halves = prefill_seconds(costs, 8192, max_num_batched_tokens=4096)
    assert halves - whole == pytest.approx(costs.all_reduce + costs.kernels + costs.host)


def test_one_gpu_does_not_reduce() -> None:
    """TP 1 has no all-reduce."""
    model, instance = model_architectures()["llama-3.1-8b"], instance_types()["ml.p5.48xlarge"]
    single = step_costs(model, instance, default_constants(), tensor_parallel=1)
    assert single.all_reduce == single.all_reduce_per_token == 0


def test_a_mixture_of_experts_reads_more_weights_in_a_larger_batch() -> None:
    """One token reads its active share, many tokens read everything."""
    model, instance = model_architectures()["qwen3-235b-a22b"], instance_types()["ml.p5en.48xlarge"]
    costs = step_costs(model, instance, default_constants(), tensor_parallel=8)
    floor = costs._replace(gemm_per_token=0.0, kernels=0.0, all_reduce=0.0, host=0.0)
    floor = floor._replace(all_reduce_per_token=0.0, kv_read_per_token=0.0)
    one, many = (step_seconds(floor, 0, 0.0, size, 0) for size in (1, 10_000))
    assert one == pytest.approx(costs.weights_read * model.active_parameters / model.parameters)
    assert many == pytest.approx(costs.weights_read)


def test_step_times_agree_with_the_table_on_average() -> None:
    """Within 10 % of AIConfigurator on average, and no kind of GPU off on average by 15 %."""
    constants = default_constants()
    errors = {
        point: modelled_seconds(point, constants) / point.seconds - 1 for point in step_grid()
    }
    assert len(errors) == 408
    assert mean(abs(error) for error in errors.values()) < 0.10
    for system in ("h100_sxm", "h200_sxm", "b200_sxm"):
        assert abs(mean(e for p, e in errors.items() if p.system == system)) < 0.15


def test_every_constant_is_used_and_documented() -> None:
    """The file and the model name the same constants, each with a meaning and a source."""
    documented = {entry.name for entry in documented_constants()}
    aliases = {field.alias for field in Constants.model_fields.values()}
    assert documented == aliases
    assert all(entry.meaning and entry.source for entry in documented_constants())
