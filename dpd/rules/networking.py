"""Networking: zones, nodes and EFA."""

from collections.abc import Callable, Iterator

from dpd.errors import shown
from dpd.manifest.endpoint_spec import INSTANCE_GROUP_LABEL
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Role, quantity

EFA = "vpc.amazonaws.com/efa"
_ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.k8s.aws/zone-id")


@rule(
    "DPD502",
    Severity.ERROR,
    title="A worker asks for EFA devices that a node has",
    source=sources.INSTANCE_TYPES,
)
def efa_devices_exist(endpoint: EndpointView) -> Iterator[Violation]:
    """More than a node has leaves the pod Pending; none of them leaves it without RDMA."""
    for role, devices, most in _efa_requests(endpoint):
        if not 0 < devices <= most:
            yield Violation(
                (role.requests.get(EFA) or role.limits[EFA]).path,
                f"given {devices} {EFA} for {role.name}",
                f"1 to {most} on {role.node.name if role.node else 'the node'}",
                "correct it, or remove it: the operator attaches EFA itself",
            )


@rule(
    "DPD503",
    Severity.WARNING,
    title="A worker asks for the EFA devices that belong to its GPUs",
    source=sources.INSTANCE_TYPES,
)
def efa_devices_match_gpus(endpoint: EndpointView) -> Iterator[Violation]:
    """Each GPU has its own devices close by; with fewer, transfers share and go farther."""
    for role, devices, most in _efa_requests(endpoint):
        gpus, node = role.gpus, role.node
        if node and gpus and 0 < gpus.value <= node.gpu_count and 0 < devices <= most:
            share = most * gpus.value // node.gpu_count
            if devices != share:
                yield Violation(
                    (role.requests.get(EFA) or role.limits[EFA]).path,
                    f"given {devices} {EFA} for {gpus.value} GPUs of {role.name}",
                    f"{share} of {most} on {node.name}",
                    f"ask for {share}",
                )


def _efa_requests(endpoint: EndpointView) -> Iterator[tuple[Role, int, int]]:
    for role in endpoint.roles:
        amount, node = role.amount(EFA), role.node
        if amount and node:
            yield role, amount.value, node.efa_devices


@rule(
    "DPD504",
    Severity.WARNING,
    title="Prefill and decode run on different nodes",
    source=sources.issue("ai-dynamo/dynamo", 7764),
)
def roles_are_apart(endpoint: EndpointView) -> Iterator[Violation]:
    """Between two workers of one node EFA was seen to fail with EAGAIN.

    Workers that together need more GPUs than a node has are apart anyway; others need instance
    groups of their own.
    """
    prefill, decode = endpoint.prefill, endpoint.decode
    if not (prefill and decode and prefill.gpus and decode.gpus):
        return
    node = prefill.node
    together = prefill.gpus.value + decode.gpus.value
    if node is None or decode.node is not node or together > node.gpu_count:
        return
    selectors = [
        {key: written.value for key, written in role.node_selector.items()}
        for role in (prefill, decode)
    ]
    if all(selectors[0].get(key, value) == value for key, value in selectors[1].items()):
        where = decode.node_selector.get(INSTANCE_GROUP_LABEL)
        yield Violation(
            where.path if where else decode.path,
            f"given prefill and decode of {together} GPUs in all, which may share a node of "
            f"{node.gpu_count}",
            "nodes of their own",
            "give each role its own instance group",
        )


@rule(
    "DPD505",
    Severity.ERROR,
    title="Prefill and decode are in one Availability Zone",
    source=sources.HYPERPOD_PREREQUISITES,
)
def one_zone(endpoint: EndpointView) -> Iterator[Violation]:
    """EFA traffic does not leave a zone."""
    same = endpoint.written("pdSpec", "topologySpec", "sameAZ")
    if same.value is False:
        yield Violation(same.path, "given sameAZ false", "true", "set it to true or remove it")
    prefill, decode = endpoint.prefill, endpoint.decode
    if not (prefill and decode):
        return
    for label in _ZONE_LABELS:
        first, second = prefill.node_selector.get(label), decode.node_selector.get(label)
        if first and second and first.value != second.value:
            yield Violation(
                second.path,
                f"given {shown(first.value)} for prefill and {shown(second.value)} for decode",
                "one zone for both",
                "make the two equal",
            )


