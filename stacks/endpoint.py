"""One endpoint: redeployed daily, gone before the operator is."""

import hashlib
import json

import aws_cdk as cdk
import cdk8s
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from dpd.config import ColocatedEndpoint, DisaggregatedEndpoint, Environment
from dpd.config.naming import (
    OPERATOR_LOG_COMMAND,
    endpoint_stack_name,
    endpoint_url,
    model_bucket,
)
from k8s.endpoint import EndpointChart, namespace
from k8s.waiter_access import waiter_access
from stacks.base import EnvironmentStack
from stacks.cluster import ClusterStack
from stacks.platform import PlatformStack


class EndpointStack(EnvironmentStack):
    """Namespace, a look at the weights, the custom resource, and the wait until it answers.

    Deletion runs backwards: the custom resource goes first, and the look at the weights, which
    was made before it, does not end until the operator has let go of it.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        environment: Environment,
        endpoint: DisaggregatedEndpoint | ColocatedEndpoint,
        cluster: ClusterStack,
        platform: PlatformStack,
    ) -> None:
        super().__init__(
            scope,
            endpoint_stack_name(environment, endpoint.name),
            environment=environment,
            description=f"hyperpod-dpd: endpoint {endpoint.name}",
        )
        self.add_stack_dependency(platform)
        eks_cluster = cluster.eks_cluster.cluster
        prepared = eks.KubernetesManifest(
            self,
            "Namespace",
            cluster=eks_cluster,
            manifest=[namespace(endpoint), *waiter_access(endpoint)],
        )
        identity = {"Namespace": endpoint.resolved_namespace, "Name": endpoint.name}
        weights = cdk.CustomResource(
            self,
            "ModelWeights",
            resource_type="Custom::DpdModelWeights",
            service_token=platform.waiter.service_token,
            properties={**identity, **_weights(environment, endpoint)},
        )
        weights.node.add_dependency(prepared)
        manifest = EndpointChart(
            cdk8s.App(), "endpoint", environment=environment, endpoint=endpoint
        ).to_json()
        resource = eks.KubernetesManifest(
            self, "CustomResource", cluster=eks_cluster, manifest=manifest
        )
        resource.node.add_dependency(weights)
        if endpoint.readiness.wait:
            ready = cdk.CustomResource(
                self,
                "Ready",
                resource_type="Custom::DpdEndpointReady",
                service_token=platform.waiter.service_token,
                service_timeout=_timeout(endpoint.readiness.timeout),
                properties={
                    **identity,
                    "ManifestDigest": _digest(manifest),
                    "LogHint": f"see {OPERATOR_LOG_COMMAND}",
                },
            )
            ready.node.add_dependency(resource)
        cdk.CfnOutput(
            self,
            "EndpointUrl",
            value=endpoint_url(endpoint),
            description="URL inside the cluster: plain HTTP, on port 443",
        )


def _weights(
    environment: Environment, endpoint: DisaggregatedEndpoint | ColocatedEndpoint
) -> dict[str, str]:
    bucket = model_bucket(environment)
    prefix = environment.model_named(endpoint.model).prefix
    return {
        "Bucket": bucket,
        "Prefix": prefix,
        "UploadCommand": f"aws s3 sync ./{prefix} s3://{bucket}/{prefix}/",
    }


def _timeout(seconds: float) -> cdk.Duration | None:
    """Return how long CloudFormation waits; its own default is what ours is, too."""
    return None if seconds == 3600 else cdk.Duration.seconds(int(seconds))


def _digest(manifest: object) -> str:
    text = json.dumps(manifest, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
