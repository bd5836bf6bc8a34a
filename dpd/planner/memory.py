"""Memory of one GPU: weights, KV cache and the PD buffer, in bytes per tensor-parallel rank."""

from dataclasses import dataclass
from math import ceil

from dpd.catalog.models import ModelArchitecture
from dpd.planner.defaults import MAX_NUM_BATCHED_TOKENS

GIB = 1024**3

KV_CHUNK_TOKENS = 256
"""Tokens that LMCache stores and sends as one unit (`chunk_size`, default of 0.4.3)."""

_WEIGHT_BYTES = {
    "float32": 4.0,
    "bfloat16": 2.0,
    "float16": 2.0,
    "auto": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    # 4-bit formats carry one scale per group: 16 bits per 128 weights, or 8 bits per 32.
    "awq": 0.5 + 2 / 128,
    "gptq": 0.5 + 2 / 128,
    "mxfp4": 0.5 + 1 / 32,
}
_KV_BYTES = {
    "auto": 2,
    "bfloat16": 2,
    "float16": 2,
    "fp8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
}

_RUNTIME_INSIDE_BYTES = 2 * GIB
_ACTIVATION_COPIES = 16
RUNTIME_OUTSIDE_BYTES = 4 * GIB
"""What CUDA, NCCL and NIXL need beside the PD buffer outside vLLM's share.

Field reports say 4 to 6 GiB; the lower end, so that a plan is refused only when it surely fails.
"""


def weight_formats() -> tuple[str, ...]:
    """Return the weight formats whose size is known (vLLM `--dtype` and `--quantization` names)."""
    return tuple(_WEIGHT_BYTES)


def kv_cache_formats() -> tuple[str, ...]:
    """Return the KV cache formats whose size is known (vLLM `--kv-cache-dtype` names)."""
    return tuple(_KV_BYTES)


def weight_element_bytes(weight_format: str) -> float:
    """Return bytes per parameter, scales included.

    Raises:
        KeyError: the format is not one of `weight_formats()`.
    """
    return _WEIGHT_BYTES[weight_format]


def kv_element_bytes(kv_cache_format: str = "auto") -> int:
    """Return bytes per KV cache element; `auto` follows a 16-bit model.

    Raises:
        KeyError: the format is not one of `kv_cache_formats()`.
    """
    return _KV_BYTES[kv_cache_format]


def kv_bytes_per_token_per_rank(
    model: ModelArchitecture, *, tensor_parallel: int, kv_cache_format: str = "auto"
) -> int:
    """Return the KV cache bytes that one token takes on one rank.

    Grouped-query attention: 2 * layers * ceil(kv_heads / TP) * head_dim * element bytes; once TP
    exceeds the KV heads they are replicated, so a rank never holds less than one head.
    Multi-head latent attention: layers * (kv_lora_rank + rope_head_dim) * element bytes; the
    compressed vector belongs to all heads, so every rank holds all of it.
    Source: the KV layouts of vLLM and LMCache 0.4.3; AWS states 40 KB for Llama 70B under TP 8.
    """
    element_bytes = kv_element_bytes(kv_cache_format)
    if model.mla is not None:
        return model.layers * (model.mla.kv_lora_rank + model.mla.rope_head_dim) * element_bytes
    assert model.kv_heads is not None  # the catalog checks it
    assert model.head_dim is not None
    heads_per_rank = ceil(model.kv_heads / tensor_parallel)
    return 2 * model.layers * heads_per_rank * model.head_dim * element_bytes


