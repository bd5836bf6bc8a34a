"""All stacks of one environment."""

from collections.abc import Sequence

import aws_cdk as cdk
import cdk8s
from constructs import Construct

from dpd.config import Environment
from dpd.errors import UserError
from dpd.rules import Finding
from stacks.cluster import ClusterStack
from stacks.endpoint import EndpointStack
from stacks.foundation import FoundationStack
from stacks.platform import PlatformStack


def build_environment(
    scope: Construct, *, environment: Environment, warnings: Sequence[Finding] = ()
) -> None:
    """Add the stacks of an environment: each stands on the ones before it.

    A warning is shown with the stack of the endpoint that it is about.

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
    charts = cdk8s.App()
    endpoints = {
        endpoint.name: EndpointStack(
            scope,
            environment=environment,
            endpoint=endpoint,
            cluster=cluster,
            platform=platform,
            charts=charts,
        )
        for endpoint in environment.endpoints
    }
    for warning in warnings:
        about = warning.path.removeprefix("endpoints.").partition(".")[0]
        cdk.Annotations.of(endpoints.get(about, foundation)).add_warning_v2(
            f"dpd:{warning.rule}", str(warning)
        )
