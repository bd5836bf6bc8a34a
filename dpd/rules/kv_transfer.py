"""KV transfer: settings of LMCache and NIXL with which the cache arrives."""

from collections.abc import Callable, Iterator

from dpd.catalog.lmcache import lmcache_variables
from dpd.errors import nearest, shown
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Written

_TRUE = {"true", "1"}
# Replacements of LMCache settings that are gone.
_GONE = {
    "LMCACHE_ENABLE_NIXL": "remove it; the operator switches disaggregation on",
    "LMCACHE_NIXL_ENABLE_GC": "remove it",
    "LMCACHE_NIXL_PEER_PORT": "remove it; the operator sets the ports",
    "LMCACHE_NIXL_RECEIVER_HOST": "remove it; the router names the receiver in each request",
    "LMCACHE_NIXL_RECEIVER_PORT": "remove it; the router names the receiver in each request",
    "LMCACHE_PD_SKIP_PROXY_NOTIFICATION": "remove it; it came with LMCache 0.4.4",
    "LMCACHE_PD_BACKEND_MODE": "remove it; it came with LMCache 0.4.5",
    "LMCACHE_USE_EXPERIMENTAL": "remove it",
}
_NIXL_BACKEND = {"NIXL_BACKEND", "NIXL_BACKENDS"}


@rule(
    "DPD404",
    Severity.ERROR,
    title="PYTHONHASHSEED is a fixed number",
    source=sources.DPD_TROUBLESHOOTING,
)
def hash_seed_is_fixed(endpoint: EndpointView) -> Iterator[Violation]:
    """Chunks are found by a hash that starts from it; without one each process has its own.

    Decode then logs `Retrieved 0 out of N required tokens`. A router that knows the caches
    (kvaware) hashes too.
    """
    is_kvaware = endpoint.written("intelligentRoutingSpec", "routingStrategy").value == "kvaware"
    if not (endpoint.is_disaggregated or is_kvaware):
        return
    written = endpoint.variables.get("PYTHONHASHSEED")
    if written is None:
        yield Violation(
            endpoint.written("worker", "environmentVariables").path,
            "given no PYTHONHASHSEED",
            "a whole number from 0 to 4294967295, the same for all workers",
            'set it to "0"',
        )
    elif written.value is not None and not _is_seed(written.value):
        yield Violation(
            written.path,
            f"given {shown(written.value)}",
            "a whole number from 0 to 4294967295",
            'set it to "0"',
        )


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text[:11]) < 2**32


@rule(
    "DPD405",
    Severity.ERROR,
    title="LMCache settings go with disaggregation",
    source=sources.LMCACHE_CONFIG,
)
def settings_go_with_disaggregation(endpoint: EndpointView) -> Iterator[Violation]:
    """LMCache 0.4.3 stops at start, crashes or loses cache with these settings."""
    if not endpoint.is_disaggregated:
        return
    for name, (is_refused, allowed) in _REFUSED.items():
        written = endpoint.variables.get(name)
        if written and written.value is not None and is_refused(written.value.strip().lower()):
            yield Violation(
                written.path, f"given {name}={written.value}", allowed, "correct it or remove it"
            )


_REFUSED: dict[str, tuple[Callable[[str], bool], str]] = {
    "LMCACHE_SAVE_DECODE_CACHE": (lambda value: value in _TRUE, "False"),
    "LMCACHE_ENABLE_P2P": (lambda value: value in _TRUE, "False"),
    "LMCACHE_ENABLE_ASYNC_LOADING": (lambda value: value in _TRUE, "False"),
    "LMCACHE_USE_LAYERWISE": (lambda value: value in _TRUE, "False"),
    "LMCACHE_REMOTE_URL": (lambda value: value not in ("", "null", "none"), "no remote store"),
    "LMCACHE_TRANSFER_CHANNEL": (lambda value: value != "nixl", "nixl"),
    "LMCACHE_STORE_LOCATION": (lambda value: value == "pdbackend", "another location"),
    "LMCACHE_RETRIEVE_LOCATIONS": (lambda value: value.strip('[]"') != "pdbackend", "PDBackend"),
}


