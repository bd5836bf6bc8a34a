"""What a simulation runs: workers, router threshold and KV transfer."""

from dataclasses import dataclass

from dpd.planner.step_time import StepCosts


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One vLLM worker."""

    costs: StepCosts
    kv_cache_tokens: int
    max_num_seqs: int
    max_num_batched_tokens: int
    is_chunked: bool = True
    """Whether a prompt may be split over steps (vLLM's default; TensorRT-LLM's is not)."""


@dataclass(frozen=True, kw_only=True)
class KvTransfer:
    """Way of the KV cache from a prefill worker to a decode worker."""

    seconds_per_chunk: float
    """One chunk of 256 tokens over one GPU's share of EFA, all ranks in parallel."""
    store_seconds_per_prompt: float
    """How long a prefill worker is held up by handing one prompt to the connector."""
    handoff_seconds: float
    """Router and connector, per request."""
    retrieve_seconds_per_token: float
    """Copy from the PD buffer to the KV cache, during which the decode worker waits."""
    buffer_chunks: int
    """Chunks that the PD buffer of a decode worker holds."""


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Prefill and decode workers, or colocated workers where there is no `prefill`."""

    decode: Worker
    """The decode worker; under a colocated deployment, the worker that does both."""
    decode_replicas: int = 1
    prefill: Worker | None = None
    prefill_replicas: int = 0
    routing_threshold: int = 0
    """Prompts of at least so many tokens go to a prefill worker."""
    transfer: KvTransfer | None = None

    @property
    def is_disaggregated(self) -> bool:
        """Whether there are prefill workers."""
        return self.prefill_replicas > 0
