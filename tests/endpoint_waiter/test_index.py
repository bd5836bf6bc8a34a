"""The two entry points, as `custom_resources.Provider` calls them."""

import logging
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.stub import Stubber

from tests.endpoint_waiter.conftest import ApiServer, Authority

WEIGHTS = "Custom::DpdModelWeights"
READY = "Custom::DpdEndpointReady"
IDS = {WEIGHTS: "models/llama/weights", READY: "models/llama/ready"}
RESPONSE_URL = "https://cloudformation.example/answer?signature=secret"
COMPLETE = {
    "metadata": {"generation": 1},
    "status": {"state": "DeploymentComplete", "observedGeneration": 1},
}
DELETING = {"metadata": {"generation": 1, "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def _event(request_type: str, resource_type: str, **properties: str) -> dict[str, Any]:
    event: dict[str, Any] = {
        "RequestType": request_type,
        "ResourceType": resource_type,
        "ResponseURL": RESPONSE_URL,
        "ResourceProperties": {
            "ServiceToken": "arn",
            "Namespace": "models",
            "Name": "llama",
            "Bucket": "weights",
            "Prefix": "models/llama",
            "UploadCommand": "dpd upload",
            "TimeoutSeconds": "3000",
            "ManifestDigest": "0" * 64,
            "LogHint": "see the log",
        }
        | properties,
    }
    if request_type != "Create":
        event["PhysicalResourceId"] = IDS.get(resource_type, "")
    if request_type == "Update":
        event["OldResourceProperties"] = dict(event["ResourceProperties"])
    return event


@pytest.fixture
def api(waiter: Any, api_server: ApiServer, authority: Authority) -> Any:
    """What makes the client, as a parameter of `is_complete`."""
    return lambda: waiter.kubernetes.KubernetesApi(
        api_server.endpoint, certificate_authority=authority.base64, token=lambda: "secret token"
    )


def _nobody() -> Any:
    pytest.fail("nobody needs to be asked for this")


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_weights_are_looked_for_at_once(waiter: Any, request_type: str) -> None:
    """Before the custom resource exists; the failure is the provider's answer."""
    s3 = boto3.client(
        "s3", region_name="us-east-2", aws_access_key_id="none", aws_secret_access_key="none"
    )
    event = _event(request_type, WEIGHTS)
    with Stubber(s3) as stub:
        stub.add_response("list_objects_v2", {"IsTruncated": False})
        with pytest.raises(waiter.failure.Failure, match="upload it: dpd upload"):
            waiter.index.on_event(event, None, s3=lambda: s3)
        files = [{"Key": f"models/llama/{n}", "Size": 1} for n in ("config.json", "m.safetensors")]
        stub.add_response("list_objects_v2", {"IsTruncated": False, "Contents": files})
        answer = waiter.index.on_event(event, None, s3=lambda: s3)
    assert answer == {"PhysicalResourceId": IDS[WEIGHTS]}
    assert waiter.index.is_complete(event, None, api=_nobody) == {"IsComplete": True}


def test_endpoint_does_not_move(waiter: Any) -> None:
    """Which is said before anything is asked; whatever was deployed can be deleted."""
    event = _event("Update", WEIGHTS, Namespace="elsewhere")
    with pytest.raises(waiter.failure.Failure, match=r"cannot change from .* in place"):
        waiter.index.on_event(event, None, s3=_nobody)
    answer = waiter.index.on_event(event | {"RequestType": "Delete"}, None, s3=_nobody)
    assert answer == {"PhysicalResourceId": IDS[WEIGHTS]}


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_readiness_begins_without_a_look(waiter: Any, request_type: str) -> None:
    """Looking is `is_complete`'s work."""
    event = _event(request_type, READY)
    answer = waiter.index.on_event(event, None, s3=_nobody, now=lambda: 1234.5)
    assert answer == {"PhysicalResourceId": IDS[READY], "Data": {"StartedAt": "1234"}}


@pytest.mark.parametrize("resource_type", [WEIGHTS, READY])
def test_identity_depends_on_nothing_but_the_name(waiter: Any, resource_type: str) -> None:
    """A new identity would make CloudFormation delete the old one."""
    old = _event("Delete", resource_type, Name="renamed-since")
    answer = waiter.index.on_event(old, None, s3=_nobody)
    assert answer == {"PhysicalResourceId": IDS[resource_type]}
    ids = {
        waiter.index.on_event(_event(request, READY, ManifestDigest=digest), None, s3=_nobody)[
            "PhysicalResourceId"
        ]
        for request in ("Create", "Update")
        for digest in ("a", "b")
    }
    assert ids == {IDS[READY]}


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_answering_endpoint_is_complete(
    waiter: Any, api: Any, api_server: ApiServer, request_type: str
) -> None:
    """With the state as data."""
    api_server.answer(200, COMPLETE)
    answer = waiter.index.is_complete(_event(request_type, READY), None, api=api)
    assert answer == {"IsComplete": True, "Data": {"State": "DeploymentComplete"}}


@pytest.mark.parametrize("status", [404, 429, 503])
def test_unfinished_comes_without_data(
    waiter: Any, api: Any, api_server: ApiServer, status: int
) -> None:
    """The provider takes data with an unfinished answer for an error."""
    api_server.answer(status)
    answer = waiter.index.is_complete(_event("Create", READY), None, api=api)
    assert answer == {"IsComplete": False}


@pytest.mark.parametrize("deployments", [[], ["llama-decode"]])
@pytest.mark.parametrize(
    ("status", "reason"), [(200, "not looked|no state"), (404, "not there"), (503, "answered 503")]
)
def test_wait_that_is_over_fails(
    waiter: Any, api: Any, api_server: ApiServer, status: int, reason: str, deployments: list[str]
) -> None:
    """From one entry point to the other as the provider hands it on; not a second early."""
    clock = [1000.0]
    event = _event("Create", READY, TimeoutSeconds="600")
    event["ResourceProperties"] |= {"Deployments": deployments} if deployments else {}
    event |= waiter.index.on_event(event, None, now=lambda: clock[0])
    api_server.answer(status, {"metadata": {"generation": 1}, "spec": {}})
    for clock[0] in (1000.0, 1599.9):
        answer = waiter.index.is_complete(event, None, api=api, now=lambda: clock[0])
        assert answer == {"IsComplete": False}
    clock[0] = 1600.0
    line = rf"models/llama.* is not ready after 10 minutes: .*{reason}.*; see the log$"
    with pytest.raises(waiter.failure.Failure, match=line):
        waiter.index.is_complete(event, None, api=api, now=lambda: clock[0])


def test_endpoint_that_answers_late_is_complete(
    waiter: Any, api: Any, api_server: ApiServer
) -> None:
    """The look comes before the clock."""
    api_server.answer(200, COMPLETE)
    event = _event("Create", READY) | {"Data": {"StartedAt": "0"}}
    assert waiter.index.is_complete(event, None, api=api, now=lambda: 1e9)["IsComplete"] is True


@pytest.mark.parametrize(("status", "word"), [(401, "access entry"), (403, "Role with get")])
def test_missing_permission_fails_at_once(
    waiter: Any, api: Any, api_server: ApiServer, status: int, word: str
) -> None:
    """An hour of waiting would not grant it."""
    api_server.answer(status)
    with pytest.raises(waiter.failure.Failure, match=word):
        waiter.index.is_complete(_event("Create", READY), None, api=api)


def test_failed_endpoint_fails_at_once(waiter: Any, api: Any, api_server: ApiServer) -> None:
    """With the property's hint."""
    status = {"state": "DeploymentFailed", "observedGeneration": 1}
    api_server.answer(200, {"metadata": {"generation": 1}, "status": status})
    with pytest.raises(waiter.failure.Failure, match=r"; see the log$"):
        waiter.index.is_complete(_event("Create", READY), None, api=api)


DEPLOYMENTS = ["llama-prefill", "llama-decode", "llama-router"]
ROLLED_OUT = {
    "metadata": {"generation": 1},
    "spec": {"replicas": 1},
    "status": {
        "observedGeneration": 1,
        "replicas": 1,
        "updatedReplicas": 1,
        "availableReplicas": 1,
    },
}


def test_self_managed_endpoint_is_complete_when_its_deployments_are(
    waiter: Any, api: Any, api_server: ApiServer
) -> None:
    """And the custom resource, which there is none of, is not asked for."""
    event = _event("Create", READY)
    event["ResourceProperties"]["Deployments"] = DEPLOYMENTS
    api_server.answer(200, ROLLED_OUT)
    answer = waiter.index.is_complete(event, None, api=api)
    assert answer == {"IsComplete": True, "Data": {"State": "RolloutComplete"}}
    paths = [path.rpartition("/") for path, _ in api_server.requests]
    assert [name for _, _, name in paths] == DEPLOYMENTS
    assert {folder for folder, _, _ in paths} == {"/apis/apps/v1/namespaces/models/deployments"}


@pytest.mark.parametrize(("status", "gone"), [(404, True), (503, False)])
def test_self_managed_weights_are_deleted_after_the_deployments(
    waiter: Any, api: Any, api_server: ApiServer, status: int, gone: bool
) -> None:
    """Until then their pods read them."""
    event = _event("Delete", WEIGHTS)
    event["ResourceProperties"]["Deployments"] = DEPLOYMENTS
    api_server.answer(status)
    assert waiter.index.is_complete(event, None, api=api) == {"IsComplete": gone}


def test_readiness_is_deleted_at_once(waiter: Any) -> None:
    """It is only an observation."""
    answer = waiter.index.is_complete(_event("Delete", READY), None, api=_nobody)
    assert answer == {"IsComplete": True}


@pytest.mark.parametrize(
    ("status", "body", "gone"),
    [(404, {}, True), (403, {}, True), (503, {}, False), (200, DELETING, False)],
)
def test_weights_are_deleted_after_the_endpoint(
    waiter: Any, api: Any, api_server: ApiServer, status: int, body: object, gone: bool
) -> None:
    """Deletion waits for the operator's finalizers."""
    api_server.answer(status, body)
    answer = waiter.index.is_complete(_event("Delete", WEIGHTS), None, api=api)
    assert answer == {"IsComplete": gone}


def test_unknown_resource_is_refused(waiter: Any) -> None:
    """By name, with what is allowed."""
    for entry_point in (waiter.index.on_event, waiter.index.is_complete):
        with pytest.raises(waiter.failure.Failure, match=rf"Custom::Other; allowed: .*{READY}"):
            entry_point(_event("Create", "Custom::Other"), None)


def test_no_secret_is_logged(
    waiter: Any, api: Any, api_server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the token nor the signed URL that CloudFormation waits at."""
    caplog.set_level(logging.DEBUG)
    for status, body in ((404, {}), (503, {}), (200, COMPLETE)):
        api_server.answer(status, body)
        waiter.index.is_complete(_event("Create", READY), None, api=api)
    assert "models/llama" in caplog.text
    assert "secret" not in caplog.text


def test_function_finds_its_cluster(
    waiter: Any, api_server: ApiServer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its environment, with the role's credentials in the token."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.setenv(f"AWS_{name}", f"value-of-{name}")
    environment = {
        "CLUSTER_NAME": "dpd-prod",
        "CLUSTER_ENDPOINT": api_server.endpoint,
        "CLUSTER_CERTIFICATE_AUTHORITY": authority.base64,
        "AWS_REGION": "us-east-2",
    }
    api_server.answer(200, COMPLETE)
    answer = waiter.index.is_complete(
        _event("Create", READY), None, api=lambda: waiter.index.kubernetes_api(environment)
    )
    assert answer["IsComplete"] is True
    [(path, header)] = api_server.requests
    assert urlsplit(path).path.endswith("/namespaces/models/inferenceendpointconfigs/llama")
    assert header is not None
    assert header.startswith("Bearer k8s-aws-v1.")
