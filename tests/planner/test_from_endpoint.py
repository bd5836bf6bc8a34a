"""What an environment file says is what is planned, its vLLM arguments included."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpd.catalog.models import model_architectures
from dpd.config.loader import environment_from
from dpd.config.source import parse_documents
from dpd.errors import UserError
from dpd.planner.from_endpoint import question_of
from dpd.planner.question import Question
from dpd.planner.traffic import Traffic

ENVIRONMENTS = Path(__file__).parents[2] / "environments"
Asked = Callable[..., Question]


@pytest.fixture
def asked(fixed: Callable[..., Traffic]) -> Asked:
    def question(
        old: str = "", new: str = "", *, file: str = "prod", endpoint: int = 0
    ) -> Question:
        text = (ENVIRONMENTS / f"{file}.yaml").read_text(encoding="utf-8")
        assert old in text
        source = parse_documents(text.replace(old, new).encode(), name="x")[0]
        environment = environment_from(source, name="x")
        return question_of(environment, environment.endpoints[endpoint], fixed(10, 10, rate=1.0))

    return question


KV = "    kvTransfer: {bufferSize: 8GiB}\n"
DECODE = "decode, replicas: 1}"


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        ('["--quantization", "fp8"]', "weight_format", "fp8"),
        ('["-q=fp8"]', "weight_format", "fp8"),
        ('["--quantization", "none"]', "weight_format", "bfloat16"),
        ('["--dtype", "half"]', "weight_format", "float16"),
        ('["--dtype=float32"]', "weight_format", "float32"),
        ('["--kv_cache_dtype", "fp8"]', "kv_cache_format", "fp8"),
        ('["--kv-cache-dtype=fp8_e5m2"]', "kv_cache_format", "fp8_e5m2"),
        ('["--gpu-memory-utilization", "0.7"]', "gpu_memory_utilization", 0.7),
        ('["--max-model-len", "8k"]', "max_model_len", 8000),
    ],
)
def test_arguments_are_read_as_vllm_reads_them(
    args: str, field: str, value: object, asked: Asked
) -> None:
    """In every spelling, of all workers or of both roles alike."""
    assert getattr(asked(KV, f"{KV}    args: {args}\n"), field) == value
    roles = (
        f"prefill, replicas: 1, args: {args}}}\n    decode: {{instanceGroup: decode, args: {args}"
    )
    old = "prefill, replicas: 1}\n    decode: {instanceGroup: decode, replicas: 1"
    assert getattr(asked(old, roles), field) == value


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ('["--kv-cache-dtype", "fp8"]', "--kv-cache-dtype differs by role: prefill none, decode"),
        ('["--pipeline-parallel-size", "2"]', "the planner knows tensor parallelism only"),
    ],
)
def test_roles_that_differ_are_refused(args: str, says: str, asked: Asked) -> None:
    """The planner takes one of each for both."""
    with pytest.raises(UserError, match=says):
        asked(DECODE, f"decode, replicas: 1, args: {args}}}")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ('["--quantization", "bitsandbytes"]', "--quantization bitsandbytes: the planner does not"),
        ('["--kv-cache-dtype", "nvfp4"]', "--kv-cache-dtype nvfp4: the planner does not"),
        ('["--gpu-memory-utilization", "much"]', "--gpu-memory-utilization much: allowed: a"),
    ],
)
def test_what_has_no_known_size_is_refused(args: str, says: str, asked: Asked) -> None:
    """One line with what is allowed."""
    with pytest.raises(UserError, match=says):
        asked(KV, f"{KV}    args: {args}\n")


@pytest.mark.parametrize("name", sorted(model_architectures()))
def test_weights_are_those_that_were_published(name: str, asked: Asked) -> None:
    """Unless the file says otherwise."""
    if model_architectures()[name].max_context_tokens < 16_384:
        pytest.skip("shorter than the example's requests")
    question = asked("architecture: llama-3.3-70b", f"architecture: {name}")
    assert question.weight_format == (question.model.quantization or "bfloat16")


def test_self_managed_endpoints_tell_what_they_can(asked: Asked) -> None:
    """Connector, threshold of the router, share of the memory."""
    nixl = asked(file="self-managed")
    assert (nixl.runtime, nixl.connector, nixl.has_threshold) == ("self-managed", "nixl", False)
    assert nixl.gpu_memory_utilization == 0.9
    assert nixl.minimum_pd_buffer(8) == 0
    router = "routing: {router: production-stack}\n"
    other = "routing: {router: production-stack-pr890, image: 'router:1'}\n"
    lmcache = asked(router, f"{other}    kvTransfer: {{connector: lmcache}}\n", file="self-managed")
    assert (lmcache.connector, lmcache.has_threshold) == ("lmcache", True)
    assert asked(file="self-managed", endpoint=1).runtime == "self-managed"
    assert asked().connector == "lmcache"
