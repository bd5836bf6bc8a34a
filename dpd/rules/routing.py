"""Routing: threshold, strategy, ports and health checks."""

from collections.abc import Iterator, Mapping

from dpd.errors import shown
from dpd.manifest.endpoint_spec import PORT
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView

_NGINX_PORT = 8081


@rule(
    "DPD701",
    Severity.ERROR,
    title="The routing threshold is below max-model-len",
    source=sources.DPD_TROUBLESHOOTING,
)
def threshold_is_reachable(endpoint: EndpointView) -> Iterator[Violation]:
    """No prompt is as long as max-model-len, so none would ever go through a prefill worker."""
    threshold = endpoint.threshold
    lengths = [role.number("max-model-len", _context(endpoint)) for role in endpoint.roles]
    known = [length.value for length in lengths if length and length.value > 0]
    if threshold and known and endpoint.is_vllm and threshold.value >= min(known):
        yield Violation(
            threshold.path,
            f"given {threshold.value} tokens with a max-model-len of {min(known)}",
            f"0 to {min(known) - 1}",
            "lower the threshold or raise max-model-len",
        )


@rule(
    "DPD702",
    Severity.NOTE,
    title="Short prompts do not go through prefill",
    source=sources.DPD_GUIDE,
)
def threshold_is_not_zero(endpoint: EndpointView) -> Iterator[Violation]:
    """Short prompts then pay for the transfer and gain nothing; good for trying, not for use."""
    threshold = endpoint.threshold
    if threshold and threshold.value == 0:
        yield Violation(
            threshold.path, "given 0", "0, which sends all, or a number of tokens", "4096 is usual"
        )


@rule(
    "DPD703",
    Severity.NOTE,
    title="The load balancer asks vLLM for /health",
    source=sources.DPD_GUIDE,
)
def health_check_path(endpoint: EndpointView) -> Iterator[Violation]:
    """The guide sets `/health` for its vLLM images; the operator's default is `/ping`.

    vLLM's own `/ping` answers alike. AWS's images for SageMaker are made for `/ping` and left out.
    """
    written = endpoint.written("loadBalancer", "healthCheckPath", default="/ping")
    if endpoint.is_vllm and not endpoint.is_for_sagemaker and written.value == "/ping":
        yield Violation(
            written.path,
            "given /ping, the operator's default",
            "/health for a vLLM image",
            "set loadBalancer.healthCheckPath",
        )


@rule(
    "DPD704",
    Severity.WARNING,
    title="Round-robin needs more than one prefill worker",
    source=sources.DPD_TROUBLESHOOTING,
)
def round_robin_has_choice(endpoint: EndpointView) -> Iterator[Violation]:
    """With one there is nothing to take turns with, and later workers get no prefix affinity."""
    prefill = endpoint.prefill
    strategy = endpoint.written("intelligentRoutingSpec", "routingStrategy")
    scaling = endpoint.written("pdSpec", "autoScalingSpec", "prefillAutoScaling").value
    if prefill and prefill.replicas.value == 1 and strategy.value == "roundrobin" and not scaling:
        yield Violation(
            strategy.path,
            "given roundrobin with one prefill replica",
            "prefixaware, or more prefill replicas",
            "use prefixaware",
        )


@rule(
    "DPD705",
    Severity.NOTE,
    title="Prefill workers are loaded evenly",
    source=sources.DPD_TROUBLESHOOTING,
)
def load_may_be_uneven(endpoint: EndpointView) -> Iterator[Violation]:
    """Prompts that begin alike go to one worker; look at the queues before changing it."""
    prefill = endpoint.prefill
    strategy = endpoint.written("intelligentRoutingSpec", "routingStrategy", default="prefixaware")
    if prefill and prefill.replicas.value > 1 and strategy.value == "prefixaware":
        yield Violation(
            strategy.path,
            f"given prefixaware with {prefill.replicas.value} prefill replicas",
            "prefixaware, kvaware or roundrobin",
            "if one of them has the longer queue, try roundrobin or kvaware",
        )


@rule(
    "DPD706",
    Severity.ERROR,
    title="Requests go to the port that vLLM listens on",
    source=sources.CRD,
)
def port_is_vllms(endpoint: EndpointView) -> Iterator[Violation]:
    """The sidecar passes requests to `modelInvocationPort`; on another port nobody answers."""
    port = endpoint.written("worker", "modelInvocationPort", "containerPort")
    if not endpoint.is_vllm or type(port.value) is not int:
        return
    seen = set()
    for role in endpoint.roles:
        default = PORT if endpoint.known_image else None
        listens = role.number("port", default)
        if listens and listens.value != port.value and listens.value not in seen:
            seen.add(listens.value)
            yield Violation(
                port.path if "port" not in role.flags else listens.path,
                f"given containerPort {port.value}, but vLLM listens on {listens.value}",
                "the same port",
                "make --port and containerPort equal",
            )


@rule(
    "DPD707",
    Severity.ERROR,
    title="The sidecar has its port to itself",
    source=sources.DPD_TROUBLESHOOTING,
)
def port_is_free(endpoint: EndpointView) -> Iterator[Violation]:
    """Each worker pod has an nginx of the operator's on 8081; two cannot listen on one port."""
    port = endpoint.written("worker", "modelInvocationPort", "containerPort")
    if port.value == _NGINX_PORT:
        yield Violation(
            port.path, f"given {_NGINX_PORT}, which is the sidecar's", "another port", "use 8000"
        )


@rule(
    "DPD708",
    Severity.NOTE,
    title="Metrics are read from the port that vLLM serves them on",
    source=sources.CRD,
)
def metrics_port_is_vllms(endpoint: EndpointView) -> Iterator[Violation]:
    """It has `/metrics` on the port of its requests; the schema's default is 8080."""
    metrics = endpoint.written("metrics")
    if not (endpoint.is_vllm and isinstance(metrics.value, Mapping)):
        return
    port = endpoint.written("worker", "modelInvocationPort", "containerPort").value
    read = endpoint.written("metrics", "modelMetrics", "port", default=8080)
    if metrics.value.get("enabled", True) is True and type(port) is int and read.value != port:
        yield Violation(
            read.path,
            f"given metrics port {read.value}, but requests on {port}",
            "the port of the requests",
            f"set metrics.modelMetrics.port to {port}",
        )


@rule(
    "DPD709",
    Severity.WARNING,
    title="The path of requests has no slash in front",
    source=sources.CRD,
)
def path_is_relative(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator puts one before it; `//v1/chat/completions` is another path."""
    written = endpoint.written("invocationEndpoint")
    if isinstance(written.value, str) and written.value.startswith("/"):
        yield Violation(
            written.path,
            f"given {shown(written.value)}",
            written.value.lstrip("/"),
            "remove the slash",
        )


def _context(endpoint: EndpointView) -> int | None:
    return endpoint.architecture.max_context_tokens if endpoint.architecture else None
