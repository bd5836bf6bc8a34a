"""One endpoint: redeployed daily, gone before the operator is."""

import hashlib
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

import aws_cdk as cdk
import cdk8s
from constructs import Construct

from dpd.config import AnyEndpoint, Environment
from dpd.config.naming import (
    OPERATOR_LOG_COMMAND,
    deployments,
    endpoint_stack_name,
    endpoint_url,
    model_bucket,
)
from dpd_constructs.kubernetes_manifest import KubernetesManifest
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
        charts: cdk8s.App,
    ) -> None:
        super().__init__(
            scope,
            endpoint_stack_name(environment, endpoint.name),
            environment=environment,
            description=f"hyperpod-dpd: endpoint {endpoint.name}",
        )
        eks_cluster = cluster.eks_cluster
        prepared = KubernetesManifest(
            self,
            "Namespace",
            eks_cluster=eks_cluster,
            manifest=[namespace(endpoint), *waiter_access(endpoint)],
        )
        waiter = {"ServiceToken": platform.waiter.service_token, **_identity(endpoint)}
        weights = cdk.CfnResource(
            self,
            "ModelWeights",
            type="Custom::DpdModelWeights",
            properties={**waiter, **_weights(environment, endpoint)},
        )
        weights.add_resource_dependency(prepared)
        parts = endpoint_charts(charts, environment=environment, endpoint=endpoint)
        manifests = {part: chart.to_json() for part, chart in parts.items()}
        last = weights
        for part, manifest in manifests.items():
            resource = KubernetesManifest(
                self, _construct_id(part), eks_cluster=eks_cluster, manifest=manifest
            )
            resource.add_resource_dependency(last)
            last = resource
        if endpoint.readiness.wait:
            ready = cdk.CfnResource(
                self,
                "Ready",
                type="Custom::DpdEndpointReady",
                properties={
                    **waiter,
                    "TimeoutSeconds": _timeout_seconds(endpoint),
                    "ManifestDigest": _digest(manifests),
                    "LogHint": f"see {_log_command(endpoint)}",
                },
            )
            ready.add_resource_dependency(last)
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
