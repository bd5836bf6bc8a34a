"""Step time of one vLLM worker: GPU work by roofline, all-reduce, and what the host adds."""

from typing import NamedTuple

from dpd.catalog.instance_types import InstanceType
from dpd.catalog.models import ModelArchitecture
from dpd.planner.constants import Constants
from dpd.planner.memory import (
    kv_bytes_per_token_per_rank,
    weight_bytes_per_rank,
)


class StepCosts(NamedTuple):
    """Seconds per unit of work of one worker; all ranks work in parallel."""

    gemm_per_token: float
    """Matrix multiplications of one token: 2 * active parameters."""
    weights_read: float
    """Reading all weights of one rank once."""
    sparsity: float
    """Share of the weights that one token does not use; 0 for a dense model."""
    attention_per_pair: float
    """Attention of one prompt token to one token of its context."""
    kv_read_per_token: float
    """Reading one token of KV cache during decode."""
    all_reduce: float
    """Latency of all all-reduces of a step."""
    all_reduce_per_token: float
    """Their payload, per token of the batch."""
    kernels: float
    """Start and tail of the small kernels of all layers."""
    host: float
    """Scheduling, sampling and output of a step, when the GPU waits."""
    launch: float
    """Issuing a whole step from the host without CUDA graphs; hidden behind longer GPU work."""


def step_seconds(
    costs: StepCosts,
    prefill_tokens: int,
    attention_pairs: float,
    decode_sequences: int,
    decode_context: int,
) -> float:
    """Return the duration of one step; plain arithmetic, as the simulation compiles it.

    GPU time = max(matrix work, weights read) + prompt attention + KV read + all-reduce + kernels.
    A mixed step reads the weights once for both kinds of tokens.
    A mixture of experts reads 1 - sparsity ** tokens of its weights (experts drawn independently).
    """
    tokens = prefill_tokens + decode_sequences
    share = 1.0
    if costs.sparsity > 0.0:
        untouched, base, exponent = 1.0, costs.sparsity, tokens
        while exponent > 0:  # an integer power by squaring is the same on every machine
            if exponent & 1:
                untouched *= base
            base *= base
            exponent >>= 1
        share -= untouched
    gpu = max(tokens * costs.gemm_per_token, share * costs.weights_read)
    gpu += attention_pairs * costs.attention_per_pair
    gpu += decode_context * costs.kv_read_per_token
    gpu += costs.all_reduce + tokens * costs.all_reduce_per_token + costs.kernels
    if prefill_tokens > 0:
        gpu = max(gpu, costs.launch)
    return gpu + costs.host


def prefill_seconds(
    costs: StepCosts, input_tokens: int, *, max_num_batched_tokens: int, cached_tokens: int = 0
) -> float:
    """Return the time of one prompt alone on a worker, in chunks of the token budget."""
    seconds = 0.0
    done = cached_tokens
    while done < input_tokens:
        chunk = min(max_num_batched_tokens, input_tokens - done)
        seconds += step_seconds(costs, chunk, attention_pairs(chunk, done), 0, 0)
        done += chunk
    return seconds


def attention_pairs(chunk: int, before: int) -> float:
    """Return how many (token, context token) pairs a chunk computes after `before` tokens."""
    return chunk * (before + 0.5 * chunk)


def step_costs(
    model: ModelArchitecture,
    instance: InstanceType,
    constants: Constants,
    *,
    tensor_parallel: int,
    weight_format: str = "bfloat16",
    kv_cache_format: str = "auto",
) -> StepCosts:
    """Return the costs of a worker on `tensor_parallel` GPUs of `instance`."""
    is_fp8 = weight_format in ("fp8", "int8")
    gemm_rate = (
        instance.gpu_fp8_tflops * constants.fp8_gemm_efficiency
        if is_fp8
        else instance.gpu_bf16_tflops * constants.bf16_gemm_efficiency
    ) * 1e12
    attention_rate = instance.gpu_bf16_tflops * constants.attention_efficiency * 1e12
    bandwidth = instance.gpu_memory_bandwidth_gb_per_s * 1e9
    weights = weight_bytes_per_rank(
        model, tensor_parallel=tensor_parallel, weight_format=weight_format
    )
    kv_bytes = kv_bytes_per_token_per_rank(
        model, tensor_parallel=tensor_parallel, kv_cache_format=kv_cache_format
    )
    peers = tensor_parallel - 1
    reductions = 2 * model.layers if peers else 0  # one after attention, one after the MLP
    payload = 2 * peers / tensor_parallel * model.hidden_size * 2
    nvlink = instance.nvlink_gb_per_s * 1e9 * constants.nvlink_efficiency
    return StepCosts(
        gemm_per_token=2 * model.active_parameters / (tensor_parallel * gemm_rate),
        weights_read=weights / (bandwidth * constants.weight_read_efficiency),
        sparsity=1 - model.active_parameters / model.parameters,
        attention_per_pair=_attention_flops(model) / (tensor_parallel * attention_rate),
        kv_read_per_token=kv_bytes / (bandwidth * constants.kv_read_efficiency),
        all_reduce=reductions * constants.all_reduce_latency,
        all_reduce_per_token=reductions * payload / nvlink,
        kernels=model.layers * constants.kernel_seconds_per_layer,
        host=constants.host_seconds_per_step,
        launch=model.layers * constants.launch_seconds_per_layer,
    )


def _attention_flops(model: ModelArchitecture) -> float:
    """Return operations per (token, context token) pair: 2 for the scores, 2 for the values."""
    if model.mla is not None:
        # Prefill runs uncompressed: 128 + rope for queries and keys, 128 for values (DeepSeek V3).
        return model.layers * model.attention_heads * 2.0 * (128 + model.mla.rope_head_dim + 128)
    assert model.head_dim is not None
    return model.layers * model.attention_heads * 4.0 * model.head_dim