@rule(
    "DPD406",
    Severity.ERROR,
    title="An environment variable is one that somebody reads",
    source=sources.LMCACHE_CONFIG,
)
def variable_is_read(endpoint: EndpointView) -> Iterator[Violation]:
    """LMCache passes over names that it does not know, and NIXL's backend is no variable at all.

    The names are those of LMCache 0.4.3, which both documented images hold.
    """
    if not (endpoint.is_disaggregated or endpoint.known_image):
        return
    for name, written in endpoint.variables.items():
        if name in _NIXL_BACKEND:
            yield _ignored(name, written, "use LMCACHE_NIXL_BACKENDS=LIBFABRIC")
        elif name in _GONE:
            yield _ignored(name, written, _GONE[name])
        elif name.startswith("LMCACHE_") and name not in lmcache_variables():
            near = nearest(name, lmcache_variables())
            yield _ignored(name, written, f"did you mean {near}?" if near else "remove it")
    unfull = endpoint.variables.get("LMCACHE_SAVE_UNFULL_CHUNK")
    if unfull and endpoint.is_disaggregated and (unfull.value or "").lower() not in _TRUE:
        yield _ignored(
            "LMCACHE_SAVE_UNFULL_CHUNK", unfull, "remove it; disaggregation always saves them"
        )


def _ignored(name: str, written: Written[str | None], fix: str) -> Violation:
    return Violation(written.path, f"given {name}, which nothing reads", "names that are read", fix)


@rule(
    "DPD407",
    Severity.ERROR,
    title="NIXL moves the cache by LIBFABRIC",
    source=sources.issue("ai-dynamo/nixl", 909),
)
def backend_is_libfabric(endpoint: EndpointView) -> Iterator[Violation]:
    """UCX has no RDMA on EFA and falls back to TCP without a word, at about 1 GB/s."""
    written = endpoint.variables.get("LMCACHE_NIXL_BACKENDS")
    if endpoint.is_disaggregated and written and "LIBFABRIC" not in (written.value or "LIBFABRIC"):
        yield Violation(
            written.path, f"given {shown(written.value)}", "LIBFABRIC", "set it, or remove it"
        )


@rule(
    "DPD408",
    Severity.ERROR,
    title="Both roles run one image with one set of variables",
    source=sources.DPD_GUIDE,
)
def roles_share_image(endpoint: EndpointView) -> Iterator[Violation]:
    """The custom resource has one image and one list of variables; unequal ones cannot be had.

    Versions that differ in the layout of the cache, or seeds that differ, find nothing.
    """
    fields = {"image": "worker.image", "environmentVariables": "worker.environmentVariables"}
    for role in ("prefillSpec", "decodingSpec") if endpoint.is_disaggregated else ():
        for field, place in fields.items():
            written = endpoint.written("pdSpec", role, field)
            if written.value is not None:
                yield Violation(
                    written.path, f"given {field} in {role}", f"{place} for both", "move it there"
                )


@rule(
    "DPD409",
    Severity.WARNING,
    title="Layers are not divided over a pipeline",
    source=sources.DPD_GUIDE,
)
def no_pipeline_parallelism(endpoint: EndpointView) -> Iterator[Violation]:
    """Nobody has published that the transfer works with layers on several ranks of a pipeline."""
    for role in endpoint.roles if endpoint.is_disaggregated and endpoint.is_vllm else ():
        size = role.number("pipeline-parallel-size", 1)
        if size and size.value > 1:
            yield Violation(
                size.path,
                f"given {size.value} for {role.name}",
                "1",
                "use --tensor-parallel-size instead",
            )


@rule(
    "DPD410",
    Severity.ERROR,
    title="One connector moves the cache",
    source=sources.issue("vllm-project/vllm", 20609),
)
def one_connector(endpoint: EndpointView) -> Iterator[Violation]:
    """A MultiConnector of both fails once prefill and decode are separate."""
    for flag in endpoint.arguments if endpoint.is_vllm and not endpoint.is_disaggregated else ():
        text = flag.value if flag.name == "kv-transfer-config" else ""
        if all(name in text for name in ("MultiConnector", "NixlConnector", "LMCacheConnector")):
            yield Violation(
                flag.path,
                "given a MultiConnector of NixlConnector and LMCacheConnectorV1",
                "one of the two",
                "remove the other",
            )
