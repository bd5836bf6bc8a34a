"""What a single field cannot show: references, zones, address blocks, room for workers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from dpd.catalog import (
    addons,
    ec2_instance_types,
    health_monitoring_agent_accounts,
    instance_types,
    model_architectures,
    worker_images,
)
from dpd.catalog.instance_types import same_family
from dpd.config.capacity import Group, node_count, node_room, node_type, required_nodes
from dpd.config.cluster import InstanceGroup
from dpd.config.cluster_consistency import cluster_problems
from dpd.config.endpoint import AnyEndpoint
from dpd.config.environment import Environment
from dpd.config.naming import OPERATOR_NAMESPACE, availability_zone_prefix, routing_service
from dpd.config.network import Subnet
from dpd.config.problem import Kind, Problem, choice
from dpd.config.self_managed_consistency import self_managed_problems
from dpd.config.source import KeyPath
from dpd.config.units import bytes_text
from dpd.errors import nearest, shown

_RESERVED_NAMESPACES = {
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "cert-manager",
    "aws-hyperpod",
    OPERATOR_NAMESPACE,
}
_ADDRESSES_OF_FIRST_CARD = 50
"""What a node takes where its other network cards are `efa-only` and take none."""
_MAX_SERVICE_NAME = 63
_IMAGE_REFERENCE = re.compile(r"[a-z0-9][a-zA-Z0-9._:/-]*(:\w[\w.-]{0,127}|@sha256:[0-9a-f]{64})")


def problems(environment: Environment) -> Iterator[Problem]:
    """Yield what does not fit together; where names do not resolve, only that."""
    unresolved = [*_duplicates(environment), *_references(environment)]
    yield from unresolved
    yield from _region(environment)
    yield from _names(environment)
    yield from _network(environment)
    yield from cluster_problems(environment)
    yield from self_managed_problems(environment)
    if not unresolved:
        yield from _capacity(environment)


def _duplicates(environment: Environment) -> Iterator[Problem]:
    groups = _group_names(environment)
    for key, group_names in groups.items():
        yield from _repeated(("cluster", key), group_names)
    for index, name in enumerate(groups["nodeGroups"]):
        if name in groups["instanceGroups"]:
            yield Problem(
                ("cluster", "nodeGroups", index, "name"),
                f"given {name!r}, the name of an instance group",
                "each name once",
            )
    yield from _repeated(("models",), (model.name for model in environment.models))
    yield from _repeated(("endpoints",), (endpoint.name for endpoint in environment.endpoints))
    taken, names = set(_RESERVED_NAMESPACES), set[str]()
    for index, endpoint in enumerate(environment.endpoints):
        namespace = endpoint.resolved_namespace
        if namespace in taken and endpoint.name not in names:
            yield Problem(
                ("endpoints", index, "namespace"),
                f"given {namespace!r}, which is taken",
                "a namespace for each endpoint",
            )
        taken.add(namespace)
        names.add(endpoint.name)


def _repeated(path: KeyPath, names: Iterable[str]) -> Iterator[Problem]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            yield Problem((*path, index, "name"), f"given {name!r} a second time", "each name once")


def _group_names(environment: Environment) -> dict[str, list[str]]:
    cluster = environment.cluster
    return {
        "instanceGroups": [group.name for group in cluster.instance_groups],
        "nodeGroups": [group.name for group in cluster.node_groups],
    }


def _references(environment: Environment) -> Iterator[Problem]:
    models = [model.name for model in environment.models]
    for index, group in enumerate(environment.cluster.instance_groups):
        path = ("cluster", "instanceGroups", index, "instanceType")
        yield from _unknown_type(path, group.instance_type, instance_types(), "instance type")
    for index, nodes in enumerate(environment.cluster.node_groups):
        path = ("cluster", "nodeGroups", index, "instanceType")
        types = ec2_instance_types()
        yield from _unknown_type(path, nodes.instance_type, types, "EC2 instance type")
    if not (environment.cluster.instance_groups or environment.cluster.node_groups):
        yield Problem(("cluster", "instanceGroups"), "given none", "one or more, or nodeGroups")
    for index, model in enumerate(environment.models):
        yield from _unknown(
            ("models", index, "architecture"),
            model.architecture,
            model_architectures(),
            "architecture in the catalog",
        )
    for name in environment.cluster.addon_versions:
        yield from _unknown(
            ("cluster", "addonVersions", name), name, addons(), "EKS add-on of ours"
        )
    for index, endpoint in enumerate(environment.endpoints):
        here = ("endpoints", index)
        yield from _unknown((*here, "model"), endpoint.model, models, "model of this environment")
        yield from _image((*here, "image"), endpoint.image)
        yield from _placement(environment, here, endpoint)


def _placement(environment: Environment, here: KeyPath, endpoint: AnyEndpoint) -> Iterator[Problem]:
    names = _group_names(environment)
    for role, workers in endpoint.roles.items():
        path, given = (*here, role, "instanceGroup"), workers.instance_group
        if endpoint.runtime == "operator" and given in names["nodeGroups"]:
            yield Problem(
                path,
                f"given {given!r}, a node group without HyperPod",
                f"{', '.join(names['instanceGroups']) or 'none'} with runtime operator",
            )
            continue
        groups = [*names["instanceGroups"], *names["nodeGroups"]]
        yield from _unknown(path, given, groups, "instance group of this environment")


def _image(path: KeyPath, given: str) -> Iterator[Problem]:
    if not {"/", ":"} & set(given):
        yield from _unknown(path, given, worker_images(), "worker image in the catalog")
    elif not _IMAGE_REFERENCE.fullmatch(given):
        yield Problem(path, f"given {shown(given)}", "repository:tag or repository@sha256:digest")


def _unknown(
    path: KeyPath, given: str, known: Iterable[str], what: str, kind: Kind = Kind.UNRESOLVED
) -> Iterator[Problem]:
    names = list(known)
    if given not in names:
        allowed, fix = choice(given, names)
        yield Problem(path, f"given {shown(given)}, which is no {what}", allowed, fix, kind)


def _unknown_type(path: KeyPath, given: str, known: Iterable[str], what: str) -> Iterator[Problem]:
    names = list(known)
    if given not in names:
        near = nearest(given, same_family(given, names))
        yield Problem(
            path,
            f"given {shown(given)}, which is no {what} for disaggregated serving",
            "" if near else ", ".join(names),
            f"did you mean {near!r}?" if near else "",
            Kind.INSTANCE_TYPE,
        )


def _region(environment: Environment) -> Iterator[Problem]:
    known = health_monitoring_agent_accounts()
    if environment.region not in known:
        what = "region with HyperPod images"
        yield from _unknown(("region",), environment.region, known, what, Kind.NETWORK)
        return
    prefix = f"{availability_zone_prefix(environment.region)}-az"
    for path, subnet in _subnets(environment):
        if not subnet.availability_zone_id.startswith(prefix):
            yield Problem(
                (*path, "availabilityZoneId"),
                f"given {subnet.availability_zone_id!r}",
                f"{prefix}1, {prefix}2, ... in {environment.region}",
                kind=Kind.NETWORK,
            )


def _names(environment: Environment) -> Iterator[Problem]:
    for index, endpoint in enumerate(environment.endpoints):
        service = routing_service(endpoint)
        if endpoint.routing is not None and len(service) > _MAX_SERVICE_NAME:
            yield Problem(
                ("endpoints", index, "name"),
                f"given {endpoint.name!r}, which makes {service} of {len(service)} characters",
                f"{_MAX_SERVICE_NAME} in a Service",
                "shorten the name or the namespace",
                Kind.TOO_LONG_NAME,
            )
    for key in environment.tags:
        if key.lower().startswith("aws:"):
            yield Problem(("tags", key), f"given {key!r}", "keys that do not begin with aws:")


def _network(environment: Environment) -> Iterator[Problem]:
    vpc, subnets = environment.network.vpc_cidr, list(_subnets(environment))
    blocks = [(("network", "vpcCidr"), vpc), *(((*path, "cidr"), s.cidr) for path, s in subnets)]
    for path, block in blocks:
        if not 16 <= block.prefixlen <= 28:
            yield Problem(path, f"given {block}", "blocks from /16 to /28", kind=Kind.NETWORK)
    for (_, first), (path, second) in combinations(blocks[1:], 2):
        if first.overlaps(second):
            given = f"given {second}, which overlaps {first}"
            yield Problem(path, given, "a block of its own", kind=Kind.NETWORK)
    for path, block in blocks[1:]:
        inside, is_gpu = block.subnet_of(vpc), path[1] == "gpuSubnet"
        if is_gpu and not inside and block.overlaps(vpc):
            allowed = f"inside or outside vpcCidr {vpc}, not across"
            yield Problem(path, f"given {block}", allowed, kind=Kind.NETWORK)
        if not is_gpu and not inside:
            allowed = f"a block inside vpcCidr {vpc}"
            yield Problem(path, f"given {block}", allowed, kind=Kind.NETWORK)
    zones = [subnet.availability_zone_id for subnet in environment.network.system_subnets]
    if zones[0] == zones[1]:
        yield Problem(
            ("network", "systemSubnets", 1, "availabilityZoneId"),
            f"given {zones[1]!r} twice",
            "two zones, as EKS requires",
            kind=Kind.NETWORK,
        )


def _subnets(environment: Environment) -> Iterator[tuple[KeyPath, Subnet]]:
    network = environment.network
    yield ("network", "publicSubnet"), network.public_subnet
    for index, subnet in enumerate(network.system_subnets):
        yield ("network", "systemSubnets", index), subnet
    yield ("network", "gpuSubnet"), network.gpu_subnet


def _capacity(environment: Environment) -> Iterator[Problem]:
    cluster = environment.cluster
    kinds: dict[str, Sequence[Group]] = {
        "instanceGroups": cluster.instance_groups,
        "nodeGroups": cluster.node_groups,
    }
    for key, groups in kinds.items():
        for index, group in enumerate(groups):
            needed, room = required_nodes(environment, group), node_room(group)
            if group.count is not None and group.count < needed:
                leave_out = "leave it out, " if key == "instanceGroups" else ""
                yield Problem(
                    ("cluster", key, index, "count"),
                    f"given {group.count}, but its workers need {needed} nodes of {room.gpus} GPUs "
                    f"with room for {room.cpus} vCPUs and {bytes_text(room.memory)}",
                    fix=f"raise count to {needed}, {leave_out}or lower replicas",
                    kind=Kind.TOO_FEW_NODES,
                )
    addresses = sum(
        node_count(environment, group) * _addresses_per_node(group)
        for group in cluster.instance_groups
    )
    free = environment.network.gpu_subnet.cidr.num_addresses - 5
    if addresses > free:
        yield Problem(
            ("network", "gpuSubnet", "cidr"),
            f"given {environment.network.gpu_subnet.cidr} with {free} addresses, but its nodes "
            f"take {addresses}",
            fix="use a larger block",
            kind=Kind.NETWORK,
        )


def _addresses_per_node(group: InstanceGroup) -> int:
    takes_few = group.network_interface == "efa-only"
    return _ADDRESSES_OF_FIRST_CARD if takes_few else node_type(group).ips_per_node
