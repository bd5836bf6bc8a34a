"""Memory: weights, KV cache and the transfer buffer on one GPU."""

from collections.abc import Iterator

from dpd.errors import shown
from dpd.planner import defaults, memory
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.memory_sums import (
    BUFFER,
    buffer_of,
    byte_size,
    gib,
    gpu_of,
    gpus_with_buffer,
    largest,
    needed_bytes,
    outside_sum,
    share_sum,
    sizes_of,
)
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, quantity


@rule(
    "DPD301",
    Severity.ERROR,
    title="The transfer buffer holds one chunk",
    source=sources.LMCACHE_PD_BACKEND,
)
def buffer_holds_a_chunk(endpoint: EndpointView) -> Iterator[Violation]:
    """LMCache cuts the buffer down to whole chunks and stops if none is left.

    A chunk is 256 tokens, or `LMCACHE_CHUNK_SIZE`.
    """
    buffer = buffer_of(endpoint)
    for sizes in largest(endpoint) if buffer else ():
        chunk = sizes.chunk_bytes
        if buffer and buffer.value < chunk:
            yield Violation(
                buffer.path,
                f"given {gib(buffer.value)}, less than one chunk of {sizes.chunk_tokens} tokens x "
                f"{sizes.kv_sum} = {gib(chunk)}",
                f"{gib(needed_bytes(sizes))} or more",
                "raise it",
            )


