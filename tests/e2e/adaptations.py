"""What a CPU makes us change in a worker's synthesized arguments and variables, and why."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dpd.workload.vllm_arguments import MODEL_PATH


@dataclass(frozen=True)
class Adaptation:
    """One thing that is not as synthesized."""

    what: str
    """The argument or variable."""
    why: str
    change: Callable[[str | None], str]
    """From the synthesized value, or None where there is none, to the one used."""


def _cpu_transfer(synthesized: str | None) -> str:
    config = json.loads(synthesized or "")
    assert config["kv_connector_extra_config"].pop("backends") == ["LIBFABRIC"]
    return json.dumps({**config, "kv_buffer_device": "cpu"})


def arguments(model: str, port: int) -> tuple[Adaptation, ...]:
    """Return all changes to the arguments."""
    return (
        Adaptation(MODEL_PATH, "the volume with weights is a folder here", lambda _: model),
        Adaptation("--host", "one machine", lambda _: "127.0.0.1"),
        Adaptation("--port", "two engines share the address", lambda _: str(port)),
        Adaptation(
            "--dtype",
            "bfloat16 needs AMX instructions, which the machine may announce and not have",
            lambda _: "float32",
        ),
        Adaptation(
            "--kv-transfer-config", "no EFA and no GPU: UCX between host buffers", _cpu_transfer
        ),
    )


def variables(side_channel_port: int, scratch: str) -> tuple[Adaptation, ...]:
    """Return all changes to the variables."""
    return (
        Adaptation("HOME", "the pod's scratch volume is a folder here", lambda _: scratch),
        Adaptation("HF_HOME", "the same", lambda _: scratch),
        Adaptation("VLLM_CACHE_ROOT", "the same", lambda _: scratch),
        Adaptation("VLLM_NIXL_SIDE_CHANNEL_HOST", "one machine", lambda _: "127.0.0.1"),
        Adaptation(
            "VLLM_NIXL_SIDE_CHANNEL_PORT",
            "two engines share the address",
            lambda _: str(side_channel_port),
        ),
        Adaptation("VLLM_CPU_KVCACHE_SPACE", "GiB; there is no GPU memory to share", lambda _: "1"),
        Adaptation("VLLM_CPU_OMP_THREADS_BIND", "two engines share the cores", lambda _: "nobind"),
        Adaptation("ONEDNN_MAX_CPU_ISA", "for the same reason as --dtype", lambda _: "AVX512_CORE"),
    )


def adapted_arguments(words: list[str], changes: tuple[Adaptation, ...]) -> list[str]:
    """Return the arguments with changes made; each must find what it changes."""
    result = list(words)
    for each in changes:
        at = result.index(each.what)
        if each.what.startswith("--"):
            result[at + 1] = each.change(result[at + 1])
        else:
            result[at] = each.change(result[at])
    return result


def adapted_variables(values: Mapping[str, str], changes: tuple[Adaptation, ...]) -> dict[str, str]:
    """Return the variables with changes made and additions."""
    return {**values, **{each.what: each.change(values.get(each.what)) for each in changes}}
