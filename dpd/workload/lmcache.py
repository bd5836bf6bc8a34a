"""LMCache 0.4.3 as a pair of prefill sender and decode receiver, by environment variables."""

from dpd.config import SelfManagedDisaggregatedEndpoint
from dpd.config.self_managed import LmcacheTransfer
from dpd.workload import ports

CHUNK_TOKENS = 256
"""Unit of transfer and of the buffer's use; both roles must agree."""

NOTICE_READER = f"""\
import signal
import sys

import zmq

# The first process of a container ends by no signal that it does not handle.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
notices = zmq.Context().socket(zmq.PULL)
# A signal that comes between two reads is looked at when the next one gives up.
notices.setsockopt(zmq.RCVTIMEO, 1000)
notices.bind("tcp://127.0.0.1:{ports.LMCACHE_NOTICES}")
print("reading notices", flush=True)
while True:
    try:
        notices.recv()
    except zmq.Again:
        pass
"""
"""Program beside a sender that reads what it would tell a router that listens.

LMCache 0.4.3 sends a notice for every prompt, and no router here reads it: with nobody at the
other end, ZeroMQ keeps a thousand, and the next one blocks the worker for ever.
"""


def lmcache_variables(
    endpoint: SelfManagedDisaggregatedEndpoint, transfer: LmcacheTransfer, role: str
) -> dict[str, str]:
    """Return LMCache's environment for workers of a role; `$(POD_IP)` is Kubernetes' to fill in."""
    both = {
        "ENABLE_PD": "True",
        "TRANSFER_CHANNEL": "nixl",
        "NIXL_BACKENDS": "LIBFABRIC",
        "PD_BUFFER_SIZE": str(transfer.buffer_size),
        "PD_BUFFER_DEVICE": "cuda",
        "CHUNK_SIZE": str(CHUNK_TOKENS),
        "SAVE_UNFULL_CHUNK": "True",
        "SAVE_DECODE_CACHE": "False",
        # Host memory that is pinned before NIXL starts can use up what EFA lets register.
        "LOCAL_CPU": "False",
    }
    settings = both | (_sender() if role == "prefill" else _receiver(endpoint))
    return {f"LMCACHE_{key}": value for key, value in settings.items()}


def _sender() -> dict[str, str]:
    return {
        "PD_ROLE": "sender",
        "PD_PROXY_HOST": "127.0.0.1",
        "PD_PROXY_PORT": str(ports.LMCACHE_NOTICES),
    }


def _receiver(endpoint: SelfManagedDisaggregatedEndpoint) -> dict[str, str]:
    return {
        "PD_ROLE": "receiver",
        "PD_PEER_HOST": "$(POD_IP)",
        "PD_PEER_INIT_PORT": receiver_ports(ports.LMCACHE_HANDSHAKE, endpoint),
        "PD_PEER_ALLOC_PORT": receiver_ports(ports.LMCACHE_ALLOCATION, endpoint),
    }


def receiver_ports(first: int, endpoint: SelfManagedDisaggregatedEndpoint) -> str:
    """Return the ports of all ranks, as both LMCache and the router read them."""
    return ",".join(map(str, ports.per_rank(first, endpoint.tensor_parallel_size)))
