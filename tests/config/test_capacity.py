"""Room for workers."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.catalog import instance_types
from dpd.config import ColocatedEndpoint, Environment
from dpd.config.capacity import node_count, required_nodes

SIZES = (1, 2, 4, 8)


def colocated(size: int, replicas: int, group: str) -> ColocatedEndpoint:
    data: dict[str, Any] = {
        "name": "x",
        "topology": "colocated",
        "model": "m",
        "tensorParallelSize": size,
        "workers": {"instanceGroup": group, "replicas": replicas},
    }
    return ColocatedEndpoint.model_validate(data)


def first_fit(workers: list[int], gpus_per_node: int) -> int:
    """Place the largest first, each on the first node with room."""
    free: list[int] = []
    for gpus in sorted(workers, reverse=True):
        node = next((at for at, left in enumerate(free) if gpus <= left), None)
        if node is None:
            free.append(gpus_per_node - gpus)
        else:
            free[node] -= gpus
    return len(free)


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(st.lists(st.tuples(st.sampled_from(SIZES), st.integers(1, 9)), max_size=6))
def test_nodes_are_as_many_as_placing_one_by_one_takes(
    environment: Environment, workers: list[tuple[int, int]]
) -> None:
    """The sum decides, since sizes are powers of two."""
    group = environment.instance_group_named("decode")
    endpoints = tuple(colocated(size, replicas, "decode") for size, replicas in workers)
    others = (colocated(8, 50, "prefill"),)
    served = environment.model_copy(update={"endpoints": endpoints + others})
    sizes = [size for size, replicas in workers for _ in range(replicas)]
    gpus_per_node = instance_types()[group.instance_type].gpu_count
    assert required_nodes(served, group) == first_fit(sizes, gpus_per_node)


def test_every_node_holds_whole_workers_of_every_size() -> None:
    """What the arithmetic rests on."""
    assert all(node.gpu_count % max(SIZES) == 0 for node in instance_types().values())


def test_count_is_what_the_file_says_else_what_is_needed(environment: Environment) -> None:
    """A count of zero is a count."""
    group = environment.instance_group_named("decode")
    assert node_count(environment, group) == 1
    for count in (0, 5):
        assert node_count(environment, group.model_copy(update={"count": count})) == count
