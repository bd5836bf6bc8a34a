"""How many nodes the workers of an instance group need."""

from dpd.catalog import instance_types
from dpd.config.cluster import InstanceGroup
from dpd.config.environment import Environment


def required_nodes(environment: Environment, group: InstanceGroup) -> int:
    """Return the nodes that the workers placed on `group` need; no worker spans two nodes.

    Workers take 1, 2, 4 or 8 GPUs and a node has a multiple of eight, so nothing is wasted when
    the large ones are placed first, and the sum decides.
    """
    gpus = sum(
        endpoint.tensor_parallel_size * workers.replicas
        for endpoint in environment.endpoints
        for workers in endpoint.roles.values()
        if workers.instance_group == group.name
    )
    return -(-gpus // instance_types()[group.instance_type].gpu_count)


def node_count(environment: Environment, group: InstanceGroup) -> int:
    """Return the nodes of `group`: what the file says, else what its workers need."""
    return required_nodes(environment, group) if group.count is None else group.count
