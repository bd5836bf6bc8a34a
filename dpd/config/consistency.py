"""What a single field cannot show: references, zones, address blocks, room for workers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations

from dpd.catalog import (
    addons,
    health_monitoring_agent_accounts,
    instance_types,
    model_architectures,
    worker_images,
)
from dpd.config.capacity import node_count, required_nodes
from dpd.config.environment import Environment
from dpd.config.naming import OPERATOR_NAMESPACE, availability_zone_prefix
from dpd.config.network import Subnet
from dpd.config.source import KeyPath
from dpd.errors import suggestion

Problem = tuple[KeyPath, str]

_RESERVED_NAMESPACES = {"default", "kube-system", "kube-public", "kube-node-lease", "cert-manager", "aws-hyperpod", OPERATOR_NAMESPACE}


def problems(environment: Environment) -> Iterator[Problem]:
    """Yield what does not fit together; where names do not resolve, only that."""
    unresolved = [*_duplicates(environment), *_references(environment)]
    yield from unresolved
    yield from _region(environment)
    yield from _network(environment)
    if not unresolved:
        yield from _capacity(environment)


def _duplicates(environment: Environment) -> Iterator[Problem]:
    groups = environment.cluster.instance_groups
    yield from _repeated(("cluster", "instanceGroups"), (group.name for group in groups))
    yield from _repeated(("models",), (model.name for model in environment.models))
    yield from _repeated(("endpoints",), (endpoint.name for endpoint in environment.endpoints))
    namespaces = [endpoint.resolved_namespace for endpoint in environment.endpoints]
    for index, namespace in enumerate(namespaces):
        path = ("endpoints", index, "namespace")
        if namespace in _RESERVED_NAMESPACES or namespace in namespaces[:index]:
            yield path, f"given {namespace!r}, which is not the endpoint's own; allowed: a namespace for each endpoint"


def _repeated(path: KeyPath, names: Iterable[str]) -> Iterator[Problem]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            yield (*path, index, "name"), f"given {name!r} a second time; allowed: each name once"


def _references(environment: Environment) -> Iterator[Problem]:
    groups = [group.name for group in environment.cluster.instance_groups]
    models = [model.name for model in environment.models]
    for index, group in enumerate(environment.cluster.instance_groups):
        path = ("cluster", "instanceGroups", index, "instanceType")
        yield from _unknown(path, group.instance_type, instance_types(), "instance type for disaggregated serving")
    for index, model in enumerate(environment.models):
        path = ("models", index, "architecture")
        yield from _unknown(path, model.architecture, model_architectures(), "architecture in the catalog")
    for name in environment.cluster.addon_versions:
        yield from _unknown(("cluster", "addonVersions", name), name, addons(), "EKS add-on of ours")
    for index, endpoint in enumerate(environment.endpoints):
        here = ("endpoints", index)
        yield from _unknown((*here, "model"), endpoint.model, models, "model of this environment")
        if not {"/", ":"} & set(endpoint.image):
            yield from _unknown((*here, "image"), endpoint.image, worker_images(), "worker image in the catalog")
        for role, workers in endpoint.roles.items():
            path = (*here, role, "instanceGroup")
            yield from _unknown(path, workers.instance_group, groups, "instance group of this environment")


def _unknown(path: KeyPath, given: str, allowed: Iterable[str], what: str) -> Iterator[Problem]:
    names = list(allowed)
    if given not in names:
        yield path, f"given {given!r}, which is no {what}; {suggestion(given, names)}"


def _region(environment: Environment) -> Iterator[Problem]:
    known = health_monitoring_agent_accounts()
    yield from _unknown(("region",), environment.region, known, "region with HyperPod images")
    prefix = f"{availability_zone_prefix(environment.region)}-az"
    for path, subnet in _subnets(environment):
        if not subnet.availability_zone_id.startswith(prefix):
            yield (
                (*path, "availabilityZoneId"),
                f"given {subnet.availability_zone_id!r}; allowed in {environment.region}: {prefix}1, {prefix}2, ...",
            )


def _network(environment: Environment) -> Iterator[Problem]:
    vpc, subnets = environment.network.vpc_cidr, list(_subnets(environment))
    for (_, first), (path, second) in combinations(subnets, 2):
        if first.cidr.overlaps(second.cidr):
            yield (*path, "cidr"), f"given {second.cidr}, which overlaps {first.cidr}; allowed: a block of its own"
    for path, subnet in subnets:
        inside = subnet.cidr.subnet_of(vpc)
        if path[1] == "gpuSubnet" and not inside and subnet.cidr.overlaps(vpc):
            yield (*path, "cidr"), f"given {subnet.cidr}; allowed: inside or outside vpcCidr {vpc}, not across"
        if path[1] != "gpuSubnet" and not inside:
            yield (*path, "cidr"), f"given {subnet.cidr}; allowed: a block inside vpcCidr {vpc}"
        if not 16 <= subnet.cidr.prefixlen <= 28:
            yield (*path, "cidr"), f"given {subnet.cidr}; allowed: blocks from /16 to /28"
    first, second = environment.network.system_subnets
    if first.availability_zone_id == second.availability_zone_id:
        yield (
            ("network", "systemSubnets", 1, "availabilityZoneId"),
            f"given {second.availability_zone_id!r} twice; allowed: two zones, as EKS requires",
        )


def _subnets(environment: Environment) -> Iterator[tuple[KeyPath, Subnet]]:
    network = environment.network
    yield ("network", "publicSubnet"), network.public_subnet
    for index, subnet in enumerate(network.system_subnets):
        yield ("network", "systemSubnets", index), subnet
    yield ("network", "gpuSubnet"), network.gpu_subnet


def _capacity(environment: Environment) -> Iterator[Problem]:
    addresses = 0
    for index, group in enumerate(environment.cluster.instance_groups):
        node, needed = instance_types()[group.instance_type], required_nodes(environment, group)
        addresses += node_count(environment, group) * node.ips_per_node
        if group.count is not None and group.count < needed:
            yield (
                ("cluster", "instanceGroups", index, "count"),
                f"given {group.count}, but its workers need {needed} nodes of {node.gpu_count} GPUs; "
                f"raise count to {needed}, leave it out, or lower replicas",
            )
    room = environment.network.gpu_subnet.cidr.num_addresses - 5
    if addresses > room:
        yield (
            ("network", "gpuSubnet", "cidr"),
            f"given {environment.network.gpu_subnet.cidr} with {room} addresses; its nodes take {addresses}; use a larger block",
        )
