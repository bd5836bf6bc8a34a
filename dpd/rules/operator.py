"""Operator: what it does itself, and what it needs from a manifest."""

from collections.abc import Iterator, Mapping

from dpd.errors import shown
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView

_RESERVED_FLAGS = {"kv-transfer-config", "kv-offloading-backend", "kv-offloading-size"}
_RESERVED_VARIABLES = {
    "LMCACHE_CONFIG_FILE",
    *("LMCACHE_ENABLE_PD", "LMCACHE_ENABLE_XPYD", "LMCACHE_PD_ROLE", "LMCACHE_NIXL_ROLE"),
    *("LMCACHE_PD_BUFFER_SIZE", "LMCACHE_PD_BUFFER_DEVICE", "LMCACHE_NIXL_BUFFER_SIZE"),
    *("LMCACHE_PD_PEER_HOST", "LMCACHE_PD_PEER_INIT_PORT", "LMCACHE_PD_PEER_ALLOC_PORT"),
    *("LMCACHE_NIXL_PEER_HOST", "LMCACHE_NIXL_PEER_INIT_PORT", "LMCACHE_NIXL_PEER_ALLOC_PORT"),
    *("LMCACHE_PD_PROXY_HOST", "LMCACHE_PD_PROXY_PORT"),
    *("LMCACHE_NIXL_PROXY_HOST", "LMCACHE_NIXL_PROXY_PORT"),
}


@rule(
    "DPD601",
    Severity.ERROR,
    title="The operator sets the connector itself",
    source=sources.DPD_GUIDE,
)
def connector_is_the_operators(endpoint: EndpointView) -> Iterator[Violation]:
    """It gives each role its own; what is written here both would take, sender and receiver."""
    if not endpoint.is_disaggregated:
        return
    for flag in endpoint.arguments if endpoint.is_vllm else ():
        if flag.name in _RESERVED_FLAGS:
            yield Violation(
                flag.path,
                f"given {shown(flag.word)}",
                "flags that are not the operator's",
                "remove it",
            )
    for name, written in endpoint.variables.items():
        if name in _RESERVED_VARIABLES:
            fix = "use PD_BUFFER_SIZE" if name.endswith("BUFFER_SIZE") else "remove it"
            yield Violation(
                written.path, f"given {name}", "variables that are not the operator's", fix
            )


@rule(
    "DPD602",
    Severity.ERROR,
    title="One decode replica",
    source=sources.DPD_GUIDE,
)
def one_decode_replica(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator supports one decoder per endpoint; the guide names it as a known limitation.

    The troubleshooting page still advises more, but the router has one receiver.
    """
    decode = endpoint.decode
    if decode and decode.replicas.value > 1:
        yield Violation(
            decode.replicas.path,
            f"given {decode.replicas.value} decode replicas",
            "1",
            "set it to 1; make more endpoints, or give decode a larger buffer or larger GPUs",
        )
    scaling = endpoint.written("pdSpec", "autoScalingSpec", "decodingAutoScaling")
    most = endpoint.written("pdSpec", "autoScalingSpec", "decodingAutoScaling", "maxReplicaCount")
    if isinstance(scaling.value, Mapping) and most.value is None:
        yield Violation(
            scaling.path,
            "given no maxReplicaCount, of which the default is 5",
            "1",
            "set maxReplicaCount to 1 or remove decodingAutoScaling",
        )
    if type(most.value) is int and most.value > 1:
        yield Violation(
            most.path, f"given up to {most.value} decode replicas", "1", "set maxReplicaCount to 1"
        )


@rule(
    "DPD606",
    Severity.NOTE,
    title="Disaggregated workers take cpu and memory from their role",
    source=sources.DPD_GUIDE,
)
def role_asks_for_cpu(endpoint: EndpointView) -> Iterator[Violation]:
    """What stands in `worker.resources` is ignored, though the schema demands it.

    Without requests a worker is scheduled as if it needed no cpu and no memory.
    """
    where = "overrides.pdSpec" if endpoint.is_environment else "pdSpec"
    for role in endpoint.roles if endpoint.is_disaggregated else ():
        missing = [name for name in ("cpu", "memory") if role.amount(name) is None]
        if missing and role.gpus:
            yield Violation(
                role.path,
                f"given no {' and no '.join(missing)} in the resources of {role.name}; "
                "those of worker are not used",
                "cpu and memory in the role's requests and limits",
                f"add them to {where}",
            )


@rule(
    "DPD610",
    Severity.WARNING,
    title="The operator's role may write to the certificate bucket",
    source=sources.OPERATOR_SETUP,
)
def certificate_bucket(endpoint: EndpointView) -> Iterator[Violation]:
    """The managed policy AmazonSageMakerHyperPodInferenceAccess grants buckets `hyperpod-tls-*`."""
    written = endpoint.written("tlsConfig", "tlsCertificateOutputS3Uri")
    uri = written.value if isinstance(written.value, str) else ""
    if uri.startswith("s3://") and not uri.startswith("s3://hyperpod-tls"):
        yield Violation(
            written.path,
            f"given {shown(uri)}",
            "a bucket whose name starts with hyperpod-tls-",
            "use one, or give the operator's role s3 put, get, delete and tagging on this one",
        )


@rule(
    "DPD614",
    Severity.WARNING,
    title="The Hugging Face secret has its token under `token`",
    source=sources.COSMOS_REPORT,
)
def secret_key_is_token(endpoint: EndpointView) -> Iterator[Violation]:
    """The download was seen to find nothing under any other key."""
    written = endpoint.written("modelSourceConfig", "huggingFaceModel", "tokenSecretRef", "key")
    if isinstance(written.value, str) and written.value != "token":
        yield Violation(
            written.path, f"given {shown(written.value)}", "token", "rename the secret's key"
        )
