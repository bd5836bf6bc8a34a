"""Memory of the host: shared memory and the cache that LMCache keeps there."""

from collections.abc import Iterator

from dpd.planner.memory import GIB
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, quantity


@rule(
    "DPD308",
    Severity.WARNING,
    title="Shared memory is smaller than the worker's memory",
    source=sources.KUBERNETES_VOLUMES,
)
def shared_memory_fits(endpoint: EndpointView) -> Iterator[Violation]:
    """What lies in an emptyDir of medium Memory counts against the pod, which is killed beyond."""
    volumes = endpoint.written("kubernetes", "volumes")
    for index, volume in enumerate(volumes.value if isinstance(volumes.value, list) else []):
        empty = volume.get("emptyDir") if isinstance(volume, dict) else None
        if not (isinstance(empty, dict) and empty.get("medium") == "Memory"):
            continue
        size = quantity(str(empty.get("sizeLimit", "")))
        for role in endpoint.roles:
            limit = role.limits.get("memory")
            most = quantity(limit.value) if limit else None
            if limit and most is not None and size is not None and size >= most:
                yield Violation(
                    (*volumes.path, index, "emptyDir", "sizeLimit"),
                    f"given {empty['sizeLimit']} of memory for a volume, with a limit of "
                    f"{limit.value} for {role.name}",
                    "less than the memory limit",
                    "lower sizeLimit or raise the limit",
                )
                break


@rule(
    "DPD309",
    Severity.WARNING,
    title="The host memory cache of all ranks fits into the worker's memory",
    source=sources.LMCACHE_CONFIG,
)
def host_cache_fits(endpoint: EndpointView) -> Iterator[Violation]:
    """`LMCACHE_MAX_LOCAL_CPU_SIZE` is in GB and for each tensor parallel rank."""
    size = endpoint.variables.get("LMCACHE_MAX_LOCAL_CPU_SIZE")
    try:
        gigabytes = float(size.value) if size and size.value else None
    except ValueError:
        gigabytes = None
    for role in endpoint.roles:
        limit, tp = role.limits.get("memory"), role.tensor_parallel
        most = quantity(limit.value) if limit else None
        if size and limit and tp and most and gigabytes and gigabytes * GIB * tp.value > most:
            yield Violation(
                size.path,
                f"given {gigabytes:g} GB x {tp.value} ranks = {gigabytes * tp.value:g} GB for "
                f"{role.name}, with a memory limit of {limit.value}",
                "less than the memory limit in all",
                "lower it or raise the limit",
            )
            return
