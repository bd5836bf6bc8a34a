"""What is asked of the planner: a model on an instance type, under traffic, within targets."""

from dataclasses import dataclass, field
from typing import Literal

from dpd.catalog.instance_types import InstanceType
from dpd.catalog.models import ModelArchitecture
from dpd.planner.constants import Constants, default_constants
from dpd.planner.memory import (
    GIB,
    GpuMemory,
    gpu_memory,
    kv_bytes_per_token_per_rank,
    minimum_pd_buffer_bytes,
)
from dpd.planner.prices import PriceTable, read_prices
from dpd.planner.step_time import StepCosts, step_costs
from dpd.planner.traffic import Targets, Traffic

Runtime = Literal["operator", "self-managed"]

DEFAULT_PD_BUFFER_BYTES = 8 * GIB
"""`PD_BUFFER_SIZE` of AWS's operator; larger than any prompt needs, so a default, not a bound."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Everything that a plan is computed from."""

    model: ModelArchitecture
    instance: InstanceType
    traffic: Traffic
    targets: Targets
    max_model_len: int = 16_384
    gpu_memory_utilization: float = 0.75
    colocated_gpu_memory_utilization: float = 0.9
    """vLLM's default: a colocated worker has no PD buffer beside it."""
    weight_format: str = "bfloat16"
    kv_cache_format: str = "auto"
    tensor_parallel: tuple[int, ...] = (8,)
    """Sizes to try; both roles have the same, as LMCache requires."""
    runtime: Runtime = "operator"
    max_nodes: int = 8
    max_decode_replicas: int = 1
    """The operator runs one decode worker."""
    requests: int = 10_000
    """Simulated requests of one run."""
    seed: int = 0
    prices: PriceTable = field(default_factory=read_prices)
    constants: Constants = field(default_factory=default_constants)
    step_costs_override: StepCosts | None = None
    """Costs from another backend, for the only tensor-parallel size."""

    @property
    def usd_per_node_hour(self) -> float:
        """Price of one node."""
        return self.prices.usd_per_hour[self.instance.name]

    @property
    def has_targets(self) -> bool:
        """Whether any latency is limited."""
        targets = (self.targets.ttft, self.targets.itl, self.targets.e2e)
        return any(percentiles.limits() for percentiles in targets)

    @property
    def is_open_ended(self) -> bool:
        """Whether nothing limits a plan: users wait as long as it takes."""
        return self.traffic.users > 0 and not self.has_targets

    def costs(self, tensor_parallel: int) -> StepCosts:
        """Return the step costs of a worker."""
        if self.step_costs_override is not None:
            return self.step_costs_override
        return step_costs(
            self.model,
            self.instance,
            self.constants,
            tensor_parallel=tensor_parallel,
            weight_format=self.weight_format,
            kv_cache_format=self.kv_cache_format,
        )

    def kv_bytes(self, tensor_parallel: int) -> int:
        """Return KV cache bytes per token and rank."""
        return kv_bytes_per_token_per_rank(
            self.model, tensor_parallel=tensor_parallel, kv_cache_format=self.kv_cache_format
        )

    def minimum_pd_buffer(self, tensor_parallel: int) -> int:
        """Return the bytes of the longest prompt in the PD buffer."""
        return minimum_pd_buffer_bytes(
            self.max_model_len, kv_bytes_per_token=self.kv_bytes(tensor_parallel)
        )

    def utilization(self, *, is_disaggregated: bool) -> float:
        """Return `--gpu-memory-utilization` of a topology's workers."""
        if is_disaggregated:
            return self.gpu_memory_utilization
        return self.colocated_gpu_memory_utilization

    def memory(
        self, tensor_parallel: int, *, pd_buffer_bytes: int, max_num_batched_tokens: int = 8192
    ) -> GpuMemory:
        """Return how a GPU's memory is divided; without a PD buffer, that of a colocated worker."""
        utilization = self.utilization(is_disaggregated=pd_buffer_bytes > 0)
        return gpu_memory(
            self.model,
            gpu_memory_gib=self.instance.gpu_memory_gib,
            tensor_parallel=tensor_parallel,
            gpu_memory_utilization=utilization,
            weight_format=self.weight_format,
            max_num_batched_tokens=max_num_batched_tokens,
            pd_buffer_bytes=pd_buffer_bytes,
        )
