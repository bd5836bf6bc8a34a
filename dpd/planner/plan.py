"""One plan: the values that an environment file would hold, and the deployment they make."""

from dataclasses import dataclass
from math import ceil

from dpd.planner.defaults import (
    DECODE_MAX_NUM_SEQS,
    MAX_NUM_BATCHED_TOKENS,
    PREFILL_MAX_NUM_SEQS,
)
from dpd.planner.deployment import Deployment, KvTransfer, Worker
from dpd.planner.memory import GIB, KV_CHUNK_TOKENS, kv_chunks
from dpd.planner.question import Question


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A disaggregated plan, or a colocated one where there are no prefill replicas."""

    tensor_parallel: int
    decode_replicas: int = 1
    """Decode workers, or colocated workers."""
    decode_max_num_seqs: int = DECODE_MAX_NUM_SEQS
    decode_max_num_batched_tokens: int = MAX_NUM_BATCHED_TOKENS
    prefill_replicas: int = 0
    prefill_max_num_seqs: int = PREFILL_MAX_NUM_SEQS
    prefill_max_num_batched_tokens: int = MAX_NUM_BATCHED_TOKENS
    routing_threshold: int = 0
    pd_buffer_bytes: int = 0

    @property
    def is_disaggregated(self) -> bool:
        """Whether there are prefill workers."""
        return self.prefill_replicas > 0

    def nodes(self, gpus_per_node: int) -> int:
        """Return the nodes it takes: the two roles never share one, or EFA between them fails."""
        per_node = gpus_per_node // self.tensor_parallel
        return ceil(self.prefill_replicas / per_node) + ceil(self.decode_replicas / per_node)

    def describe(self) -> str:
        """Return the plan in a few words."""
        if not self.is_disaggregated:
            return f"{self.decode_replicas} colocated, TP {self.tensor_parallel}"
        return (
            f"{self.prefill_replicas} prefill + {self.decode_replicas} decode, "
            f"TP {self.tensor_parallel}, threshold {self.routing_threshold}"
        )


def problem(plan: Plan, question: Question) -> str | None:
    """Return why the plan cannot run, with the sum; nothing where it can."""
    for batched in {plan.prefill_max_num_batched_tokens, plan.decode_max_num_batched_tokens}:
        memory = question.memory(
            plan.tensor_parallel,
            is_disaggregated=plan.is_disaggregated,
            pd_buffer_bytes=plan.pd_buffer_bytes,
            max_num_batched_tokens=batched,
        )
        where = f"TP {plan.tensor_parallel} on {question.instance.gpu}"
        tokens = memory.kv_cache_tokens(question.kv_bytes(plan.tensor_parallel))
        if tokens < question.max_model_len:
            need = question.max_model_len * question.kv_bytes(plan.tensor_parallel) / GIB
            return (
                f"{where}: {memory}, but one request of {question.max_model_len} tokens "
                f"needs {need:.1f}"
            )
        if plan.is_disaggregated and memory.outside_spare_bytes < 0:
            return f"{where}: the PD buffer does not fit: {memory}"
    if plan.is_disaggregated:
        minimum = question.minimum_pd_buffer(plan.tensor_parallel)
        if plan.pd_buffer_bytes < minimum:
            return (
                f"PD buffer of {plan.pd_buffer_bytes / GIB:.2f} GiB is smaller than the longest "
                f"prompt of {minimum / GIB:.2f} GiB"
            )
    return None


def deployment(plan: Plan, question: Question) -> Deployment:
    """Return what the simulation runs for a plan without `problem`."""
    constants = question.constants
    kv_bytes = question.kv_bytes(plan.tensor_parallel)
    costs = question.costs(plan.tensor_parallel)

    def worker(max_num_seqs: int, batched_tokens: int) -> Worker:
        memory = question.memory(
            plan.tensor_parallel,
            is_disaggregated=plan.is_disaggregated,
            pd_buffer_bytes=plan.pd_buffer_bytes,
            max_num_batched_tokens=batched_tokens,
        )
        return Worker(
            costs=costs,
            kv_cache_tokens=memory.kv_cache_tokens(kv_bytes),
            max_num_seqs=max_num_seqs,
            max_num_batched_tokens=batched_tokens,
        )

    decode = worker(plan.decode_max_num_seqs, plan.decode_max_num_batched_tokens)
    if not plan.is_disaggregated:
        return Deployment(decode=decode, decode_replicas=plan.decode_replicas)
    chunk_bytes = KV_CHUNK_TOKENS * kv_bytes
    buffer_chunks = plan.pd_buffer_bytes // chunk_bytes
    retrieve = kv_bytes / (constants.retrieve_gib_per_s * GIB)
    if question.connector == "nixl":
        # Blocks arrive in the decode worker's own KV cache: that is the buffer, and nothing copies.
        buffer_chunks, retrieve = kv_chunks(decode.kv_cache_tokens), 0.0
    efa_per_gpu = question.instance.network_gbps * 1e9 / 8 / question.instance.gpu_count
    return Deployment(
        decode=decode,
        decode_replicas=plan.decode_replicas,
        prefill=worker(plan.prefill_max_num_seqs, plan.prefill_max_num_batched_tokens),
        prefill_replicas=plan.prefill_replicas,
        routing_threshold=plan.routing_threshold,
        transfer=KvTransfer(
            seconds_per_chunk=chunk_bytes / (efa_per_gpu * constants.efa_efficiency),
            store_seconds_per_prompt=constants.store_seconds_per_prompt,
            handoff_seconds=constants.handoff_seconds,
            retrieve_seconds_per_token=retrieve,
            buffer_chunks=buffer_chunks,
        ),
    )
