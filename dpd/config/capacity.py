"""How many nodes the workers of an instance group need."""

from collections.abc import Iterable

from dpd.catalog import instance_types
from dpd.config.cluster import InstanceGroup
from dpd.config.environment import Environment


def nodes_needed(worker_gpus: Iterable[int], *, gpus_per_node: int) -> int:
    """Return the nodes that hold workers of these sizes; no worker spans two nodes."""
    free: list[int] = []
    for gpus in sorted(worker_gpus, reverse=True):
        for node, left in enumerate(free):
            if gpus <= left:
                free[node] -= gpus
                break
        else:
            free.append(gpus_per_node - gpus)
    return len(free)


def worker_gpus(environment: Environment, group: InstanceGroup) -> list[int]:
    """Return the GPUs of every worker placed on `group`."""
    return [
        endpoint.tensor_parallel_size
        for endpoint in environment.endpoints
        for workers in endpoint.roles.values()
        if workers.instance_group == group.name
        for _ in range(workers.replicas)
    ]


def required_nodes(environment: Environment, group: InstanceGroup) -> int:
    """Return the nodes that the workers placed on `group` need."""
    gpus_per_node = instance_types()[group.instance_type].gpu_count
    return nodes_needed(worker_gpus(environment, group), gpus_per_node=gpus_per_node)


def node_count(environment: Environment, group: InstanceGroup) -> int:
    """Return the nodes of `group`: what the file says, else what its workers need."""
    return required_nodes(environment, group) if group.count is None else group.count
