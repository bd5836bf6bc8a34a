"""What a worker takes of its node, and how long it needs to start."""

import math

from dpd.catalog import model_architectures
from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.capacity import node_type
from dpd.planner.memory import weight_element_bytes

_HUGEPAGES_PER_GPU = 640 * 2**20
"""An eighth of the 5120 MiB that AWS's manifests give a worker with a node of its own."""
_START_SECONDS = 600.0
"""For everything but the weights: devices, compilation, CUDA graphs."""
_LOAD_BYTES_PER_SECOND = 200e6
"""Through Mountpoint for S3, cold; far less than a P5 node can do, since a start that is given up
begins again from nothing."""


_IMAGE_PULL_SECONDS = 900


def efa_devices(
    environment: Environment, endpoint: SelfManagedDisaggregatedEndpoint, role: str
) -> int:
    """Return the EFA devices of one worker: by default its GPUs' share of the node's."""
    if endpoint.efa_devices is not None:
        return endpoint.efa_devices
    node = node_type(environment.nodes_named(endpoint.roles[role].instance_group))
    return node.efa_devices * endpoint.tensor_parallel_size // node.gpu_count


def hugepages_bytes(endpoint: SelfManagedDisaggregatedEndpoint) -> int:
    """Return the 2 MiB pages of one worker, in bytes."""
    if endpoint.hugepages is not None:
        return endpoint.hugepages
    return _HUGEPAGES_PER_GPU * endpoint.tensor_parallel_size


def startup_seconds(environment: Environment, endpoint: SelfManagedEndpoint) -> int:
    """Return until when a new worker must answer, from its container's start."""
    if endpoint.startup_timeout is not None:
        return math.ceil(endpoint.startup_timeout)
    model = environment.model_named(endpoint.model)
    per_parameter = weight_element_bytes(model.weight_format)
    size = model_architectures()[model.architecture].parameters * per_parameter
    return math.ceil(_START_SECONDS + size / _LOAD_BYTES_PER_SECOND)


def rollout_seconds(environment: Environment, endpoint: SelfManagedEndpoint) -> int:
    """Return until when a new pod must be ready, its image's pull included."""
    return startup_seconds(environment, endpoint) + _IMAGE_PULL_SECONDS


def worker_resources(
    environment: Environment, endpoint: SelfManagedEndpoint, role: str
) -> dict[str, str]:
    """Return what one worker requests and is limited to, as Kubernetes writes it."""
    resources = {
        "cpu": str(endpoint.resolved_cpu),
        "memory": quantity(endpoint.resolved_memory),
        "nvidia.com/gpu": str(endpoint.tensor_parallel_size),
    }
    if isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        resources["vpc.amazonaws.com/efa"] = str(efa_devices(environment, endpoint, role))
        if size := hugepages_bytes(endpoint):
            resources["hugepages-2Mi"] = quantity(size)
    return resources


def quantity(size: int) -> str:
    """Return bytes as Kubernetes writes them, to the MiB."""
    return f"{size // 2**20}Mi" if size % 2**30 else f"{size // 2**30}Gi"
