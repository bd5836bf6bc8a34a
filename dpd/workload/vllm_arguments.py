"""Arguments of vLLM, by role and connector."""

import json
from collections.abc import Iterable
from itertools import pairwise

from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.workload import ports

MODEL_PATH = "/opt/ml/model"

_MAX_SEQUENCES = {"prefill": 16, "decode": 32}
"""What the HyperPod operator gives the two roles."""
_NIXL_BLOCK_TOKENS = 128
"""LIBFABRIC costs 2 to 3 microseconds a descriptor; blocks of 16 tokens make eight times more."""
_LMCACHE_ROLES = {"prefill": "kv_producer", "decode": "kv_consumer"}


def vllm_arguments(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> list[str]:
    """Return what follows `vllm serve` for workers of a role.

    A flag in the endpoint's `args` replaces ours, one in the role's replaces both.
    """
    model = environment.model_named(endpoint.model)
    own = [
        "--served-model-name", model.name,
        "--host", "0.0.0.0",  # noqa: S104 - the pod's own address is not known before it runs
        "--port", str(ports.HTTP),
        "--dtype", model.dtype,
        "--tensor-parallel-size", str(endpoint.tensor_parallel_size),
        "--max-model-len", str(endpoint.max_model_len_tokens),
        "--gpu-memory-utilization", str(endpoint.gpu_memory_utilization),
        "--shutdown-timeout", f"{endpoint.drain:.0f}",
    ]  # fmt: skip
    if isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        own += _disaggregated(endpoint, role)
    return [MODEL_PATH, *_merged(own, endpoint.args, endpoint.roles[role].args)]


def kv_transfer_config(endpoint: SelfManagedDisaggregatedEndpoint, role: str) -> dict[str, object]:
    """Return the connector that moves KV cache between the roles, as vLLM reads it."""
    if endpoint.kv_transfer.connector == "nixl":
        return {
            "kv_connector": "NixlConnector",
            "kv_role": "kv_both",
            # A decode worker that silently computed the prompt itself would look healthy.
            "kv_load_failure_policy": "fail",
            "kv_connector_extra_config": {"backends": ["LIBFABRIC"]},
        }
    extra: dict[str, object] = {"discard_partial_chunks": False, "lmcache_rpc_port": role}
    if role == "decode":
        # The last prompt token is computed again, for the logits of the first new one.
        extra["skip_last_n_tokens"] = 1
    return {
        "kv_connector": "LMCacheConnectorV1",
        "kv_role": _LMCACHE_ROLES[role],
        "kv_connector_extra_config": extra,
    }


def _disaggregated(endpoint: SelfManagedDisaggregatedEndpoint, role: str) -> list[str]:
    arguments = ["--max-num-seqs", str(_MAX_SEQUENCES[role])]
    if role == "prefill":
        # CUDA graphs are for decode steps, of which a prefill worker makes none.
        arguments += ["--enforce-eager"]
    if endpoint.kv_transfer.connector == "nixl":
        arguments += ["--block-size", str(_NIXL_BLOCK_TOKENS)]
    else:
        # Chunks that vLLM had cached itself would never be read from the buffer, nor freed.
        arguments += ["--no-enable-prefix-caching"]
    config = json.dumps(kv_transfer_config(endpoint, role), separators=(",", ":"))
    return [*arguments, "--kv-transfer-config", config]


def _merged(*groups: Iterable[str]) -> list[str]:
    """Return all options; where two groups set the same flag, the later one stays."""
    options: dict[str, list[str]] = {}
    for group in groups:
        for option in _options(list(group)):
            options.pop(_flag(option[0]), None)
            options[_flag(option[0])] = option
    return [word for option in options.values() for word in option]


def _options(words: list[str]) -> list[list[str]]:
    """Cut words into options, each a flag with the values behind it."""
    starts = [at for at, word in enumerate(words) if _is_flag(word) or at == 0]
    return [words[start:end] for start, end in pairwise([*starts, len(words)])]


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit()


def _flag(word: str) -> str:
    """Return a flag without its value and its negation: both spellings set the same thing."""
    name = word.partition("=")[0].replace("_", "-")
    return name.replace("--no-", "--", 1)