def _unless(*allowed: str) -> Callable[[str], bool]:
    return lambda value: value.strip().lower() not in allowed


# Variable: whether its value hurts, what is allowed, why.
_EFA_VARIABLES: dict[str, tuple[Callable[[str], bool], str]] = {
    "RDMAV_FORK_SAFE": (lambda _: True, "not to be set on EFA"),
    "FI_EFA_ENABLE_SHM_TRANSFER": (_unless("0", "false"), "0; shared memory corrupts GPU buffers"),
    "FI_EFA_USE_DEVICE_RDMA": (_unless("1", "true"), "1, which is the default"),
    "PYTORCH_CUDA_ALLOC_CONF": (
        lambda value: "expandable_segments:true" in value.lower(),
        "no expandable_segments: such memory cannot be registered for RDMA",
    ),
}


@rule(
    "DPD506",
    Severity.WARNING,
    title="Variables of EFA and PyTorch leave RDMA alone",
    source=sources.EFA_CHEATSHEET,
)
def efa_variables(endpoint: EndpointView) -> Iterator[Violation]:
    """Each of these was reported to slow transfers down or to break them."""
    for name, (hurts, allowed) in _EFA_VARIABLES.items():
        written = endpoint.variables.get(name) if endpoint.is_disaggregated else None
        if written and written.value is not None and hurts(written.value):
            yield Violation(
                written.path, f"given {name}={written.value}", allowed, "correct it or remove it"
            )


@rule(
    "DPD507",
    Severity.ERROR,
    title="libfabric uses EFA",
    source=sources.issue("ai-dynamo/nixl", 99),
)
def provider_is_efa(endpoint: EndpointView) -> Iterator[Violation]:
    """Any other provider carries the cache over sockets: it works, and is slow."""
    written = endpoint.variables.get("FI_PROVIDER") if endpoint.is_disaggregated else None
    if written and written.value is not None and written.value.strip().lower() != "efa":
        yield Violation(
            written.path, f"given FI_PROVIDER={written.value}", "efa", "set it, or remove it"
        )


@rule(
    "DPD508",
    Severity.WARNING,
    title="Nodes are not asked for a placement group",
    source=sources.CRD,
)
def no_placement_group(endpoint: EndpointView) -> Iterator[Violation]:
    """SageMaker owns the instances, and what the field selects on them is not documented.

    A placement group that a capacity reservation does not have makes the capacity unreachable.
    """
    written = endpoint.written("pdSpec", "topologySpec", "placementGroup")
    if written.value:
        yield Violation(
            written.path,
            f"given {shown(written.value)}",
            "no placement group",
            "remove it; instance groups of one subnet are close together",
        )


@rule(
    "DPD509",
    Severity.ERROR,
    title="Huge pages are no more than a node has",
    source=sources.EFA_GUIDE,
)
def huge_pages_exist(endpoint: EndpointView) -> Iterator[Violation]:
    """EFA's node images set 5,128 pages of 2 MiB aside; a pod that asks for more stays Pending."""
    for role in endpoint.roles:
        pages = role.requests.get("hugepages-2Mi") or role.limits.get("hugepages-2Mi")
        amount = quantity(pages.value) if pages else None
        if pages and amount is not None and role.node and amount > 5128 * 2 * 2**20:
            yield Violation(
                pages.path,
                f"given hugepages-2Mi {pages.value} for {role.name}",
                "10256Mi at most; AWS's examples ask for 5120Mi",
                "lower it",
            )
