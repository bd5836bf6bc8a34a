"""Capacity: GPUs, nodes and other resources."""

from collections.abc import Iterator, Mapping

from dpd.catalog.instance_types import instance_types, same_family
from dpd.config import Environment
from dpd.config.capacity import required_nodes, room_on
from dpd.errors import nearest, shown
from dpd.planner.memory import GIB
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Written, quantity


@rule(
    "DPD202",
    Severity.ERROR,
    title="Only five instance types are supported for disaggregated endpoints",
    source=sources.DPD_GUIDE,
)
def instance_type_is_supported(endpoint: EndpointView) -> Iterator[Violation]:
    """They have NVLink in the node and EFA with RDMA between nodes; G6, G6e and G7e have not."""
    if not endpoint.is_disaggregated or endpoint.is_environment:
        return
    one, several = endpoint.written("instanceType"), endpoint.written("instanceTypes")
    given = [one] if isinstance(one.value, str) else []
    for index, item in enumerate(several.value if isinstance(several.value, list) else []):
        given.append(Written(item, (*several.path, index)))
    for written in given:
        if isinstance(written.value, str) and written.value not in instance_types():
            near = nearest(written.value, same_family(written.value, instance_types()))
            yield Violation(
                written.path,
                f"given {shown(written.value)}",
                ", ".join(instance_types()),
                f"did you mean {near}?" if near else "choose one of them",
            )


@rule(
    "DPD203",
    Severity.ERROR,
    title="A training plan belongs to the environment's region",
    source=sources.TRAINING_PLANS,
)
def training_plan_region(environment: Environment) -> Iterator[Violation]:
    """A plan reserves machines in one Availability Zone of one region and cannot be moved."""
    for index, group in enumerate(environment.cluster.instance_groups):
        region = (group.training_plan_arn or "").split(":")[3:4]
        if region and region[0] != environment.region:
            yield Violation(
                ("cluster", "instanceGroups", index, "trainingPlanArn"),
                f"given a plan of {region[0]}",
                f"one of {environment.region}",
                "use a plan of this region or change region",
            )


@rule(
    "DPD206",
    Severity.ERROR,
    title="A worker fits on one node",
    source=sources.INSTANCE_TYPES,
)
def worker_fits_node(endpoint: EndpointView) -> Iterator[Violation]:
    """No pod spans nodes; one that asks for more than a node has stays Pending for ever."""
    for role in endpoint.roles:
        node = role.node
        if node is None:
            continue
        has = {
            "nvidia.com/gpu": node.gpu_count,
            "cpu": node.vcpus,
            "memory": node.memory_gib * 2**30,
        }
        for resource, most in has.items():
            amount = role.amount(resource)
            # Some cpu and memory of every node is the system's.
            is_too_much = amount and amount.value > most - (resource != "nvidia.com/gpu")
            if amount and is_too_much:
                written = role.requests.get(resource) or role.limits[resource]
                shown_most = f"{node.memory_gib}Gi" if resource == "memory" else most
                yield Violation(
                    amount.path,
                    f"given {resource} {written.value} for {role.name}",
                    f"{'up to' if resource == 'nvidia.com/gpu' else 'less than'} {shown_most} on "
                    f"{node.name}",
                    "lower it",
                )


@rule(
    "DPD214",
    Severity.WARNING,
    title="A worker leaves room for the system",
    source=sources.KUBERNETES_RESOURCES,
)
def worker_leaves_room(endpoint: EndpointView) -> Iterator[Violation]:
    """What kernel, kubelet, huge pages and daemons take of a node is no worker's.

    AWS publishes no number of it; a sixteenth of vCPUs and memory is counted here and in sizing
    instance groups. A pod that asks for more than is left stays Pending.
    """
    for role in endpoint.roles:
        if role.node is None:
            continue
        room = room_on(role.node)
        most = {"cpu": (room.cpus, role.node.vcpus, str(room.cpus))}
        memory = role.node.memory_gib * GIB
        most["memory"] = (room.memory, memory, f"{room.memory // GIB}Gi")
        for resource, (free, all_, told) in most.items():
            amount = role.amount(resource)
            if amount and free < amount.value < all_:
                written = role.requests.get(resource) or role.limits[resource]
                yield Violation(
                    amount.path,
                    f"given {resource} {written.value} for {role.name}",
                    f"{told} or less on {role.node.name}",
                    "lower it, or be sure that a node has so much allocatable",
                )


