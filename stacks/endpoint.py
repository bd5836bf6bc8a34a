"""One endpoint: redeployed daily, gone before the operator is."""

import hashlib
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

import aws_cdk as cdk
import cdk8s
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from dpd.config import AnyEndpoint, Environment
from dpd.config.naming import (
    OPERATOR_LOG_COMMAND,
    deployments,
    endpoint_stack_name,
    endpoint_url,
    model_bucket,
)
from k8s.endpoint import endpoint_charts, namespace
from k8s.waiter_access import waiter_access
from stacks.base import EnvironmentStack
from stacks.cluster import ClusterStack
from stacks.platform import PlatformStack


class EndpointStack(EnvironmentStack):
    """Namespace, a look at the weights, the endpoint's objects, and the wait until it answers.

    Deletion runs backwards: the objects go first, and the look at the weights, which was made
    before them, does not end until they are gone and, for a custom resource, the operator has let
    go of it.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        environment: Environment,
        endpoint: AnyEndpoint,
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
        identity = _identity(endpoint)
        weights = cdk.CustomResource(
            self,
            "ModelWeights",
            resource_type="Custom::DpdModelWeights",
            service_token=platform.waiter.service_token,
            properties={**identity, **_weights(environment, endpoint)},
        )
        weights.node.add_dependency(prepared)
        charts = endpoint_charts(cdk8s.App(), environment=environment, endpoint=endpoint)
        manifests = {part: chart.to_json() for part, chart in charts.items()}
        last: IDependable = weights
        for part, manifest in manifests.items():
            resource = eks.KubernetesManifest(
                self, _construct_id(part), cluster=eks_cluster, manifest=manifest
            )
            resource.node.add_dependency(last)
            last = resource
        if endpoint.readiness.wait:
            ready = cdk.CustomResource(
                self,
                "Ready",
                resource_type="Custom::DpdEndpointReady",
                service_token=platform.waiter.service_token,
                properties={
                    **identity,
                    "TimeoutSeconds": _timeout_seconds(endpoint),
                    "ManifestDigest": _digest(manifests),
                    "LogHint": f"see {_log_command(endpoint)}",
                },
            )
            ready.node.add_dependency(last)
        cdk.CfnOutput(
            self,
            "EndpointUrl",
            value=endpoint_url(endpoint),
            description=f"URL inside the cluster: plain HTTP, on port {_port(endpoint)}",
        )


def _identity(endpoint: AnyEndpoint) -> dict[str, str | list[str]]:
    identity: dict[str, str | list[str]] = {
        "Namespace": endpoint.resolved_namespace,
        "Name": endpoint.name,
    }
    if endpoint.runtime == "self-managed":
        identity["Deployments"] = list(deployments(endpoint))
    return identity


def _construct_id(part: str) -> str:
    """Return `CustomResource` for `custom-resource`."""
    return "".join(word.capitalize() for word in part.split("-"))


def _port(endpoint: AnyEndpoint) -> int:
    return urlsplit(endpoint_url(endpoint)).port or 80


def _log_command(endpoint: AnyEndpoint) -> str:
    if endpoint.runtime == "operator":
        return OPERATOR_LOG_COMMAND
    return f"kubectl describe pods -n {endpoint.resolved_namespace}"


def _weights(environment: Environment, endpoint: AnyEndpoint) -> dict[str, str]:
    bucket = model_bucket(environment)
    prefix = environment.model_named(endpoint.model).prefix
    return {
        "Bucket": bucket,
        "Prefix": prefix,
        "UploadCommand": f'aws s3 sync ./{prefix} s3://{bucket}/{prefix}/ --exclude "original/*"',
    }


def _timeout_seconds(endpoint: AnyEndpoint) -> str:
    """Return a text, which is what CloudFormation would make of a number anyway."""
    return str(int(endpoint.readiness.timeout))


def _digest(manifests: Mapping[str, object]) -> str:
    """Return a short hash that changes whenever a manifest does."""
    text = json.dumps(manifests, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
