"""Sums about one endpoint's memory, made by `dpd.planner.memory` from what is known of it."""

from collections.abc import Iterator
from typing import NamedTuple

from dpd.catalog import ModelArchitecture
from dpd.planner import defaults, memory
from dpd.planner.memory import GIB, KV_CHUNK_TOKENS, GpuMemory
from dpd.rules.view import EndpointView, Role, Written

BUFFER = "PD_BUFFER_SIZE"


class Sizes(NamedTuple):
    """What the sums about one role are made of."""

    role: Role
    model: ModelArchitecture
    model_name: str
    tensor_parallel: int
    kv_bytes_per_token: int
    max_model_len: Written[int]
    chunk_tokens: int | None
    """LMCache's unit; None where a file decides it."""

    @property
    def chunk_bytes(self) -> int:
        """What one chunk takes in one rank's buffer; sizes from `largest` have chunks."""
        return (self.chunk_tokens or 0) * self.kv_bytes_per_token

    def chunks(self, tokens: int) -> int:
        """Return the chunks of so many tokens, of which the last takes a whole one."""
        return -(-tokens // (self.chunk_tokens or tokens))

    def buffer_bytes(self, tokens: int) -> int:
        """Return what so many tokens take in one rank's buffer."""
        return self.chunks(tokens) * self.chunk_bytes

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
        return Written(defaults.PD_BUFFER_BYTES, endpoint.path)
    size = byte_size(written.value or "")
    return None if size is None else Written(size, written.path)


def byte_size(text: str) -> int | None:
    """Return a whole number of bytes, of less than a million TiB; None where it is none."""
    return int(text) if text.isdecimal() and len(text) < 19 else None


def sizes_of(endpoint: EndpointView) -> Iterator[Sizes]:
    """Yield what is known for the sums about each role."""
    model = endpoint.architecture
    if model is None or not (endpoint.is_vllm and endpoint.is_evenly_divided):
        return
    for role in endpoint.roles:
        tp, pp = role.tensor_parallel, role.number("pipeline-parallel-size", 1)
        length = role.number("max-model-len", model.max_context_tokens)
        kv_format = role.text("kv-cache-dtype", "auto").value
        if (
            tp
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
                chunk_tokens=_chunk_tokens(endpoint),
            )


def _chunk_tokens(endpoint: EndpointView) -> int | None:
    if endpoint.written("kvCacheSpec", "cacheConfigFile").value:
        return None
    written = endpoint.variables.get("LMCACHE_CHUNK_SIZE")
    if written is None:
        return KV_CHUNK_TOKENS
    tokens = byte_size(written.value or "")
    return tokens or None


def largest(endpoint: EndpointView) -> Iterator[Sizes]:
    """Yield the role for which a request takes most: one buffer size serves both."""
    sizes = [each for each in sizes_of(endpoint) if each.chunk_tokens]
    yield from sorted(sizes, key=needed_bytes, reverse=True)[:1]


def needed_bytes(sizes: Sizes) -> int:
    """Return what a request of max-model-len takes in one rank's buffer."""
    return sizes.buffer_bytes(sizes.max_model_len.value)


def gpu_of(endpoint: EndpointView, sizes: Sizes, *, buffer_bytes: int = 0) -> GpuMemory | None:
    """Return how a GPU of the role is divided; None where that is not known."""
    node, weight_format = sizes.role.node, endpoint.weight_format
    share = (defaults.GPU_MEMORY_UTILIZATION, defaults.DPD_GPU_MEMORY_UTILIZATION)
    utilization = sizes.role.decimal("gpu-memory-utilization", share[endpoint.is_disaggregated])
    batched = sizes.role.number("max-num-batched-tokens", defaults.MAX_NUM_BATCHED_TOKENS)
    if node is None or weight_format is None or utilization is None or batched is None:
        return None
    if not 0 < utilization.value <= 1:
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


def share_sum(gpu: GpuMemory) -> str:
    """Return how vLLM's share of the memory is divided."""
    return (
        f"{_about(gpu.share_bytes)} GiB ({gpu.gpu_memory_utilization:g} x "
        f"{_about(gpu.total_bytes)}) - {_about(gpu.weight_bytes)} weights - "
        f"{_about(gpu.runtime_bytes)} runtime and activations = "
        f"{_about(gpu.kv_cache_bytes)} GiB for KV cache"
    )


def outside_sum(gpu: GpuMemory) -> str:
    """Return how the memory outside vLLM's share is divided."""
    return (
        f"outside {_about(gpu.total_bytes - gpu.share_bytes)} - "
        f"{_about(gpu.pd_buffer_bytes)} PD buffer - {_about(memory.RUNTIME_OUTSIDE_BYTES)} "
        f"CUDA and NIXL = {_about(gpu.outside_spare_bytes)} GiB spare"
    )


def _about(amount_bytes: int) -> str:
    return f"{amount_bytes / GIB:.1f}"


def gib(amount_bytes: int) -> str:
    """Return an amount in GiB, exact to four places."""
    text = f"{amount_bytes / GIB:.4f}".rstrip("0").rstrip(".")
    return f"{text} GiB"
