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
import time
from collections.abc import Callable, Mapping
from typing import Any

from deadline import require_time_left, start
from eks_token import eks_token
from failure import Failure, NotYet
from identity import named_endpoint, physical_id, require_same_endpoint
from kubernetes import KubernetesApi
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
    event: Mapping[str, Any],
    _context: object,
    *,
    s3: Callable[[], Any] = s3_client,
    now: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Begin: name the resource, and refuse what cannot end well before it costs anything.

    Raises:
        Failure: The endpoint would leave an old one behind; or what of its weights is missing,
            and the command that uploads it.
    """
    suffix = _ID_SUFFIX[_resource_type(event)]
    if event["RequestType"] == "Delete":
        return {"PhysicalResourceId": event["PhysicalResourceId"]}
    properties = event["ResourceProperties"]
    id_ = physical_id(properties, suffix=suffix)
    if event["ResourceType"] == ENDPOINT_READY:
        return {"PhysicalResourceId": id_, "Data": start(now())}
    if event["RequestType"] == "Update":
        require_same_endpoint(event, id_)
    require_weights(
        s3(),
        bucket=properties["Bucket"],
        prefix=properties["Prefix"],
        upload_command=properties["UploadCommand"],
    )
    return {"PhysicalResourceId": id_}


def is_complete(
    event: Mapping[str, Any],
    _context: object,
    *,
    api: Callable[[], KubernetesApi] = kubernetes_api,
    now: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Look once whether what was begun is done.

    Raises:
        Failure: It will never be done, or is not in time.
    """
    properties = event["ResourceProperties"]
    endpoint = named_endpoint(properties)
    deleting = event["RequestType"] == "Delete"
    try:
        if _resource_type(event) == MODEL_WEIGHTS:
            return {"IsComplete": not deleting or endpoint.is_gone(api())}
        if deleting:
            return {"IsComplete": True}
        state = endpoint.ready_state(api(), log_hint=properties["LogHint"])
    except NotYet as reason:
        _LOGGER.info("%s: %s; will ask again", endpoint, reason)
        if not deleting:
            require_time_left(event, reason, endpoint=endpoint, now_seconds=now())
        # The provider refuses Data here, and keeps that of on_event.
        return {"IsComplete": False}
    return {"IsComplete": True, "Data": {"State": state}}


def _resource_type(event: Mapping[str, Any]) -> str:
    resource_type: str = event["ResourceType"]
    if resource_type not in _ID_SUFFIX:
        raise Failure(
            f"unknown resource type {resource_type}", remedy=f"allowed: {', '.join(_ID_SUFFIX)}"
        )
    return resource_type
