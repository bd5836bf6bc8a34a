"""How many nodes the workers of an instance group need."""

from collections import Counter
from typing import NamedTuple, Self

from dpd.catalog import InstanceType, ec2_instance_types, instance_types
from dpd.config.cluster import InstanceGroup, NodeGroup
from dpd.config.endpoint import AnyEndpoint
from dpd.config.environment import Environment

Group = InstanceGroup | NodeGroup

_SYSTEM_SHARE = 16
"""A sixteenth of a node's vCPUs and memory is not for workers: of its memory the kernel keeps some
2 %, huge pages take 10 GiB, and kubelet, device plugins, drivers, agents and the workers' sidecars
request some of both. AWS publishes no number of what is left."""


class Room(NamedTuple):
    """What a worker takes, or a node has for workers."""

    gpus: int
    cpus: int
    memory: int
    """Bytes."""

    def holds(self, worker: Self) -> int:
        """Return how many such workers fit, by whatever runs out first."""
        return min(has // takes for has, takes in zip(self, worker, strict=True))

    def without(self, worker: Self, count: int) -> Self:
        """Return what is left beside so many workers."""
        left = (has - count * takes for has, takes in zip(self, worker, strict=True))
        return type(self)(*left)


def node_type(group: Group) -> InstanceType:
    """Return what the catalog knows about a group's nodes."""
    types = instance_types() if isinstance(group, InstanceGroup) else ec2_instance_types()
    return types[group.instance_type]


def node_room(group: Group) -> Room:
    """Return what a node has for workers."""
    return room_on(node_type(group))


def room_on(node: InstanceType) -> Room:
    """Return what a node of a type has for workers."""
    return Room(
        gpus=node.gpu_count,
        cpus=node.vcpus - node.vcpus // _SYSTEM_SHARE,
        memory=(node.memory_gib - node.memory_gib // _SYSTEM_SHARE) * 2**30,
    )


def required_nodes(environment: Environment, group: Group) -> int:
    """Return the nodes that the workers placed on `group` need; no worker spans two nodes.

    Self-managed prefill and decode workers never share a node, so each of their roles is placed
    by itself.
    """
    shared, apart = Counter[Room](), list[Counter[Room]]()
    for endpoint in environment.endpoints:
        for workers in endpoint.roles.values():
            if workers.instance_group != group.name:
                continue
            placed = {_room_of_worker(endpoint): workers.most_replicas}
            if endpoint.runtime == "operator":
                shared.update(placed)
            else:
                apart.append(Counter(placed))
    return sum(_nodes_for(workers, node_room(group)) for workers in (shared, *apart))


def _room_of_worker(endpoint: AnyEndpoint) -> Room:
    return Room(endpoint.tensor_parallel_size, endpoint.resolved_cpu, endpoint.resolved_memory)


def _nodes_for(workers: Counter[Room], node: Room) -> int:
    """Place the largest first, each on the first node that has room; nodes alike are counted.

    A worker that is too large for any node, of which a rule tells, gets one for itself.
    """
    nodes = Counter[Room]()
    for worker, count in sorted(workers.items(), reverse=True):
        for room, number in list(nodes.items()):
            count -= _place(nodes, room, worker, min(count, number * max(0, room.holds(worker))))
        nodes[node] += -(-count // max(1, node.holds(worker)))
        _place(nodes, node, worker, count)
    return nodes.total()


def _place(nodes: Counter[Room], room: Room, worker: Room, count: int) -> int:
    """Put workers on nodes that have `room`, as many on each as it holds; return how many."""
    held = max(1, room.holds(worker))
    full, rest = divmod(count, held)
    for workers, number in ((held, full), (rest, 1)):
        nodes[room] -= number
        nodes[room.without(worker, workers)] += number
    return count


def node_count(environment: Environment, group: Group) -> int:
    """Return the nodes of `group`: what the file says, else what its workers need."""
    return required_nodes(environment, group) if group.count is None else group.count


def spare_nodes(environment: Environment, group: Group) -> int:
    """Return the nodes of `group` that no worker needs."""
    return node_count(environment, group) - required_nodes(environment, group)
