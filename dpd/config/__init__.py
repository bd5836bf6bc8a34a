"""Configuration: one YAML file describes one environment."""

from dpd.config.cluster import Cluster, InstanceGroup
from dpd.config.endpoint import ColocatedEndpoint, DisaggregatedEndpoint, Endpoint, Workers
from dpd.config.environment import Environment
from dpd.config.loader import load_environment
from dpd.config.model import Model
from dpd.config.network import Network, Subnet

__all__ = [
    "Cluster",
    "ColocatedEndpoint",
    "DisaggregatedEndpoint",
    "Endpoint",
    "Environment",
    "InstanceGroup",
    "Model",
    "Network",
    "Subnet",
    "Workers",
    "load_environment",
]
