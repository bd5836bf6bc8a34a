"""Every physical name, derived once.

Names with a fixed beginning have it because AWS's managed policies grant by it: lifecycle scripts
`sagemaker-`, certificates `hyperpod-tls-`, the operator's role `SageMakerHyperPodInference`.
"""

from dpd.config.endpoint import AnyEndpoint, OperatorEndpoint, SelfManagedEndpoint
from dpd.config.environment import Environment

OPERATOR_NAMESPACE = "hyperpod-inference-system"
OPERATOR_LOG_COMMAND = (
    f"kubectl logs -n {OPERATOR_NAMESPACE} deployment/hyperpod-inference-controller-manager"
)
"""Shows why the operator could not deploy an endpoint."""
WAITER_GROUP = "dpd:endpoint-waiter"
"""Kubernetes group of the readiness waiter."""


def stack_name(environment: Environment, part: str) -> str:
    """Return `dpd-<environment>-<part>`."""
    return f"dpd-{environment.name}-{part}"


def endpoint_stack_name(environment: Environment, endpoint_name: str) -> str:
    """Return the stack that holds one endpoint."""
    return stack_name(environment, f"endpoint-{endpoint_name}")


def cluster_name(environment: Environment) -> str:
    """Return the name of both the EKS and the HyperPod cluster."""
    return f"dpd-{environment.name}"


def model_bucket(environment: Environment) -> str:
    """Return the bucket that holds the weights."""
    return f"dpd-{environment.name}-models-{environment.account}-{environment.region}"


def lifecycle_bucket(environment: Environment) -> str:
    """Return the bucket that holds the node lifecycle scripts."""
    return f"sagemaker-{_short(environment)}"


def tls_bucket(environment: Environment) -> str:
    """Return the bucket to which the operator writes certificates."""
    return f"hyperpod-tls-{_short(environment)}"


def access_log_bucket(environment: Environment) -> str:
    """Return the bucket that holds the access logs of the other buckets."""
    return f"dpd-{environment.name}-access-logs-{environment.account}-{environment.region}"


def operator_role(environment: Environment) -> str:
    """Return the inference operator's IAM role."""
    return f"SageMakerHyperPodInference-{environment.name}-{environment.region}"


def sagemaker_endpoint_name(environment: Environment, endpoint: OperatorEndpoint) -> str:
    """Return the SageMaker endpoint's name, unique in the account; empty where none is wanted."""
    return f"dpd-{environment.name}-{endpoint.name}" if endpoint.sagemaker_endpoint else ""


def router(endpoint: AnyEndpoint) -> str:
    """Return the Deployment of the router; for the operator's, it makes the name."""
    if endpoint.runtime == "self-managed":
        return workload(endpoint, "router")
    return f"{endpoint.name}-{endpoint.resolved_namespace}-router"


def routing_service(endpoint: AnyEndpoint) -> str:
    """Return the Service in front of the router; for the operator's, it makes the name."""
    if endpoint.runtime == "self-managed":
        return workload(endpoint, "router")
    return f"{endpoint.name}-{endpoint.resolved_namespace}-routing-service"


def endpoint_url(endpoint: AnyEndpoint) -> str:
    """Return the URL inside the cluster; the operator's is plain HTTP on port 443, no mistake."""
    service, path = routing_service(endpoint), "/v1/chat/completions"
    if endpoint.runtime == "self-managed":
        return f"http://{service}.{endpoint.resolved_namespace}.svc.cluster.local:80{path}"
    return f"http://{service}.{OPERATOR_NAMESPACE}.svc.cluster.local:443{path}"


def workload(endpoint: SelfManagedEndpoint, part: str) -> str:
    """Return what every object of one part of a self-managed endpoint is called.

    Parts are the roles, `router`, and `weights`.
    """
    return f"{endpoint.name}-{part}"


def deployments(endpoint: SelfManagedEndpoint) -> tuple[str, ...]:
    """Return the Deployments of a self-managed endpoint, the router's last."""
    return tuple(workload(endpoint, part) for part in (*endpoint.roles, "router"))


def weights_volume(environment: Environment, endpoint: SelfManagedEndpoint) -> str:
    """Return the persistent volume of the weights; volumes have no namespace."""
    return f"dpd-{environment.name}-{endpoint.resolved_namespace}-{workload(endpoint, 'weights')}"


def availability_zone_prefix(region: str) -> str:
    """Return how the zone ids of a region begin: `use2` for `us-east-2`."""
    area, *directions, number = region.split("-")
    short = {"gov": "g", "northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}
    return area + "".join(short.get(word, word[0]) for word in directions) + number


def _short(environment: Environment) -> str:
    return f"dpd-{environment.name}-{environment.account}-{environment.region}"
