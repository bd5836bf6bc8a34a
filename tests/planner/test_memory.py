"""Exact values of the KV cache and buffer arithmetic."""

import subprocess
import sys

import pytest

from dpd.catalog.models import model_architectures
from dpd.planner import memory
from dpd.planner.memory import GIB

MODELS = model_architectures()
LLAMA = MODELS["llama-3.3-70b"]
LLAMA_TP8 = memory.kv_bytes_per_token_per_rank(LLAMA, tensor_parallel=8)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("llama-3.1-8b", 16_384),
        ("llama-3.3-70b", 40_960),
        ("llama-3.1-405b", 64_512),
        ("qwen3-235b-a22b", 48_128),
        ("qwen3-30b-a3b", 24_576),
        ("mistral-large-2", 45_056),
        ("mixtral-8x22b", 28_672),
        ("gpt-oss-120b", 9_216),
        ("deepseek-v3", 70_272),
        ("kimi-k2", 70_272),
    ],
)
def test_kv_bytes_per_token_under_tensor_parallel_8(model: str, expected: int) -> None:
    """The published KV sizes come out to the byte."""
    assert memory.kv_bytes_per_token_per_rank(MODELS[model], tensor_parallel=8) == expected


def test_kv_heads_are_replicated_beyond_their_number() -> None:
    """Four KV heads under TP 8 take what they take under TP 4."""
    qwen = MODELS["qwen3-235b-a22b"]
    by_tp = [memory.kv_bytes_per_token_per_rank(qwen, tensor_parallel=tp) for tp in (1, 2, 4, 8)]
    assert by_tp == [192_512, 96_256, 48_128, 48_128]


def test_mla_is_not_divided_by_tensor_parallelism() -> None:
    """The compressed vector is whole on every rank."""
    deepseek = MODELS["deepseek-r1"]
    sizes = {memory.kv_bytes_per_token_per_rank(deepseek, tensor_parallel=tp) for tp in (1, 8, 16)}
    assert sizes == {70_272}


def test_fp8_kv_cache_takes_half() -> None:
    """One byte per element instead of two."""
    fp8 = memory.kv_bytes_per_token_per_rank(LLAMA, tensor_parallel=8, kv_cache_format="fp8")
    assert 2 * fp8 == LLAMA_TP8


def test_buffer_counts_whole_chunks() -> None:
    """AWS's log: 6,035 tokens are 24 chunks, 0.234375 GiB; 34 of them fit into 8 GiB."""
    assert memory.kv_chunks(6_035) == 24
    needed = memory.kv_transfer_bytes_per_rank(6_035, kv_bytes_per_token=LLAMA_TP8)
    assert needed / GIB == 0.234375
    assert memory.requests_per_buffer(8 * GIB, tokens=6_035, kv_bytes_per_token=LLAMA_TP8) == 34


def test_a_chunk_is_ten_mebibytes_and_the_buffer_is_cut_to_whole_chunks() -> None:
    """819 chunks of 10 MiB fit into 8 GiB; the rest of 2 MiB is lost."""
    assert memory.kv_transfer_bytes_per_rank(1, kv_bytes_per_token=LLAMA_TP8) == 10 * 1024**2
    assert memory.requests_per_buffer(8 * GIB, tokens=256, kv_bytes_per_token=LLAMA_TP8) == 819


@pytest.mark.parametrize(("tokens", "chunks"), [(1, 1), (256, 1), (257, 2), (16_384, 64)])
def test_chunk_boundaries(tokens: int, chunks: int) -> None:
    """A chunk is full at 256 tokens and not before."""
    assert memory.kv_chunks(tokens) == chunks


def test_smallest_buffer_holds_the_longest_prompt() -> None:
    """16,384 tokens need 0.625 GiB, and exactly one fits into that."""
    smallest = memory.minimum_pd_buffer_bytes(16_384, kv_bytes_per_token=LLAMA_TP8)
    assert smallest / GIB == 0.625
    fitting = memory.requests_per_buffer(smallest, tokens=16_384, kv_bytes_per_token=LLAMA_TP8)
    assert fitting == 1
    assert (
        memory.requests_per_buffer(smallest - 1, tokens=16_384, kv_bytes_per_token=LLAMA_TP8) == 0
    )


def test_weights_are_sharded_and_quantization_halves_them() -> None:
    """70.6e9 parameters in 16 bits on 8 ranks are 16.4 GiB."""
    bf16 = memory.weight_bytes_per_rank(LLAMA, tensor_parallel=8)
    fp8 = memory.weight_bytes_per_rank(LLAMA, tensor_parallel=8, weight_format="fp8")
    assert bf16 == 17_650_000_000
    assert fp8 * 2 == bf16


def test_parts_add_up_to_the_share() -> None:
    """Weights, runtime and KV cache are vLLM's share; the PD buffer is not part of it."""
    divided = memory.gpu_memory(
        LLAMA,
        gpu_memory_gib=80,
        tensor_parallel=8,
        gpu_memory_utilization=0.75,
        pd_buffer_bytes=8 * GIB,
    )
    parts = divided.weight_bytes + divided.runtime_bytes + divided.kv_cache_bytes
    assert parts == divided.share_bytes == 60 * GIB
    assert divided.outside_spare_bytes == (80 - 60 - 8 - 4) * GIB
    assert "\n" not in str(divided)
    assert "8.0 PD buffer" in str(divided)


def test_a_model_that_does_not_fit_has_negative_kv_cache() -> None:
    """Llama 70B in 16 bits on one H100."""
    divided = memory.gpu_memory(
        LLAMA, gpu_memory_gib=80, tensor_parallel=1, gpu_memory_utilization=0.9
    )
    assert divided.kv_cache_bytes < 0
    assert divided.kv_cache_tokens(327_680) == 0


def test_importing_it_loads_nothing_heavy() -> None:
    """`dpd check` imports this module: no numpy, numba or YAML editor behind it."""
    script = (
        "import sys, dpd.planner.memory;"
        "print(sorted({'numpy', 'numba', 'ruamel', 'boto3', 'jsii'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