@rule(
    "DPD302",
    Severity.ERROR,
    title="The transfer buffer holds one request of the greatest length",
    source=sources.LMCACHE_PD_BACKEND,
)
def buffer_holds_a_request(endpoint: EndpointView) -> Iterator[Violation]:
    """LMCache 0.4.3 waits without end for room, so a prompt larger than the buffer never arrives.

    The buffer is filled in whole chunks: ceil(tokens / 256) * 256 * bytes per token and rank,
    with `LMCACHE_CHUNK_SIZE` in place of 256 where it is set.
    """
    buffer = buffer_of(endpoint)
    for sizes in largest(endpoint) if buffer else ():
        chunk, needed = sizes.chunk_bytes, needed_bytes(sizes)
        if buffer and chunk <= buffer.value and (buffer.value // chunk) * chunk < needed:
            chunks = sizes.chunks(sizes.max_model_len.value)
            yield Violation(
                buffer.path,
                f"given {gib(buffer.value)}, but a request of {sizes.max_model_len.value} tokens "
                f"takes {chunks} chunks x {sizes.chunk_tokens} x {sizes.kv_sum} = {gib(needed)}",
                f"{gib(needed)} or more",
                "raise it or lower max-model-len",
            )


@rule(
    "DPD303",
    Severity.ERROR,
    title="The transfer buffer fits beside vLLM's share of the GPU",
    source=sources.DPD_TROUBLESHOOTING,
)
def buffer_fits(endpoint: EndpointView) -> Iterator[Violation]:
    """The buffer is allocated outside `--gpu-memory-utilization`, with 4 GiB for CUDA and NIXL."""
    for buffer, role, gpu in gpus_with_buffer(endpoint):
        if gpu.outside_spare_bytes < 0:
            yield Violation(
                buffer.path,
                f"given {gib(buffer.value)} for {role.name}: {outside_sum(gpu)}",
                f"{gib(max(0, buffer.value + gpu.outside_spare_bytes))} or less outside the share",
                "lower the buffer or --gpu-memory-utilization",
            )


@rule(
    "DPD304",
    Severity.WARNING,
    title="Something is left of the GPU beside the transfer buffer",
    source=sources.DPD_TROUBLESHOOTING,
)
def buffer_leaves_room(endpoint: EndpointView) -> Iterator[Violation]:
    """Reports say that CUDA, NCCL and NIXL take 4 to 6 GiB; less than 6 may run out of memory."""
    wanted = defaults.OUTSIDE_BYTES - memory.RUNTIME_OUTSIDE_BYTES
    for buffer, role, gpu in gpus_with_buffer(endpoint):
        if buffer.value and 0 <= gpu.outside_spare_bytes < wanted:
            yield Violation(
                buffer.path,
                f"given {gib(buffer.value)} for {role.name}: {outside_sum(gpu)}",
                f"{gib(wanted)} spare or more",
                "lower the buffer or --gpu-memory-utilization a little",
            )


@rule(
    "DPD305",
    Severity.ERROR,
    title="The model and one request fit into vLLM's share of the GPU",
    source=sources.VLLM_KV_CACHE,
)
def model_fits(endpoint: EndpointView) -> Iterator[Violation]:
    """Else vLLM stops with `To serve at least one request with the model's max seq len ...`.

    Weights by their format and all experts, KV cache of max-model-len, and an estimate of
    activations and runtime.
    """
    seen = set()
    for sizes in sizes_of(endpoint):
        gpu = gpu_of(endpoint, sizes)
        if (
            gpu is None
            or gpu.kv_cache_tokens(sizes.kv_bytes_per_token) >= sizes.max_model_len.value
        ):
            continue
        needed = sizes.max_model_len.value * sizes.kv_bytes_per_token
        utilization = sizes.role.flags.get("gpu-memory-utilization")
        path = utilization.path if utilization else sizes.max_model_len.path
        if path in seen:
            continue
        seen.add(path)
        yield Violation(
            path,
            f"given {sizes.role.node.name if sizes.role.node else ''} and {endpoint.weight_format} "
            f"weights: {share_sum(gpu)}, but a request of {sizes.max_model_len.value} tokens x "
            f"{sizes.kv_sum} takes {gib(needed)}",
            "room for the weights and one request",
            "raise --gpu-memory-utilization, lower max-model-len, use more GPUs or larger ones",
        )


@rule(
    "DPD306",
    Severity.WARNING,
    title="The transfer buffer holds a prompt for each request that decode works on",
    source=sources.DPD_TROUBLESHOOTING,
)
def buffer_holds_requests(endpoint: EndpointView) -> Iterator[Violation]:
    """Counted with the shortest prompts that go through prefill, those at the threshold.

    When the buffer is full, LMCache logs `Failed to allocate memory object, retrying...`.
    """
    buffer, threshold = buffer_of(endpoint), endpoint.threshold
    decode = endpoint.decode
    if not (buffer and threshold and decode):
        return
    requests = decode.number("max-num-seqs", defaults.DECODE_MAX_NUM_SEQS)
    for sizes in largest(endpoint) if requests else ():
        tokens = max(threshold.value, 1)
        held = buffer.value // sizes.chunk_bytes // sizes.chunks(tokens)
        is_reached = tokens < sizes.max_model_len.value and buffer.value >= needed_bytes(sizes)
        if requests and is_reached and held < requests.value:
            one = sizes.buffer_bytes(tokens)
            yield Violation(
                buffer.path,
                f"given {gib(buffer.value)}, which holds {held} prompts of {tokens} tokens at "
                f"{gib(one)} each ({sizes.kv_sum}), but decode takes {requests.value} requests",
                f"{gib(one * requests.value)} or more",
                "raise the buffer or lower decode's --max-num-seqs",
            )


@rule(
    "DPD307",
    Severity.ERROR,
    title="max-model-len is within what the model was made for",
    source=sources.VLLM_CONFIG,
)
def length_is_supported(endpoint: EndpointView) -> Iterator[Violation]:
    """More is refused by vLLM, unless a flag or a variable overrides the model's own limits."""
    if endpoint.variable("VLLM_ALLOW_LONG_MAX_MODEL_LEN") == "1":
        return
    seen = set()
    for sizes in sizes_of(endpoint):
        length, most = sizes.max_model_len, sizes.model.max_context_tokens
        if (
            length.value > most
            and "hf-overrides" not in sizes.role.flags
            and length.path not in seen
        ):
            seen.add(length.path)
            yield Violation(
                length.path,
                f"given {length.value} tokens for {sizes.model_name}",
                f"{most} or less",
                "lower it, or extend the model with --hf-overrides",
            )


@rule(
    "DPD310",
    Severity.ERROR,
    title="PD_BUFFER_SIZE is a number of bytes",
    source=sources.DPD_GUIDE,
)
def buffer_is_a_number(endpoint: EndpointView) -> Iterator[Violation]:
    """It is read as a whole number of bytes per rank; units such as `8Gi` are not understood."""
    written = endpoint.variables.get(BUFFER)
    text = written.value if written else None
    if written and text is not None and endpoint.is_disaggregated and byte_size(text) is None:
        amount = quantity(text.removesuffix("B"))
        hint = f"write {amount}" if amount else f"such as {defaults.PD_BUFFER_BYTES}"
        yield Violation(written.path, f"given {shown(text)}", "bytes as a whole number", hint)
