"""What is asked of the planner: a model on an instance type, under traffic, within targets."""

from dataclasses import dataclass, field
from typing import Literal

from dpd.catalog.instance_types import InstanceType
from dpd.catalog.models import ModelArchitecture
from dpd.planner.constants import Constants, default_constants
from dpd.planner.defaults import (
    DPD_GPU_MEMORY_UTILIZATION,
    GPU_MEMORY_UTILIZATION,
    MAX_NUM_BATCHED_TOKENS,
)
from dpd.planner.memory import (
    GpuMemory,
    gpu_memory,
    kv_bytes_per_token_per_rank,
    minimum_pd_buffer_bytes,
)
from dpd.planner.prices import PriceTable, read_prices
from dpd.planner.step_time import StepCosts, step_costs
from dpd.planner.traffic import Targets, Traffic

Runtime = Literal["operator", "self-managed"]
Connector = Literal["lmcache", "nixl"]
DEFAULT_REQUESTS = 10_000


@dataclass(frozen=True, kw_only=True)
class Question:
    """Everything that a plan is computed from."""

    model: ModelArchitecture
    instance: InstanceType
    traffic: Traffic
    targets: Targets
    max_model_len: int = 16_384
    gpu_memory_utilization: float = DPD_GPU_MEMORY_UTILIZATION
    colocated_gpu_memory_utilization: float = GPU_MEMORY_UTILIZATION
    """A colocated worker has no PD buffer beside it."""
    weight_format: str = "bfloat16"
    kv_cache_format: str = "auto"
    tensor_parallel: tuple[int, ...] = (8,)
    """Sizes to try; both roles have the same, as LMCache requires."""
    runtime: Runtime = "operator"
    connector: Connector = "lmcache"
    """What moves the KV cache; NIXL has no PD buffer, decode reads prefill's own blocks."""
    has_threshold: bool = True
    """Whether the router leaves short prompts to decode; else all go through prefill."""
    max_nodes: int = 8
    max_decode_replicas: int = 1
    """The operator runs one decode worker."""
    requests: int = DEFAULT_REQUESTS
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
        """Return the bytes of the longest prompt in the PD buffer; 0 where there is none."""
        if self.connector == "nixl":
            return 0
        return minimum_pd_buffer_bytes(
            self.max_model_len, kv_bytes_per_token=self.kv_bytes(tensor_parallel)
        )

    def utilization(self, *, is_disaggregated: bool) -> float:
        """Return `--gpu-memory-utilization` of a topology's workers."""
        if is_disaggregated:
            return self.gpu_memory_utilization
        return self.colocated_gpu_memory_utilization

    def memory(
        self,
        tensor_parallel: int,
        *,
        is_disaggregated: bool,
        pd_buffer_bytes: int = 0,
        max_num_batched_tokens: int = MAX_NUM_BATCHED_TOKENS,
    ) -> GpuMemory:
        """Return how the memory of a worker's GPU is divided."""
        utilization = self.utilization(is_disaggregated=is_disaggregated)
        return gpu_memory(
            self.model,
            gpu_memory_gib=self.instance.gpu_memory_gib,
            tensor_parallel=tensor_parallel,
            gpu_memory_utilization=utilization,
            weight_format=self.weight_format,
            max_num_batched_tokens=max_num_batched_tokens,
            pd_buffer_bytes=pd_buffer_bytes,
        )
