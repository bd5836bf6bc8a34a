"""Model architectures: what decides KV cache size, weight size and whether sharding works."""

from collections.abc import Mapping
from functools import cache

from pydantic import model_validator

from dpd.catalog.data import Fact, read


class MlaAttention(Fact):
    """Multi-head latent attention: one compressed vector per token and layer on every rank."""

    kv_lora_rank: int
    rope_head_dim: int


class ModelArchitecture(Fact):
    """Shape of one model family member."""

    name: str
    aliases: tuple[str, ...] = ()
    """Other names of the same shape."""
    title: str
    layers: int
    attention_heads: int
    kv_heads: int | None = None
    """KV heads of grouped-query attention; none under MLA."""
    head_dim: int | None = None
    mla: MlaAttention | None = None
    hidden_size: int
    parameters: int
    """All parameters."""
    active_parameters: int
    """Parameters used per token: fewer than `parameters` for a mixture of experts."""
    max_context_tokens: int
    quantization: str | None = None
    """How the published weights are quantized; none where they are bfloat16 like activations."""
    source: str

    @model_validator(mode="after")
    def _has_one_kind_of_attention(self) -> "ModelArchitecture":
        grouped_query = self.kv_heads is not None and self.head_dim is not None
        if grouped_query == (self.mla is not None):
            raise ValueError("give kvHeads and headDim, or mla")
        return self

    @property
    def is_mixture_of_experts(self) -> bool:
        """Whether a token uses only part of the parameters."""
        return self.active_parameters < self.parameters


@cache
def model_architectures() -> Mapping[str, ModelArchitecture]:
    """Return the known architectures by name and alias."""
    known = [ModelArchitecture.model_validate(entry) for entry in read("models")]
    return {name: model for model in known for name in (model.name, *model.aliases)}
