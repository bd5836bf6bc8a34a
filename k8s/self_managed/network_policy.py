"""Who may talk to whom: clients to the router, the router to workers, workers to each other.

EFA traffic is no IP traffic and passes by all of this; the EFA security group bounds it.
"""

import cdk8s
import cdk8s_plus_28 as kplus
from constructs import Construct

from dpd.config import SelfManagedEndpoint
from dpd.config.naming import workload
from dpd.workload import ports
from dpd.workload.labels import selector
from dpd.workload.router_arguments import metrics_port

_DNS = [kplus.NetworkPolicyPort.udp(53), kplus.NetworkPolicyPort.tcp(53)]


def worker_policy(scope: Construct, *, endpoint: SelfManagedEndpoint, role: str) -> None:
    """Let the router, the other role and Prometheus in, and out only to the other role and DNS."""
    peers = _Peers(scope, endpoint)
    others = [peers.pods(other) for other in endpoint.roles if other != role]
    http = [kplus.NetworkPolicyPort.tcp(ports.HTTP)]
    ingress = [kplus.NetworkPolicyRule(peer=peers.pods("router"), ports=http)]
    if endpoint.monitoring:
        prometheus = peers.namespace(endpoint.monitoring.namespace)
        ingress += [kplus.NetworkPolicyRule(peer=prometheus, ports=http)]
    _policy(
        scope,
        endpoint,
        role,
        ingress=[*ingress, *(kplus.NetworkPolicyRule(peer=other) for other in others)],
        egress=[*(kplus.NetworkPolicyRule(peer=other) for other in others), peers.dns()],
    )


def router_policy(scope: Construct, *, endpoint: SelfManagedEndpoint) -> None:
    """Let the cluster in, and out only to workers, DNS and the Kubernetes API."""
    peers = _Peers(scope, endpoint)
    http = [kplus.NetworkPolicyPort.tcp(ports.HTTP)]
    served = [kplus.NetworkPolicyPort.tcp(port) for port in {ports.HTTP, metrics_port(endpoint)}]
    workers = [
        kplus.NetworkPolicyRule(peer=peers.pods(role), ports=http) for role in endpoint.roles
    ]
    anywhere = kplus.NetworkPolicyIpBlock.any_ipv4(scope, "KubernetesApi")
    api = kplus.NetworkPolicyRule(peer=anywhere, ports=[kplus.NetworkPolicyPort.tcp(443)])
    _policy(
        scope,
        endpoint,
        "router",
        ingress=[kplus.NetworkPolicyRule(peer=peers.cluster(), ports=served)],
        egress=[*workers, peers.dns(), api],
    )


class _Peers:
    """Pods and namespaces that policies speak of."""

    def __init__(self, scope: Construct, endpoint: SelfManagedEndpoint) -> None:
        self._scope = Construct(scope, "Peers")
        self._endpoint = endpoint

    def pods(self, part: str) -> kplus.Pods:
        found = self._scope.node.try_find_child(part)
        labels = selector(self._endpoint, part)
        return found or kplus.Pods.select(self._scope, part, labels=labels)  # type: ignore[return-value]

    def namespace(self, name: str) -> kplus.Namespaces:
        return kplus.Namespaces.select(self._scope, f"namespace-{name}", names=[name])

    def cluster(self) -> kplus.Namespaces:
        return kplus.Namespaces.all(self._scope, "cluster")

    def dns(self) -> kplus.NetworkPolicyRule:
        return kplus.NetworkPolicyRule(peer=self.namespace("kube-system"), ports=_DNS)


def _policy(
    scope: Construct,
    endpoint: SelfManagedEndpoint,
    part: str,
    *,
    ingress: list[kplus.NetworkPolicyRule],
    egress: list[kplus.NetworkPolicyRule],
) -> None:
    kplus.NetworkPolicy(
        scope,
        "NetworkPolicy",
        metadata=cdk8s.ApiObjectMetadata(
            name=workload(endpoint, part), namespace=endpoint.resolved_namespace
        ),
        selector=kplus.Pods.select(scope, "Selected", labels=selector(endpoint, part)),
        ingress=kplus.NetworkPolicyTraffic(
            default=kplus.NetworkPolicyTrafficDefault.DENY, rules=ingress
        ),
        egress=kplus.NetworkPolicyTraffic(
            default=kplus.NetworkPolicyTrafficDefault.DENY, rules=egress
        ),
    )
