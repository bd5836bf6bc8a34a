"""The adapter to AIConfigurator; it runs only where a Python with the package is named."""

import os
import sys

import pytest

from dpd.errors import UserError
from dpd.planner.aiconfigurator import Estimate, costs_for, estimates
from dpd.planner.estimate import decode_seconds
from dpd.planner.question import Question
from dpd.planner.step_time import prefill_seconds

PYTHON = os.environ.get("DPD_AICONFIGURATOR_PYTHON", "")
needs_it = pytest.mark.skipif(
    not PYTHON, reason="DPD_AICONFIGURATOR_PYTHON names no Python with aiconfigurator 0.12.0"
)


def test_a_missing_package_is_one_line(question: Question) -> None:
    """The Python and what it lacks."""
    ask = Estimate(
        model="m", system="h100_sxm", tensor_parallel=8, mode="static_ctx", sequences=1,
        input_tokens=1, output_tokens=1,
    )  # fmt: skip
    with pytest.raises(UserError, match="aiconfigurator-python /nowhere/python: No such file"):
        estimates([ask], python="/nowhere/python")
    if "aiconfigurator" not in sys.modules and not PYTHON:
        with pytest.raises(UserError, match="aiconfigurator does not run under"):
            costs_for(question, python=sys.executable)


@needs_it
def test_its_step_times_become_the_planners(question: Question) -> None:
    """Prefill of 4,096 and decode of 16 within 10 % of what AIConfigurator says."""
    base = Estimate(
        model="meta-llama/Meta-Llama-3.1-70B", system="h100_sxm", tensor_parallel=8,
        mode="static_ctx", sequences=1, input_tokens=4096, output_tokens=1,
    )  # fmt: skip
    from dataclasses import replace

    decode = replace(base, mode="static_gen", sequences=16, output_tokens=2)
    prompt, step = estimates([base, decode], python=PYTHON)
    costs = costs_for(question, python=PYTHON)["step_costs_override"]
    gpu_only = costs._replace(host=0.0, launch=0.0)
    ours = prefill_seconds(gpu_only, 4096, max_num_batched_tokens=8192)
    assert ours == pytest.approx(prompt.ttft, rel=0.10)
    assert decode_seconds(gpu_only, 16, 4096) == pytest.approx(step.itl, rel=0.10)
