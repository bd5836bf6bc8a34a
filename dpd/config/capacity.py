"""How many nodes the workers of an instance group need."""

from dpd.catalog import InstanceType, ec2_instance_types, instance_types
from dpd.config.cluster import InstanceGroup, NodeGroup
from dpd.config.environment import Environment

Group = InstanceGroup | NodeGroup


def node_type(group: Group) -> InstanceType:
    """Return what the catalog knows about a group's nodes."""
    types = instance_types() if isinstance(group, InstanceGroup) else ec2_instance_types()
    return types[group.instance_type]


def required_nodes(environment: Environment, group: Group) -> int:
    """Return the nodes that the workers placed on `group` need; no worker spans two nodes.

    Workers take 1, 2, 4 or 8 GPUs and a node has a multiple of eight, so nothing is wasted when
    the large ones are placed first, and the sum decides. Self-managed prefill and decode workers
    never share a node, so each of their roles is a sum of its own.
    """
    shared, apart = 0, list[int]()
    for endpoint in environment.endpoints:
        for workers in endpoint.roles.values():
            gpus = endpoint.tensor_parallel_size * workers.most_replicas
            if workers.instance_group != group.name:
                continue
            if endpoint.runtime == "operator":
                shared += gpus
            else:
                apart.append(gpus)
    gpu_count = node_type(group).gpu_count
    return sum(-(-gpus // gpu_count) for gpus in (shared, *apart))


def node_count(environment: Environment, group: Group) -> int:
    """Return the nodes of `group`: what the file says, else what its workers need."""
    return required_nodes(environment, group) if group.count is None else group.count


def spare_nodes(environment: Environment, group: Group) -> int:
    """Return the nodes of `group` that no worker needs."""
    return node_count(environment, group) - required_nodes(environment, group)
