"""Ports inside the pods of a self-managed endpoint."""

HTTP = 8000
"""vLLM's own default; requests, `/health` and `/metrics` all go there. Routers listen on it too."""
NIXL_SIDE_CHANNEL = 5600
"""Where a NixlConnector worker answers handshakes; vLLM's own default."""
LMCACHE_HANDSHAKE = 7300
"""First of the ports, one for each rank, where an LMCache receiver answers handshakes."""
LMCACHE_ALLOCATION = 7400
"""First of the ports, one for each rank, where an LMCache receiver allocates buffer."""
LMCACHE_NOTICES = 7500
"""Where the notices of an LMCache sender are read."""
ROUTER_METRICS = 29000
"""Metrics of the Rust router, which has them on a port of their own."""


def per_rank(first: int, tensor_parallel_size: int) -> list[int]:
    """Return one port for each rank: LMCache indexes its lists by rank."""
    return [first + rank for rank in range(tensor_parallel_size)]
