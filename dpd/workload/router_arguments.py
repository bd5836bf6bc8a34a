"""Arguments of the router, by program."""

from dpd.catalog import routers
from dpd.config import SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.naming import workload
from dpd.workload import ports
from dpd.workload.labels import label_query, selector
from dpd.workload.lmcache import receiver_ports

_LISTEN = ["--host", "0.0.0.0", "--port", str(ports.HTTP)]  # noqa: S104 - the pod's own address
_REQUEST_SECONDS = 1800
_HEALTH_CHECK_SECONDS = 2
_HEALTH_CHECK_FAILURES = 2
"""Its requests through a dead prefill worker fail until so many health checks have; it retries no
request between prefill and decode workers, and its circuit breaker does not open there."""


def router_arguments(endpoint: SelfManagedEndpoint) -> list[str]:
    """Return the arguments of the router's own program; its image starts it."""
    if endpoint.routing.router == "vllm-router":
        return [*_LISTEN, *_rust(endpoint)]
    return [*_LISTEN, *_production_stack(endpoint)]


def metrics_port(endpoint: SelfManagedEndpoint) -> int:
    """Return where the router's metrics are."""
    return ports.ROUTER_METRICS if endpoint.routing.router == "vllm-router" else ports.HTTP


def _word(endpoint: SelfManagedEndpoint) -> str:
    """Return the router's own word for the endpoint's strategy."""
    routing = endpoint.routing
    return routers()[routing.router].strategies(endpoint.topology)[routing.strategy]


def _rust(endpoint: SelfManagedEndpoint) -> list[str]:
    arguments = [
        "--policy", _word(endpoint),
        "--prometheus-host", "0.0.0.0",  # noqa: S104 - the pod's own address
        "--prometheus-port", str(ports.ROUTER_METRICS),
        "--request-timeout-secs", str(_REQUEST_SECONDS),
        "--health-check-interval-secs", str(_HEALTH_CHECK_SECONDS),
        "--health-check-timeout-secs", str(_HEALTH_CHECK_SECONDS),
        "--health-failure-threshold", str(_HEALTH_CHECK_FAILURES),
        "--service-discovery",
        "--service-discovery-namespace", endpoint.resolved_namespace,
        "--service-discovery-port", str(ports.HTTP),
    ]  # fmt: skip
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        return [*arguments, "--selector", *_pairs(endpoint, "workers")]
    return [
        *arguments,
        "--vllm-pd-disaggregation",
        "--kv-connector", endpoint.kv_transfer.connector,
        "--prefill-selector", *_pairs(endpoint, "prefill"),
        "--decode-selector", *_pairs(endpoint, "decode"),
    ]  # fmt: skip


def _pairs(endpoint: SelfManagedEndpoint, role: str) -> list[str]:
    return [f"{key}={value}" for key, value in selector(endpoint, role).items()]


def _production_stack(endpoint: SelfManagedEndpoint) -> list[str]:
    arguments = [
        "--service-discovery", "k8s",
        "--k8s-service-discovery-type", "pod-ip",
        "--k8s-namespace", endpoint.resolved_namespace,
        "--k8s-port", str(ports.HTTP),
        "--k8s-label-selector", label_query(endpoint, endpoint.roles),
    ]  # fmt: skip
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        arguments += ["--routing-logic", _word(endpoint)]
        if endpoint.routing.strategy == "session":
            arguments += ["--session-key", endpoint.routing.session_header]
        return arguments
    # Compared as parts of these texts, not as whole words: neither label may contain the other.
    arguments += ["--prefill-model-labels", "prefill", "--decode-model-labels", "decode"]
    if endpoint.routing.router == "production-stack":
        return [*arguments, "--routing-logic", _word(endpoint)]
    return [*arguments, *_pull_request_890(endpoint)]


def _pull_request_890(endpoint: SelfManagedDisaggregatedEndpoint) -> list[str]:
    arguments = [
        "--routing-logic", "disaggregated_prefill",
        "--load-balancing-strategy", _word(endpoint),
        "--routing-threshold", str(endpoint.routing.threshold_tokens),
        "--disagg-connector-type", endpoint.kv_transfer.connector,
    ]  # fmt: skip
    if endpoint.kv_transfer.connector == "nixl":
        return arguments
    return [
        *arguments,
        "--decoder-host", receiver_host(endpoint),
        "--decoder-init-port", receiver_ports(ports.LMCACHE_HANDSHAKE, endpoint),
        "--decoder-alloc-port", receiver_ports(ports.LMCACHE_ALLOCATION, endpoint),
    ]  # fmt: skip


def receiver_host(endpoint: SelfManagedDisaggregatedEndpoint) -> str:
    """Return the name under which senders reach the one decode worker, whatever its address."""
    return f"{workload(endpoint, 'decode')}.{endpoint.resolved_namespace}.svc.cluster.local"
