"""Environment variables of workers, by role and connector."""

from dpd.config import SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.self_managed import LmcacheTransfer
from dpd.workload import ports
from dpd.workload.lmcache import lmcache_variables
from dpd.workload.resources import hugepages_bytes

SCRATCH = "/tmp"  # noqa: S108 - an empty volume of the pod
"""The one folder that workers write to."""


def worker_variables(endpoint: SelfManagedEndpoint, role: str) -> dict[str, str]:
    """Return what workers of a role have in their environment, the endpoint's own last.

    `$(POD_IP)` stands for a variable that the pod defines before these.
    """
    variables = {
        "HOME": SCRATCH,
        "HF_HOME": f"{SCRATCH}/hf_home",
        "HF_HUB_OFFLINE": "1",
        "VLLM_CACHE_ROOT": f"{SCRATCH}/vllm",
        "VLLM_NO_USAGE_STATS": "1",
        # PyTorch asks for the user's name, which an image does not know for every number.
        "USER": "vllm",
    }
    if isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        variables |= _efa(endpoint) | _connector(endpoint, role)
    return variables | endpoint.environment_variables


def _efa(endpoint: SelfManagedDisaggregatedEndpoint) -> dict[str, str]:
    return {
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_HUGE_PAGE": "1" if hugepages_bytes(endpoint) else "0",
        # With it on, GPU buffers of two processes of one node have come out corrupt.
        "FI_EFA_ENABLE_SHM_TRANSFER": "0",
    }


def _connector(endpoint: SelfManagedDisaggregatedEndpoint, role: str) -> dict[str, str]:
    transfer = endpoint.kv_transfer
    # Seeds the hash of every KV block: unequal seeds mean that decode finds nothing.
    seed = {"PYTHONHASHSEED": "0"}
    if isinstance(transfer, LmcacheTransfer):
        return seed | lmcache_variables(endpoint, transfer, role)
    return seed | {
        # Its default is localhost, where a decode worker would look for itself.
        "VLLM_NIXL_SIDE_CHANNEL_HOST": "$(POD_IP)",
        "VLLM_NIXL_SIDE_CHANNEL_PORT": str(ports.NIXL_SIDE_CHANNEL),
    }
