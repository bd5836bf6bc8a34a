"""KV cache really moves from our prefill worker to our decode worker: `make test-e2e`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpd.config import Environment
from dpd.workload.router_arguments import router_arguments
from tests.e2e.adaptations import arguments, variables
from tests.e2e.engine_process import Engine, complete, engine, wait_for
from tests.workload.conftest import build, free_port
from tests.workload.router_process import running, wait_until
from tests.workload.rust_router import command, with_addresses

MODEL = "Llama-3.3-70B-Instruct"
PROMPTS = tuple(
    " ".join(f"{opening} number {index} of {count};" for index in range(count))
    for opening, count in (("Paragraph", 12), ("Zebra", 20), ("Quokka with a hat", 31))
)
"""Longer than a block each, and of different beginnings and lengths."""
COUNTERS = (
    "nixl_xfer_time_seconds_count",
    "nixl_bytes_transferred_sum",
    "nixl_num_failed_transfers_total",
    "external_prefix_cache_hits_total",
)
MAKE_MODEL = Path(__file__).with_name("make_model.py")


@dataclass(frozen=True)
class Served:
    """An endpoint on this machine."""

    router: str
    prefill: Engine
    decode: Engine


def environment() -> Environment:
    """The shipped disaggregated endpoint, as small as its fields allow, behind the Rust router."""
    return build(
        tensorParallelSize=1,
        maxModelLenTokens=2048,
        routing={"router": "vllm-router", "image": "registry/router:1"},
    )


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Both workers and the router, all of them real."""
    if not (python := os.environ.get("DPD_VLLM_ENGINE")):
        pytest.skip("DPD_VLLM_ENGINE names no Python with a vLLM for CPUs; run `make test-e2e`")
    if sys.platform != "linux" or "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("vLLM for CPUs needs Linux and AVX-512, which this machine does not have")
    code = "import torch; print(torch.version.cuda)"
    built_for = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    if built_for.stdout.strip() != "None":
        pytest.skip("the torch there is built for CUDA; pip found no CPU build of it")
    folder = tmp_path_factory.mktemp("e2e")
    model, given = folder / "model", environment()
    subprocess.run([python, str(MAKE_MODEL), str(model)], check=True, capture_output=True)
    with (
        engine(python, given, "prefill", model=model, folder=folder) as prefill,
        engine(python, given, "decode", model=model, folder=folder) as decode,
    ):
        wait_for(prefill, decode)
        port = free_port()
        words = with_addresses(router_arguments(given.endpoints[0]), [prefill.url], [decode.url])
        program = command(words, port=port, prometheus_port=free_port())
        program += ["--worker-startup-check-interval", "1"]
        with running(program, port=port, log=folder / "router.log") as router:
            wait_until(lambda: router.get("/readiness").status == 200, router)
            yield Served(router.url, prefill, decode)


def test_kv_cache_moves_and_is_right(served: Served) -> None:
    """Decode computes no prompt token but reads all, and answers as one engine alone does.

    The prefill worker asked directly is that one engine: it knows nothing of the transfer then.
    """
    answers = [complete(served.router, MODEL, prompt) for prompt in PROMPTS]
    prompt_tokens = sum(answer["usage"]["prompt_tokens"] for answer in answers)
    assert all(answer["usage"]["prompt_tokens"] > 128 for answer in answers)
    decode = served.decode
    counters = {name: decode.counter(f"vllm:{name}") for name in COUNTERS}
    print(f"{prompt_tokens} prompt tokens; decode counted {counters}")
    transfers, transferred, failed, hits = counters.values()
    assert transfers >= len(PROMPTS)
    assert transferred > 0
    assert failed == 0
    assert hits == prompt_tokens

    alone = [complete(served.prefill.url, MODEL, prompt) for prompt in PROMPTS]
    assert len({tokens(answer) for answer in alone}) == len(PROMPTS), "answers must differ"
    for answer, reference in zip(answers, alone, strict=True):
        assert tokens(answer) == tokens(reference)
        assert logprobs(answer) == pytest.approx(logprobs(reference), abs=1e-3)


def test_another_prompts_cache_would_show(served: Served) -> None:
    """The log-probabilities of different prompts are far apart, so equal ones mean something."""
    first, second = (complete(served.prefill.url, MODEL, prompt) for prompt in PROMPTS[:2])
    assert logprobs(first) != pytest.approx(logprobs(second), abs=0.05)


def test_adaptations_are_few_and_explained() -> None:
    """Everything else is as synthesized."""
    every = (*arguments("model", 1), *variables(1, "folder"))
    assert len({each.what for each in every}) == len(every) <= 14
    assert all(each.why for each in every)


def tokens(answer: Any) -> tuple[str, ...]:
    """The words of an answer."""
    return tuple(answer["choices"][0]["logprobs"]["tokens"])


def logprobs(answer: Any) -> list[float]:
    """Their log-probabilities."""
    return list(answer["choices"][0]["logprobs"]["token_logprobs"])
