"""AIConfigurator's step times as a table: where the GPU constants come from."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpd.catalog.instance_types import InstanceType, instance_types
from dpd.catalog.models import model_architectures
from dpd.planner.constants import Constants
from dpd.planner.step_time import attention_pairs, step_costs, step_seconds

INSTANCE_TYPES = {
    "h100_sxm": "ml.p5.48xlarge",
    "h200_sxm": "ml.p5en.48xlarge",
    "b200_sxm": "ml.p6-b200.48xlarge",
}
"""Instance type by AIConfigurator's name of the system."""


@dataclass(frozen=True)
class StepPoint:
    """One step: a whole prompt, or one token of each of several sequences."""

    system: str
    model: str
    tensor_parallel: int
    weights: str
    phase: str
    sequences: int
    tokens: int
    """Length of the prompt, or of the context of every sequence."""
    seconds: float

    @property
    def instance(self) -> InstanceType:
        """The instance type with these GPUs."""
        return instance_types()[INSTANCE_TYPES[self.system]]


@cache
def step_grid() -> tuple[StepPoint, ...]:
    """Return step times of AIConfigurator 0.12.0, vLLM 0.24.0 tables, silicon mode."""
    path = Path(__file__).with_name("aiconfigurator_steps.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        return tuple(
            StepPoint(
                system=row["system"],
                model=row["model"],
                tensor_parallel=int(row["tensor_parallel"]),
                weights=row["weights"],
                phase=row["phase"],
                sequences=int(row["sequences"]),
                tokens=int(row["tokens"]),
                seconds=float(row["milliseconds"]) / 1000,
            )
            for row in csv.DictReader(stream)
        )


def modelled_seconds(point: StepPoint, constants: Constants) -> float:
    """Return our time of the same step: GPU only, as AIConfigurator leaves the host out."""
    costs = step_costs(
        model_architectures()[point.model],
        point.instance,
        constants,
        tensor_parallel=point.tensor_parallel,
        weight_format=point.weights,
        kv_cache_format="fp8" if point.weights == "fp8" else "auto",
    )._replace(host=0.0, launch=0.0)
    if point.phase == "prefill":
        return step_seconds(costs, point.tokens, attention_pairs(point.tokens, 0), 0, 0)
    return step_seconds(costs, 0, 0.0, point.sequences, point.sequences * point.tokens)
