"""All stacks of one environment."""

from constructs import Construct

from dpd.config import Environment
from dpd.errors import UserError
from stacks.cluster import ClusterStack
from stacks.endpoint import EndpointStack
from stacks.foundation import FoundationStack
from stacks.platform import PlatformStack


def build_environment(scope: Construct, *, environment: Environment) -> None:
    """Add the stacks of an environment: each stands on the ones before it.

    Raises:
        UserError: It has no HyperPod, and so its cluster is somebody else's.
    """
    if not environment.cluster.instance_groups:
        raise UserError(
            f"environment {environment.name}: no instance groups, so there is no HyperPod to "
            f"deploy; write the manifests with python -m k8s -c env={environment.name} and apply "
            f"dist/{environment.name} with kubectl"
        )
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