def kv_chunks(tokens: int) -> int:
    """Return ceil(tokens / 256): the last chunk of a prompt takes a whole one in the buffer.

    Source: AWS's log line, 6,035 tokens = "0.2344 gb" = 24 chunks under Llama 70B TP 8.
    """
    return -(-tokens // KV_CHUNK_TOKENS)


def kv_transfer_bytes_per_rank(tokens: int, *, kv_bytes_per_token: int) -> int:
    """Return what a prompt takes in one rank's PD buffer: chunks * 256 * bytes per token."""
    return kv_chunks(tokens) * KV_CHUNK_TOKENS * kv_bytes_per_token


def requests_per_buffer(buffer_bytes: int, *, tokens: int, kv_bytes_per_token: int) -> int:
    """Return how many prompts of `tokens` fit into one rank's PD buffer at once.

    LMCache cuts the buffer down to whole chunks first: floor(floor(buffer / chunk) / chunks).
    """
    buffer_chunks = buffer_bytes // (KV_CHUNK_TOKENS * kv_bytes_per_token)
    return buffer_chunks // kv_chunks(tokens)


def minimum_pd_buffer_bytes(max_model_len: int, *, kv_bytes_per_token: int) -> int:
    """Return the smallest buffer that cannot deadlock: the longest prompt, in whole chunks.

    LMCache 0.4.3 allocates chunk by chunk and waits without end when the buffer is full, so a
    prompt larger than the buffer never finishes (source: its `pd_backend.py`).
    """
    return kv_transfer_bytes_per_rank(max_model_len, kv_bytes_per_token=kv_bytes_per_token)


def weight_bytes_per_rank(
    model: ModelArchitecture, *, tensor_parallel: int, weight_format: str = "bfloat16"
) -> int:
    """Return parameters * bytes per parameter / TP; vLLM shards all large matrices evenly.

    A mixture of experts holds all of its experts, so all parameters count, not the active ones.
    """
    return ceil(model.parameters * weight_element_bytes(weight_format) / tensor_parallel)


def runtime_bytes_per_rank(model: ModelArchitecture, *, max_num_batched_tokens: int) -> int:
    """Return what vLLM's own runtime and activations take inside its share of the memory.

    2 GiB (CUDA context, NCCL, CUDA graphs) + 16 * batched tokens * hidden size * 2 bytes.
    An estimate: it gives 4 GiB for Llama 70B at 8,192 tokens; no exact number is published.
    """
    activations = _ACTIVATION_COPIES * max_num_batched_tokens * model.hidden_size * 2
    return _RUNTIME_INSIDE_BYTES + activations


@dataclass(frozen=True, kw_only=True)
class GpuMemory:
    """How one GPU's memory is divided; `str()` is the sum on one line."""

    total_bytes: int
    gpu_memory_utilization: float
    weight_bytes: int
    runtime_bytes: int
    """Activations and runtime inside vLLM's share."""
    pd_buffer_bytes: int = 0
    """Allocated outside vLLM's share, on the GPU of both roles; 0 for a colocated worker."""

    @property
    def share_bytes(self) -> int:
        """Share that vLLM takes: `--gpu-memory-utilization` * memory."""
        return int(self.total_bytes * self.gpu_memory_utilization)

    @property
    def kv_cache_bytes(self) -> int:
        """What is left of the share for the KV cache; negative when the model does not fit."""
        return self.share_bytes - self.weight_bytes - self.runtime_bytes

    @property
    def outside_spare_bytes(self) -> int:
        """What is left outside the share after the PD buffer and 4 GiB; negative: out of memory."""
        outside = self.total_bytes - self.share_bytes
        needed = self.pd_buffer_bytes + (RUNTIME_OUTSIDE_BYTES if self.pd_buffer_bytes else 0)
        return outside - needed

    def kv_cache_tokens(self, kv_bytes_per_token: int) -> int:
        """Return how many tokens the KV cache holds; 0 when the model does not fit."""
        return max(0, self.kv_cache_bytes) // kv_bytes_per_token

    def __str__(self) -> str:
        """Return the sum: `60.0 GiB (0.75 x 80.0) - 16.4 weights - ... = 39.5 GiB for KV`."""
        text = (
            f"{_gib(self.share_bytes)} GiB ({self.gpu_memory_utilization:g} x "
            f"{_gib(self.total_bytes)}) - {_gib(self.weight_bytes)} weights - "
            f"{_gib(self.runtime_bytes)} runtime and activations = "
            f"{_gib(self.kv_cache_bytes)} GiB for KV cache"
        )
        if self.pd_buffer_bytes:
            text += (
                f"; outside {_gib(self.total_bytes - self.share_bytes)} - "
                f"{_gib(self.pd_buffer_bytes)} PD buffer - {_gib(RUNTIME_OUTSIDE_BYTES)} "
                f"CUDA and NIXL = {_gib(self.outside_spare_bytes)} GiB spare"
            )
        return text


def gpu_memory(
    model: ModelArchitecture,
    *,
    gpu_memory_gib: float,
    tensor_parallel: int,
    gpu_memory_utilization: float,
    weight_format: str = "bfloat16",
    max_num_batched_tokens: int = MAX_NUM_BATCHED_TOKENS,
    pd_buffer_bytes: int = 0,
) -> GpuMemory:
    """Return how one rank of `model` divides a GPU of `gpu_memory_gib`."""
    return GpuMemory(
        total_bytes=int(gpu_memory_gib * GIB),
        gpu_memory_utilization=gpu_memory_utilization,
        weight_bytes=weight_bytes_per_rank(
            model, tensor_parallel=tensor_parallel, weight_format=weight_format
        ),
        runtime_bytes=runtime_bytes_per_rank(model, max_num_batched_tokens=max_num_batched_tokens),
        pd_buffer_bytes=pd_buffer_bytes,
    )


def _gib(amount_bytes: int) -> str:
    return f"{amount_bytes / GIB:.1f}"
