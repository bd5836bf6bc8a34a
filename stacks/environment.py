"""All stacks of one environment."""

from constructs import Construct

from dpd.config import Environment
from stacks.cluster import ClusterStack
from stacks.endpoint import EndpointStack
from stacks.foundation import FoundationStack
from stacks.platform import PlatformStack


def build_environment(scope: Construct, *, environment: Environment) -> None:
    """Add the stacks of an environment: each stands on the ones before it."""
    foundation = FoundationStack(scope, environment=environment)
    cluster = ClusterStack(scope, environment=environment, foundation=foundation)
    platform = PlatformStack(scope, environment=environment, foundation=foundation, cluster=cluster)
    for endpoint in environment.endpoints:
        EndpointStack(
            scope,
            environment=environment,
            endpoint=endpoint,
            cluster=cluster,
            platform=platform,
        )
