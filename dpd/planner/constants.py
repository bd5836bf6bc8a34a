"""The numbers of the step-time model that no data sheet gives, one set for everything."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dpd.catalog.data import Fact


class Constants(Fact):
    """Values of `constants.yaml`, which says what each one is and where it comes from."""

    bf16_gemm_efficiency: float
    fp8_gemm_efficiency: float
    attention_efficiency: float
    weight_read_efficiency: float
    kv_read_efficiency: float
    nvlink_efficiency: float
    all_reduce_latency: float
    kernel_seconds_per_layer: float
    launch_seconds_per_layer: float
    host_seconds_per_step: float
    efa_efficiency: float
    store_seconds_per_prompt: float
    handoff_seconds: float
    retrieve_gib_per_s: float


class DocumentedConstant(Fact):
    """One entry of `constants.yaml`."""

    name: str
    value: float
    unit: str
    meaning: str
    source: str


@cache
def documented_constants() -> tuple[DocumentedConstant, ...]:
    """Return all constants with their meaning and source."""
    path = Path(__file__).with_name("constants.yaml")
    entries: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(DocumentedConstant.model_validate(entry) for entry in entries)


@cache
def default_constants() -> Constants:
    """Return the one set of constants that every result is computed with."""
    values = {entry.name: entry.value for entry in documented_constants()}
    return Constants.model_validate(values)
