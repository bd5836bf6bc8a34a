"""Step times and estimates of NVIDIA AIConfigurator 0.12.0, which may live in another Python.

The package is deprecated upstream and its successor is not on PyPI, so nothing else imports it.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpd.errors import UserError
from dpd.planner.question import Question
from dpd.planner.step_time import StepCosts, attention_pairs

SYSTEMS = {"H100": "h100_sxm", "H200": "h200_sxm", "B200": "b200_sxm", "B300": "b300_sxm"}
MODELS = {
    # Llama 3.3 70B has the shape of 3.1 70B, and only that one comes with the package.
    "llama-3.3-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.1-405b": "meta-llama/Meta-Llama-3.1-405B",
    "qwen3-32b": "Qwen/Qwen3-32B",
}
_PROMPTS = (512, 1024, 2048, 4096, 8192)
_BATCHES = ((1, 1024), (8, 1024), (32, 1024), (8, 4096), (32, 4096), (64, 4096), (32, 8192))
_TIMEOUT_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One question to AIConfigurator."""

    model: str
    system: str
    tensor_parallel: int
    mode: str
    """`static_ctx`, `static_gen`, `agg` or `disagg`."""
    sequences: int
    input_tokens: int
    output_tokens: int
    weights: str = "bfloat16"


@dataclass(frozen=True)
class Estimated:
    """Its answer, in seconds and tokens a second."""

    ttft: float
    itl: float
    token_rate: float


def estimates(questions: list[Estimate], *, python: str) -> list[Estimated]:
    """Ask the AIConfigurator that `python` has.

    Raises:
        UserError: it is not installed there, or has no data for a question.
    """
    child = Path(__file__).with_name("aiconfigurator_child.py")
    try:
        done = subprocess.run(  # noqa: S603 - the Python that the user names
            [python, "-I", str(child)],  # -I: this folder must not hide the package
            input=json.dumps([_as_data(question) for question in questions]),
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
        )
    except OSError as error:
        raise UserError(f"--aiconfigurator-python {python}: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"aiconfigurator does not run under {python}: {last}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    for question, answer in zip(questions, answers, strict=True):
        if "error" in answer:
            raise UserError(f"aiconfigurator has no answer for {question}: {answer['error'][:200]}")
    return [Estimated(a["ttft"], a["itl"], a["tokenRate"]) for a in answers]


def costs_for(question: Question, *, python: str) -> dict[str, Any]:
    """Return the fields of a `Question` that make it use AIConfigurator's step times.

    They are step times of the GPU; the host's time per step stays ours.
    """
    import numpy as np

    if question.model.name not in MODELS or question.instance.gpu not in SYSTEMS:
        raise UserError(
            f"aiconfigurator: no data for {question.model.name} on {question.instance.gpu}; "
            f"models: {', '.join(sorted(MODELS))}; GPUs: {', '.join(SYSTEMS)}"
        )
    size = question.tensor_parallel[0]

    def ask(mode: str, sequences: int, tokens: int) -> Estimate:
        return Estimate(
            model=MODELS[question.model.name],
            system=SYSTEMS[question.instance.gpu],
            tensor_parallel=size,
            mode=mode,
            sequences=sequences,
            input_tokens=tokens,
            output_tokens=1 if mode == "static_ctx" else 2,
            weights=question.weight_format,
        )

    found = estimates(
        [ask("static_ctx", 1, tokens) for tokens in _PROMPTS]
        + [ask("static_gen", sequences, tokens) for sequences, tokens in _BATCHES],
        python=python,
    )
    prompts = np.array([answer.ttft for answer in found[: len(_PROMPTS)]])
    steps = np.array([answer.itl for answer in found[len(_PROMPTS) :]])
    base, per_token, per_pair = _fit(
        [[1.0, tokens, attention_pairs(tokens, 0)] for tokens in _PROMPTS], prompts
    )
    fixed, per_sequence, per_context = _fit(
        [[1.0, sequences, sequences * tokens] for sequences, tokens in _BATCHES], steps
    )
    own = question.costs(size)
    # What a prompt and a decode step both have is kernels and all-reduce; the rest of a decode step
    # is reading weights, behind which its few matrix operations hide.
    shared = min(base, fixed)
    costs = StepCosts(
        gemm_per_token=per_token,
        weights_read=fixed - shared,
        sparsity=0.0,
        attention_per_pair=per_pair,
        kv_read_per_token=per_context,
        all_reduce=0.0,
        all_reduce_per_token=0.0,
        kernels=shared,
        host=own.host + per_sequence,
        launch=own.launch,
    )
    return {"step_costs_override": costs, "tensor_parallel": (size,)}


def _fit(rows: list[list[float]], seconds: Any) -> tuple[float, float, float]:
    """Return non-negative factors with the smallest relative errors; one of few columns at zero."""
    import numpy as np

    weighted = np.array(rows) / seconds[:, None]
    best: tuple[float, Any] | None = None
    for kept in ((0, 1, 2), (0, 1), (1, 2), (0, 2), (1,), (2,), (0,)):
        factors = np.zeros(3)
        factors[list(kept)] = np.linalg.lstsq(weighted[:, kept], np.ones(len(rows)), rcond=None)[0]
        error = float(np.abs(weighted @ factors - 1).mean())
        if (factors >= 0).all() and (best is None or error < best[0]):
            best = (error, factors)
    assert best is not None
    return tuple(float(factor) for factor in best[1])  # type: ignore[return-value]  # three columns


def _as_data(question: Estimate) -> dict[str, Any]:
    return {
        "model": question.model,
        "system": question.system,
        "tensorParallel": question.tensor_parallel,
        "mode": question.mode,
        "sequences": question.sequences,
        "input": question.input_tokens,
        "output": question.output_tokens,
        "weights": question.weights,
    }
