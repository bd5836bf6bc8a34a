"""Room for workers."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.config import ColocatedEndpoint, Environment
from dpd.config.capacity import node_count, required_nodes

Load = Callable[..., Environment]
Refusal = Callable[..., tuple[str, ...]]
SIZES = (1, 2, 4, 8)


Sizes = tuple[int, int, int]
"""GPUs, vCPUs and GiB of one worker."""


def colocated(sizes: Sizes | int, replicas: int, group: str) -> ColocatedEndpoint:
    gpus, *host = (sizes,) if isinstance(sizes, int) else sizes
    data: dict[str, Any] = {
        "name": "x",
        "topology": "colocated",
        "model": "m",
        "tensorParallelSize": gpus,
        "workers": {"instanceGroup": group, "replicas": replicas},
    }
    if host:
        data |= {"cpu": host[0], "memory": f"{host[1]}GiB"}
    return ColocatedEndpoint.model_validate(data)


def first_fit(workers: list[Sizes], room: Sizes) -> int:
    """Place the largest first, each on the first node with room; one too large gets a node."""
    free: list[Sizes] = []
    for worker in sorted(workers, reverse=True):
        fits = (at for at, left in enumerate(free) if all(map(int.__le__, worker, left)))
        at = next(fits, None)
        if at is None:
            at = len(free)
            free.append(room)
        free[at] = tuple(map(int.__sub__, free[at], worker))  # type: ignore[assignment]
    return len(free)


def needed(environment: Environment, workers: list[tuple[Sizes | int, int]]) -> int:
    """Nodes of group `decode` for so many workers of each size; `prefill` has others."""
    endpoints = [colocated(size, replicas, "decode") for size, replicas in workers]
    endpoints.append(colocated(8, 50, "prefill"))
    served = environment.model_copy(update={"endpoints": tuple(endpoints)})
    return required_nodes(served, environment.instance_group_named("decode"))


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(st.lists(st.tuples(st.sampled_from(SIZES), st.integers(1, 9)), max_size=6))
def test_nodes_are_as_many_as_placing_one_by_one_takes(
    environment: Environment, workers: list[tuple[int, int]]
) -> None:
    """Without more said, a worker takes of everything in proportion, and GPUs decide."""
    sizes = [(size, 0, 0) for size, replicas in workers for _ in range(replicas)]
    assert needed(environment, list(workers)) == first_fit(sizes, (8, 0, 0))
    assert needed(environment, list(workers)) == -(-sum(size for size, _, _ in sizes) // 8)


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(
    st.tuples(st.sampled_from(SIZES), st.integers(1, 192), st.integers(1, 2048)),
    st.integers(1, 20),
)
def test_what_runs_out_first_decides(environment: Environment, size: Sizes, count: int) -> None:
    """GPUs, vCPUs or memory; a sixteenth of the latter two is the system's."""
    assert needed(environment, [(size, count)]) == first_fit([size] * count, (8, 180, 1920))


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(
    st.lists(
        st.tuples(
            st.tuples(st.sampled_from(SIZES), st.integers(1, 180), st.integers(1, 1920)),
            st.integers(1, 5),
        ),
        max_size=4,
    )
)
def test_mixed_workers_have_room(
    environment: Environment, workers: list[tuple[Sizes, int]]
) -> None:
    """No fewer nodes than all of them take together, no more than one for each."""
    nodes = needed(environment, list(workers))
    total = [sum(size[kind] * count for size, count in workers) for kind in range(3)]
    assert all(sum_ <= nodes * has for sum_, has in zip(total, (8, 180, 1920), strict=True))
    assert nodes <= sum(count for _, count in workers)


def test_workers_of_half_a_node_leave_half_of_it() -> None:
    """Documented for eight GPUs, and in proportion for fewer; what is written wins."""
    assert (colocated(8, 1, "x").resolved_cpu, colocated(8, 1, "x").resolved_memory) == (
        96,
        1024 * 2**30,
    )
    assert (colocated(4, 1, "x").resolved_cpu, colocated(4, 1, "x").resolved_memory) == (
        48,
        512 * 2**30,
    )
    own = colocated((4, 96, 700), 1, "x")
    assert (own.resolved_cpu, own.resolved_memory) == (96, 700 * 2**30)


def test_a_count_too_small_for_cpu_or_memory_is_refused(
    edited: Callable[..., str], load: Load, refusal: Refusal
) -> None:
    """Two workers of four GPUs, each with what AWS's example gives one of eight."""
    text = edited("{instanceGroup: prefill, replicas: 1}", "{instanceGroup: prefill, replicas: 2}")
    text = text.replace("{name: prefill,", "{name: prefill, count: 1,")
    small = "    tensorParallelSize: 4\n    kvTransfer"
    load(text.replace("    kvTransfer", small))
    for size in ("cpu: 96", "memory: 1024GiB"):
        (only,) = refusal(text.replace("    kvTransfer", f"    {size}\n{small}"))
        assert "cluster.instanceGroups.prefill.count: given 1, but its workers need 2" in only


def test_count_is_what_the_file_says_else_what_is_needed(environment: Environment) -> None:
    """A count of zero is a count."""
    group = environment.instance_group_named("decode")
    assert node_count(environment, group) == 1
    for count in (0, 5):
        assert node_count(environment, group.model_copy(update={"count": count})) == count
