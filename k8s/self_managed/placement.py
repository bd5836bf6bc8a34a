"""Where workers run: nodes, taints, and never prefill and decode on one host."""

from typing import Any

from dpd.config import (
    Environment,
    InstanceGroup,
    SelfManagedDisaggregatedEndpoint,
    SelfManagedEndpoint,
)
from dpd.config.self_managed import Toleration
from dpd.workload.labels import selector

_GPU_TAINTS = ("nvidia.com/gpu", "vpc.amazonaws.com/efa")


def placement(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> dict[str, Any]:
    """Return the fields of a pod that choose its node."""
    taints = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in _GPU_TAINTS]
    return {
        "nodeSelector": _nodes(environment, endpoint, role) | endpoint.node_selector,
        "tolerations": [*taints, *map(_toleration, endpoint.tolerations)],
        **_apart(endpoint, role),
    }


def _nodes(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> dict[str, str]:
    """Return labels of the nodes: all of one group, and so of one type in one zone."""
    group = environment.nodes_named(endpoint.roles[role].instance_group)
    node_type = {"node.kubernetes.io/instance-type": group.instance_type}
    if isinstance(group, InstanceGroup):
        # HyperPod puts every group into the GPU subnet, which is in one zone.
        return {"sagemaker.amazonaws.com/instance-group-name": group.name, **node_type}
    zone = environment.network.gpu_subnet.availability_zone_id
    return {
        "eks.amazonaws.com/nodegroup": group.name,
        **node_type,
        "topology.k8s.aws/zone-id": zone,
    }


def _toleration(toleration: Toleration) -> dict[str, str]:
    fields = {"key": toleration.key, "operator": "Exists"}
    if toleration.value is not None:
        fields |= {"operator": "Equal", "value": toleration.value}
    return fields | ({"effect": toleration.effect} if toleration.effect else {})


def _apart(endpoint: SelfManagedEndpoint, role: str) -> dict[str, Any]:
    """Return the refusal of hosts that have workers of the other role: EFA fails within a host."""
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        return {}
    (other,) = endpoint.roles.keys() - {role}
    term = {
        "labelSelector": {"matchLabels": selector(endpoint, other)},
        "topologyKey": "kubernetes.io/hostname",
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAntiAffinity": required}}


def rather_not_on_gpu_nodes(
    environment: Environment, endpoint: SelfManagedEndpoint
) -> dict[str, Any]:
    """Return a router's wish for other nodes: a GPU node that is replaced takes its pods along."""
    types = {
        environment.nodes_named(workers.instance_group).instance_type
        for workers in endpoint.roles.values()
    }
    other = {
        "key": "node.kubernetes.io/instance-type",
        "operator": "NotIn",
        "values": sorted(types),
    }
    wish = {"weight": 100, "preference": {"matchExpressions": [other]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
