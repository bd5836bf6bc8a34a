"""Custom resources of an endpoint's stack: its weights are there, and it answers.

`Custom::DpdModelWeights` is created before the InferenceEndpointConfig and therefore deleted
after it: creation looks whether the weights are there, deletion waits for the operator's
finalizers. `Custom::DpdEndpointReady` is created after it and waits until the endpoint answers.
With a property `Deployments` the endpoint is self-managed, and those stand in for the custom
resource.
Both run behind `aws_cdk.custom_resources.Provider`, which calls `is_complete` again and again.
"""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from eks_token import eks_token
from endpoint_config import EndpointConfig
from failure import Failure
from kubernetes import KubernetesApi, Unavailable
from rollout import Rollout
from weights import require_weights

MODEL_WEIGHTS = "Custom::DpdModelWeights"
ENDPOINT_READY = "Custom::DpdEndpointReady"

_ID_SUFFIX = {MODEL_WEIGHTS: "weights", ENDPOINT_READY: "ready"}
_LOGGER = logging.getLogger("endpoint_waiter")
_LOGGER.setLevel(logging.INFO)


def s3_client() -> Any:
    """Return a client with the function's own role."""
    import boto3  # type: ignore[import-untyped]

    return boto3.client("s3")


def kubernetes_api(environment: Mapping[str, str] = os.environ) -> KubernetesApi:
    """Return the cluster that the function's environment variables name."""
    import boto3

    credentials = boto3.Session().get_credentials()
    return KubernetesApi(
        environment["CLUSTER_ENDPOINT"],
        certificate_authority=environment["CLUSTER_CERTIFICATE_AUTHORITY"],
        token=lambda: eks_token(
            environment["CLUSTER_NAME"], region=environment["AWS_REGION"], credentials=credentials
        ),
    )


def on_event(
    event: Mapping[str, Any], _context: object, *, s3: Callable[[], Any] = s3_client
) -> dict[str, Any]:
    """Begin: name the resource, and refuse an endpoint whose weights are not there.

    Raises:
        Failure: What is missing, and the command that uploads it.
    """
    suffix = _ID_SUFFIX[_resource_type(event)]
    if event["RequestType"] == "Delete":
        return {"PhysicalResourceId": event["PhysicalResourceId"]}
    properties = event["ResourceProperties"]
    if event["ResourceType"] == MODEL_WEIGHTS:
        require_weights(
            s3(),
            bucket=properties["Bucket"],
            prefix=properties["Prefix"],
            upload_command=properties["UploadCommand"],
        )
    return {"PhysicalResourceId": f"{properties['Namespace']}/{properties['Name']}/{suffix}"}


def is_complete(
    event: Mapping[str, Any], _context: object, *, api: Callable[[], KubernetesApi] = kubernetes_api
) -> dict[str, Any]:
    """Look once whether what was begun is done.

    Raises:
        Failure: It will never be done.
    """
    properties = event["ResourceProperties"]
    endpoint = _endpoint(properties)
    deleting = event["RequestType"] == "Delete"
    try:
        if _resource_type(event) == MODEL_WEIGHTS:
            return {"IsComplete": not deleting or endpoint.is_gone(api())}
        if deleting:
            return {"IsComplete": True}
        state = endpoint.ready_state(api(), log_hint=properties["LogHint"])
    except Unavailable as error:
        _LOGGER.warning("%s: %s; will ask again", endpoint, error)
        return {"IsComplete": False}
    # The provider refuses Data together with IsComplete=False.
    return {"IsComplete": True, "Data": {"State": state}} if state else {"IsComplete": False}


def _endpoint(properties: Mapping[str, Any]) -> EndpointConfig | Rollout:
    if deployments := properties.get("Deployments"):
        return Rollout(properties["Namespace"], tuple(deployments))
    return EndpointConfig(properties["Namespace"], properties["Name"])


def _resource_type(event: Mapping[str, Any]) -> str:
    resource_type: str = event["ResourceType"]
    if resource_type not in _ID_SUFFIX:
        raise Failure(
            f"unknown resource type {resource_type}", remedy=f"allowed: {', '.join(_ID_SUFFIX)}"
        )
    return resource_type
