"""The model architectures and the KV cache sizes that follow from them."""

import pytest
from pydantic import ValidationError

from dpd.catalog import ModelArchitecture, model_architectures
from dpd.catalog.data import read
from dpd.planner.memory import weight_element_bytes, weight_formats

MODELS = {model.name: model for model in model_architectures().values()}
KIB_PER_TOKEN = {
    "llama-3.1-8b": 128,
    "llama-3.3-70b": 320,
    "llama-3.1-405b": 504,
    "qwen2.5-72b": 320,
    "qwen3-32b": 256,
    "qwen3-235b-a22b": 188,
    "qwen3-30b-a3b": 96,
    "mistral-large-2": 352,
    "mixtral-8x22b": 224,
    "gpt-oss-120b": 72,
}
"""Published sizes of a token's KV cache over all ranks, bfloat16."""


def test_twelve_architectures() -> None:
    """And two more names for the same shapes."""
    assert len(MODELS) == 12
    assert model_architectures()["deepseek-r1"] is model_architectures()["deepseek-v3"]
    assert model_architectures()["llama-3.1-70b"] is model_architectures()["llama-3.3-70b"]


@pytest.mark.parametrize(("name", "size"), KIB_PER_TOKEN.items())
def test_kv_of_grouped_query_attention(name: str, size: int) -> None:
    """Key and value, every layer, every KV head, two bytes each."""
    model = MODELS[name]
    assert model.kv_heads is not None
    assert model.head_dim is not None
    assert 2 * model.layers * model.kv_heads * model.head_dim * 2 == size * 1024


def test_published_formats() -> None:
    """Only formats whose size is known; DeepSeek and Kimi in 8 bits, gpt-oss in 4."""
    quantized = {name: model.quantization for name, model in MODELS.items() if model.quantization}
    assert quantized == {"deepseek-v3": "fp8", "kimi-k2": "fp8", "gpt-oss-120b": "mxfp4"}
    assert set(quantized.values()) <= set(weight_formats())
    weights = MODELS["gpt-oss-120b"].parameters * weight_element_bytes("mxfp4")
    assert 60e9 < weights < 66e9  # 65.3 GB are to be downloaded, some layers in 16 bits


def test_kv_of_latent_attention() -> None:
    """One vector of 512 + 64 elements per layer; the models that are left."""
    latent = {name: model for name, model in MODELS.items() if model.mla is not None}
    assert set(latent) == set(MODELS) - set(KIB_PER_TOKEN)
    for model in latent.values():
        assert model.mla is not None
        per_layer = model.mla.kv_lora_rank + model.mla.rope_head_dim
        assert model.layers * per_layer * 2 == 70_272


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_shapes_are_possible(model: ModelArchitecture) -> None:
    """Heads form whole groups, shard eight ways, and no token uses more than there is."""
    assert model.attention_heads % 8 == 0
    assert model.attention_heads % (model.kv_heads or 1) == 0
    assert 0 < model.active_parameters <= model.parameters
    assert model.is_mixture_of_experts == (model.active_parameters != model.parameters)
    assert model.max_context_tokens >= 32_768
    assert model.hidden_size % 64 == 0


@pytest.mark.parametrize(
    "name", ["llama-3.1-8b", "llama-3.3-70b", "llama-3.1-405b", "qwen2.5-72b", "mistral-large-2"]
)
def test_heads_make_up_the_hidden_size(name: str) -> None:
    """True of these dense models, and it ties three numbers together."""
    model = MODELS[name]
    assert model.attention_heads * (model.head_dim or 0) == model.hidden_size


def test_dense_parameters_follow_from_the_shape() -> None:
    """Llama: attention and a gated MLP of the published width, and two embeddings."""
    for name, width, words in [
        ("llama-3.3-70b", 28_672, 128_256),
        ("llama-3.1-8b", 14_336, 128_256),
    ]:
        model = MODELS[name]
        kv = 2 * (model.kv_heads or 0) * (model.head_dim or 0)
        layer = model.hidden_size * (2 * model.hidden_size + kv + 3 * width)
        total = model.layers * layer + 2 * words * model.hidden_size
        assert model.parameters == pytest.approx(total, rel=0.005)


@pytest.mark.parametrize(
    "change",
    [{"mla": {"kvLoraRank": 512, "ropeHeadDim": 64}}, {"kvHeads": None}, {"headDim": None}],
    ids=str,
)
def test_one_kind_of_attention(change: dict[str, object]) -> None:
    """Grouped-query or latent, neither both nor none."""
    (entry, *_) = read("models")
    with pytest.raises(ValidationError, match="give kvHeads and headDim, or mla"):
        ModelArchitecture.model_validate({**entry, **change})
