"""Compares the planner with published measurements: `python -m dpd.planner.accuracy [FILE]`.

Writes the page `docs/planner-accuracy.md`: every row, misses included.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dpd.catalog import instance_types, model_architectures
from dpd.planner.constants import default_constants
from dpd.planner.defaults import PD_BUFFER_BYTES
from dpd.planner.deployment import Deployment, Worker
from dpd.planner.memory import gpu_memory, kv_bytes_per_token_per_rank
from dpd.planner.plan import Plan, deployment
from dpd.planner.question import Question
from dpd.planner.simulation.simulate import Result, simulate
from dpd.planner.step_grid import modelled_seconds, step_grid
from dpd.planner.step_time import step_costs
from dpd.planner.traffic import Fixed, Targets, Traffic, TrafficClass, TrafficProfile

MODEL = "llama-3.3-70b"
BLOG_CONCURRENCY = (8, 16, 32)


@dataclass(frozen=True)
class Comparison:
    """One number of the planner beside a measured one."""

    case: str
    quantity: str
    ours: float
    measured: float

    @property
    def error(self) -> float:
        """Relative error."""
        return self.ours / self.measured - 1

    @property
    def points(self) -> float:
        """Difference, for numbers that are percentages already."""
        return self.ours - self.measured


@cache
def measurements() -> dict[str, Any]:
    """Return the published numbers."""
    path = Path(__file__).with_name("measurements.yaml")
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


@cache
def nim_comparisons() -> tuple[Comparison, ...]:
    """Return time to first token, inter-token latency and throughput of every NIM row.

    NIM serves this profile with TensorRT-LLM, which runs a prompt in one step (chunked context is
    off by default), with 8,192 tokens a step, 90 % of the memory, and an fp8 KV cache.
    """
    found = []
    for row in measurements()["nim"]["rows"]:
        users = row["concurrency"]
        result = _nim(users)
        case = f"row {row['row']}, concurrency {users}"
        found.append(Comparison(case, "TTFT ms", result.ttft.mean * 1000, row["ttft"]))
        found.append(Comparison(case, "ITL ms", result.itl.mean * 1000, row["itl"]))
        if "throughput" in row:
            rate = result.output_token_rate
            found.append(Comparison(case, "tokens/s", rate, row["throughput"]))
    return tuple(found)


def _nim(users: int) -> Result:
    model, instance = model_architectures()[MODEL], instance_types()["ml.p5.48xlarge"]
    memory = gpu_memory(
        model,
        gpu_memory_gib=instance.gpu_memory_gib,
        tensor_parallel=2,
        gpu_memory_utilization=0.9,
        weight_format="fp8",
    )
    worker = Worker(
        costs=step_costs(
            model,
            instance,
            default_constants(),
            tensor_parallel=2,
            weight_format="fp8",
            kv_cache_format="fp8",
        ),
        kv_cache_tokens=memory.kv_cache_tokens(
            kv_bytes_per_token_per_rank(model, tensor_parallel=2, kv_cache_format="fp8")
        ),
        max_num_seqs=512,
        max_num_batched_tokens=8192,
        is_chunked=False,
    )
    traffic = _closed_loop(users, 5000, 500)
    return simulate(
        Deployment(decode=worker), traffic, requests=max(60, users * 12), max_model_len=8192
    )


@cache
def blog_changes(gpu: str) -> dict[int, dict[str, float]]:
    """Return the change in % of latency and throughput by concurrency, as the blog measured it."""
    system = next(s for s in measurements()["blog"]["systems"] if s["gpu"] == gpu)
    question = Question(
        model=model_architectures()[MODEL],
        instance=instance_types()[system["instance"]],
        traffic=_closed_loop(8, 4096, 256),
        targets=Targets(),
    )
    colocated = Plan(tensor_parallel=8, decode_max_num_seqs=256)
    split = Plan(
        tensor_parallel=8,
        prefill_replicas=1,
        routing_threshold=4096,
        pd_buffer_bytes=PD_BUFFER_BYTES,
    )
    changes = {}
    for users in BLOG_CONCURRENCY:
        before, after = (
            simulate(
                deployment(plan, question),
                _closed_loop(users, 4096, 256),
                requests=2000,
                max_model_len=question.max_model_len,
            )
            for plan in (colocated, split)
        )
        changes[users] = {
            "itl": _percent(after.itl.p50, before.itl.p50),
            "e2e": _percent(after.e2e.p50, before.e2e.p50),
            "throughput": _percent(after.output_token_rate, before.output_token_rate),
        }
    return changes


def blog_comparisons(*, ends_by_concurrency: bool = False) -> tuple[Comparison, ...]:
    """Return our changes beside the blog's, in percent.

    Args:
        ends_by_concurrency: Read the ends of the end-to-end range as concurrency 8 and 32, and
            the highest throughput as that of 32, instead of as the range over all.
    """
    found = []
    for system in measurements()["blog"]["systems"]:
        gpu = system["gpu"]
        ours = blog_changes(gpu)
        e2e = [ours[users]["e2e"] for users in BLOG_CONCURRENCY]
        rates = [ours[users]["throughput"] for users in BLOG_CONCURRENCY]
        least, most, rate = max(e2e), min(e2e), max(rates)
        if ends_by_concurrency:
            least, most, rate = e2e[0], e2e[-1], rates[-1]
        found += [
            Comparison(gpu, "ITL, concurrency 8", ours[8]["itl"], system["itlAt8"]),
            Comparison(gpu, "ITL, concurrency 32", ours[32]["itl"], system["itlAt32"]),
            Comparison(gpu, "end to end p50, least", least, system["e2eLeast"]),
            Comparison(gpu, "end to end p50, most", most, system["e2eMost"]),
            Comparison(gpu, "throughput, most", rate, system["throughputMost"]),
        ]
    return tuple(found)


@cache
def step_errors() -> tuple[tuple[str, float], ...]:
    """Return (kind of step, relative error) for every step time that the constants were fit to."""
    constants = default_constants()
    return tuple(
        (
            f"{point.system}, {point.model}, {point.weights}, {point.phase}",
            modelled_seconds(point, constants) / point.seconds - 1,
        )
        for point in step_grid()
    )


def mean_error(values: list[float]) -> float:
    """Return the mean of the absolute values."""
    return sum(abs(value) for value in values) / len(values)


def _closed_loop(users: int, input_tokens: int, output_tokens: int) -> Traffic:
    kind = TrafficClass(input=Fixed(tokens=input_tokens), output=Fixed(tokens=output_tokens))
    return Traffic(TrafficProfile(concurrency=users, classes=(kind,)))


def _percent(after: float, before: float) -> float:
    return 100 * (after / before - 1)


if __name__ == "__main__":
    from dpd.planner.accuracy_page import page

    text = page()
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        print(text)
