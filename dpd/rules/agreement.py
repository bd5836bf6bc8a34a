"""KV transfer: what prefill and decode must have in common for the cache to be found."""

from collections.abc import Iterator, Mapping

from dpd.catalog.vllm_flags import MODEL_TAG, Flag
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Role

# Flags whose values are part of the KV cache or of the name under which it is found, and what
# vLLM 0.19.0 makes of none.
_EQUAL_FLAGS = {
    "model": "",
    "revision": "main",
    "dtype": "auto",
    "quantization": "auto",
    "kv-cache-dtype": "auto",
    "prefix-caching-hash-algo": "sha256",
}
_SAME = {"half": "float16", "float": "float32", "fp8": "fp8_e4m3"}


@rule(
    "DPD401",
    Severity.ERROR,
    title="Prefill and decode have the same tensor parallel size",
    source=sources.LMCACHE_PD_BACKEND,
)
def equal_tensor_parallel(endpoint: EndpointView) -> Iterator[Violation]:
    """LMCache's keys hold the number of ranks: decode looks for `@8@` where prefill stored `@4@`.

    The decode log then says `Retrieved 0 out of N required tokens`, and decode prefills again.
    """
    prefill, decode = endpoint.prefill, endpoint.decode
    if not (prefill and decode and endpoint.is_vllm):
        return
    first, second = prefill.tensor_parallel, decode.tensor_parallel
    if first and second and first.value != second.value:
        yield Violation(
            second.path if second.path != decode.path else first.path,
            f"given {first.value} for prefill and {second.value} for decode",
            "the same --tensor-parallel-size",
            "make the two equal",
        )


@rule(
    "DPD402",
    Severity.ERROR,
    title="Prefill and decode agree on what decides the content of the KV cache",
    source=sources.LMCACHE_PD_BACKEND,
)
def equal_flags(endpoint: EndpointView) -> Iterator[Violation]:
    """Model, revision, types and hash algorithm; else nothing is found, or what is wrong.

    What is in force is compared: a flag with its default is as good as none.
    """
    yield from _differing(endpoint, _EQUAL_FLAGS)


@rule(
    "DPD403",
    Severity.WARNING,
    title="Prefill and decode have the same block size",
    source=sources.LMCACHE_PD_BACKEND,
)
def equal_block_size(endpoint: EndpointView) -> Iterator[Violation]:
    """Chunks are cut along blocks; unequal ones are copied in more and smaller pieces."""
    is_mla = endpoint.architecture and endpoint.architecture.mla  # has other defaults
    yield from _differing(endpoint, {"block-size": "auto" if is_mla else "16"})


def _differing(endpoint: EndpointView, defaults: Mapping[str, str]) -> Iterator[Violation]:
    prefill, decode = endpoint.prefill, endpoint.decode
    if not (prefill and decode and endpoint.is_vllm):
        return
    for name, default in defaults.items():
        first, second = _flag(prefill, name), _flag(decode, name)
        one, other = (
            _in_force(endpoint, role, name, default=default) for role in (prefill, decode)
        )
        written = second or first
        if one != other and None not in (one, other) and written:
            told = [
                flag.value if flag else f"unset ({value or 'none'})"
                for flag, value in ((first, one), (second, other))
            ]
            yield Violation(
                written.path,
                f"given --{name} {told[0]} for prefill and {told[1]} for decode",
                "the same for both",
                "move it to the arguments of all workers",
            )


def _flag(role: Role, name: str) -> Flag | None:
    return role.flags.get(name) or (role.flags.get(MODEL_TAG) if name == "model" else None)


def _in_force(endpoint: EndpointView, role: Role, name: str, *, default: str) -> str | None:
    """Return what vLLM makes of a flag or of its absence; None where that is not known."""
    flag = _flag(role, name)
    if flag is None and role.has_more_flags:
        return None
    value = flag.value if flag else default
    if value != "auto":
        return _SAME.get(value, value)
    if name == "kv-cache-dtype":
        return _in_force(endpoint, role, "dtype", default="auto")
    if name == "quantization":
        return endpoint.weight_format if endpoint.is_quantized else "none"
    return endpoint.dtype if name == "dtype" else None
