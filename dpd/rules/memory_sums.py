"""Sums about one endpoint's memory, made by `dpd.planner.memory` from what is known of it."""

from collections.abc import Iterator
from typing import NamedTuple

from dpd.catalog import ModelArchitecture
from dpd.planner import memory
from dpd.planner.memory import GIB, KV_CHUNK_TOKENS, GpuMemory
from dpd.rules.view import EndpointView, Role, Written

BUFFER = "PD_BUFFER_SIZE"
DEFAULT_BUFFER_BYTES = 8 * GIB
"""What the operator takes where PD_BUFFER_SIZE is not set."""
DECODE_REQUESTS = 32
"""The operator's default of `--max-num-seqs` for decode workers."""
_DPD_UTILIZATION = 0.75  # The operator's default in a disaggregated endpoint.
_VLLM_UTILIZATION = 0.9
_BATCHED_TOKENS = 8192


class Sizes(NamedTuple):
    """What the sums about one role are made of."""

    role: Role
    model: ModelArchitecture
    model_name: str
    tensor_parallel: int
    kv_bytes_per_token: int
    max_model_len: Written[int]

    @property
    def kv_sum(self) -> str:
        """Return how many bytes a token takes, and why."""
        return (
            f"{self.kv_bytes_per_token:,} bytes per token and rank "
            f"({self.model_name}, tensor parallel size {self.tensor_parallel})"
        )


def buffer_of(endpoint: EndpointView) -> Written[int] | None:
    """Return the size of the transfer buffer of one rank in bytes."""
    if not endpoint.is_disaggregated:
        return None
    written = endpoint.variables.get(BUFFER)
    if written is None:
        return Written(DEFAULT_BUFFER_BYTES, endpoint.path)
    size = byte_size(written.value or "")
    return None if size is None else Written(size, written.path)


def byte_size(text: str) -> int | None:
    """Return a whole number of bytes, of less than a million TiB; None where it is none."""
    return int(text) if text.isdecimal() and len(text) < 19 else None


def sizes_of(endpoint: EndpointView) -> Iterator[Sizes]:
    """Yield what is known for the sums about each role."""
    model = endpoint.architecture
    if model is None or not (endpoint.is_vllm and _has_usual_chunks(endpoint)):
        return
    for role in endpoint.roles:
        tp, pp = role.tensor_parallel, role.number("pipeline-parallel-size", 1)
        length = role.number("max-model-len", model.max_context_tokens)
        kv_format = role.text("kv-cache-dtype", "auto").value
        if (
            tp
            and tp.value > 0
            and pp
            and pp.value == 1
            and length
            and length.value > 0
            and kv_format in memory.kv_cache_formats()
        ):
            kv_bytes = memory.kv_bytes_per_token_per_rank(
                model, tensor_parallel=tp.value, kv_cache_format=kv_format
            )
            yield Sizes(
                role=role,
                model=model,
                model_name=endpoint.architecture_name,
                tensor_parallel=tp.value,
                kv_bytes_per_token=kv_bytes,
                max_model_len=length,
            )


def _has_usual_chunks(endpoint: EndpointView) -> bool:
    """Return whether LMCache's chunk size is the default, as far as the file shows."""
    is_from_file = endpoint.written("kvCacheSpec", "cacheConfigFile").value
    size = endpoint.variables.get("LMCACHE_CHUNK_SIZE")
    return not is_from_file and (size is None or size.value == str(KV_CHUNK_TOKENS))


def largest(endpoint: EndpointView) -> Iterator[Sizes]:
    """Yield the role for which a request takes most: one buffer size serves both."""
    yield from sorted(sizes_of(endpoint), key=needed_bytes, reverse=True)[:1]


def needed_bytes(sizes: Sizes) -> int:
    """Return what a request of max-model-len takes in one rank's buffer."""
    return memory.minimum_pd_buffer_bytes(
        sizes.max_model_len.value, kv_bytes_per_token=sizes.kv_bytes_per_token
    )


def gpu_of(endpoint: EndpointView, sizes: Sizes, *, buffer_bytes: int = 0) -> GpuMemory | None:
    """Return how a GPU of the role is divided; None where that is not known."""
    node, weight_format = sizes.role.node, endpoint.weight_format
    default = _DPD_UTILIZATION if endpoint.is_disaggregated else _VLLM_UTILIZATION
    utilization = sizes.role.decimal("gpu-memory-utilization", default)
    batched = sizes.role.number("max-num-batched-tokens", _BATCHED_TOKENS)
    if node is None or weight_format is None or utilization is None or batched is None:
        return None
    if "kv-cache-memory-bytes" in sizes.role.flags or "cpu-offload-gb" in sizes.role.flags:
        return None
    return memory.gpu_memory(
        sizes.model,
        gpu_memory_gib=node.gpu_memory_gib,
        tensor_parallel=sizes.tensor_parallel,
        gpu_memory_utilization=utilization.value,
        weight_format=weight_format,
        max_num_batched_tokens=batched.value,
        pd_buffer_bytes=buffer_bytes,
    )


def gpus_with_buffer(endpoint: EndpointView) -> Iterator[tuple[Written[int], Role, GpuMemory]]:
    """Yield each role whose GPU is divided unlike the roles' before it."""
    buffer = buffer_of(endpoint)
    seen = set()
    for sizes in sizes_of(endpoint) if buffer else ():
        gpu = gpu_of(endpoint, sizes, buffer_bytes=buffer.value) if buffer else None
        if buffer and gpu and (gpu.share_bytes, gpu.total_bytes) not in seen:
            seen.add((gpu.share_bytes, gpu.total_bytes))
            yield buffer, sizes.role, gpu


def gib(amount_bytes: int) -> str:
    """Return an amount in GiB, exact to four places."""
    text = f"{amount_bytes / GIB:.4f}".rstrip("0").rstrip(".")
    return f"{text} GiB"