@rule(
    "DPD207",
    Severity.ERROR,
    title="Each role of a disaggregated endpoint asks for GPUs itself",
    source=sources.DPD_GUIDE,
)
def role_asks_for_gpus(endpoint: EndpointView) -> Iterator[Violation]:
    """The worker's resources are ignored there, so a role without its own starts without a GPU."""
    for role in endpoint.roles if endpoint.is_disaggregated else ():
        if not (role.gpus and role.gpus.value > 0):
            yield Violation(
                role.gpus.path if role.gpus else role.path,
                f"given no nvidia.com/gpu in the resources of {role.name}",
                "requests and limits with nvidia.com/gpu in both roles",
                "add resources to the role; those of worker are not used",
            )


@rule(
    "DPD210",
    Severity.ERROR,
    title="Devices and huge pages are requested and limited alike",
    source=sources.KUBERNETES_RESOURCES,
)
def device_request_is_limit(endpoint: EndpointView) -> Iterator[Violation]:
    """The API server refuses a pod whose request and limit of such a resource differ."""
    for role in endpoint.roles:
        for name in sorted({*role.requests, *role.limits}):
            request, limit = role.requests.get(name), role.limits.get(name)
            if not _is_device(name) or (limit and not request):
                continue
            if limit is None or request is None or quantity(request.value) != quantity(limit.value):
                where = request or limit
                assert where is not None
                yield Violation(
                    where.path,
                    f"given request {request and request.value} and limit {limit and limit.value} "
                    f"of {name} for {role.name}",
                    "the same amount in requests and limits",
                    "make the two equal",
                )


@rule(
    "DPD211",
    Severity.ERROR,
    title="Huge pages come with cpu or memory",
    source=sources.KUBERNETES_RESOURCES,
)
def huge_pages_come_with_memory(endpoint: EndpointView) -> Iterator[Violation]:
    """The API server refuses a container that asks for huge pages and for neither of the two."""
    for role in endpoint.roles:
        asked = {**role.limits, **role.requests}
        pages = [written for name, written in asked.items() if name.startswith("hugepages-")]
        if pages and not {"cpu", "memory"} & set(asked):
            yield Violation(
                pages[0].path,
                f"given huge pages for {role.name} without cpu or memory",
                "huge pages beside cpu or memory",
                "add both to requests and limits",
            )


@rule(
    "DPD212",
    Severity.WARNING,
    title="An instance group has no more nodes than its workers need",
    source=sources.HYPERPOD_PREREQUISITES,
)
def no_idle_nodes(environment: Environment) -> Iterator[Violation]:
    """A node is billed from its lifecycle script on, whether a worker runs on it or not."""
    for index, group in enumerate(environment.cluster.instance_groups):
        needed = required_nodes(environment, group)
        if group.count is not None and group.count > needed:
            yield Violation(
                ("cluster", "instanceGroups", index, "count"),
                f"given {group.count} nodes, of which workers need {needed}",
                f"{needed}",
                "lower count or leave it out, unless the spare nodes are wanted",
            )


@rule(
    "DPD213",
    Severity.ERROR,
    title="Bounds of scaling contain the replicas",
    source=sources.CRD,
)
def scaling_bounds(endpoint: EndpointView) -> Iterator[Violation]:
    """The smallest number is not above the largest, and replicas that are given lie between them.

    Where none are given, scaling raises the default of one at once.
    """
    scaled = {
        "prefill": ("pdSpec", "autoScalingSpec", "prefillAutoScaling"),
        "decode": ("pdSpec", "autoScalingSpec", "decodingAutoScaling"),
        "worker": ("autoScalingSpec",),
    }
    placed = {"prefill": ("pdSpec", "prefillSpec"), "decode": ("pdSpec", "decodingSpec")}
    for role in endpoint.roles:
        keys = scaled[role.name]
        is_given = endpoint.written(*placed.get(role.name, ()), "replicas").value is not None
        if not isinstance(endpoint.written(*keys).value, Mapping):
            continue
        low = endpoint.written(*keys, "minReplicaCount", default=1)
        high = endpoint.written(*keys, "maxReplicaCount", default=5)
        if type(low.value) is not int or type(high.value) is not int:
            continue
        if low.value > high.value:
            yield Violation(
                low.path,
                f"given at least {low.value} and at most {high.value} replicas",
                "a minimum up to the maximum",
                "lower minReplicaCount or raise maxReplicaCount",
            )
        elif is_given and not low.value <= role.replicas.value <= high.value:
            yield Violation(
                role.replicas.path,
                f"given {role.replicas.value} replicas",
                f"{low.value} to {high.value}, the bounds of scaling",
                "change replicas or the bounds",
            )


def _is_device(name: str) -> bool:
    return "/" in name or name.startswith("hugepages-")
