"""Configuration: one YAML file describes one environment."""

from dpd.config.cluster import Cluster, InstanceGroup, NodeGroup
from dpd.config.endpoint import (
    AnyEndpoint,
    ColocatedEndpoint,
    DisaggregatedEndpoint,
    Endpoint,
    OperatorEndpoint,
    SelfManagedEndpoint,
)
from dpd.config.endpoint_base import Workers
from dpd.config.environment import Environment
from dpd.config.loader import load_environment
from dpd.config.model import Model
from dpd.config.network import Network, Subnet
from dpd.config.self_managed import SelfManagedColocatedEndpoint, SelfManagedDisaggregatedEndpoint

__all__ = [
    "AnyEndpoint",
    "Cluster",
    "ColocatedEndpoint",
    "DisaggregatedEndpoint",
    "Endpoint",
    "Environment",
    "InstanceGroup",
    "Model",
    "Network",
    "NodeGroup",
    "OperatorEndpoint",
    "SelfManagedColocatedEndpoint",
    "SelfManagedDisaggregatedEndpoint",
    "SelfManagedEndpoint",
    "Subnet",
    "Workers",
    "load_environment",
]
