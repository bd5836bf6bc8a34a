"""Where the InferenceEndpointConfig of one endpoint stands: ready, failed, gone, or not yet."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from failure import Failure, NotYet
from kubernetes import KubernetesApi

COMPLETE = "DeploymentComplete"
FAILED = "DeploymentFailed"
UNFINISHED = frozenset(
    {
        "DeploymentPending",
        "DeploymentInProgress",
        "DeletionPending",
        "DeletionInProgress",
        "DeletionFailed",
        "DeletionComplete",
    }
)

_LOGGER = logging.getLogger("endpoint_waiter")


@dataclass(frozen=True)
class EndpointConfig:
    """Name of one custom resource."""

    namespace: str
    name: str

    @property
    def path(self) -> str:
        """Where the API server keeps it."""
        return (
            "/apis/inference.sagemaker.aws.amazon.com/v1"
            f"/namespaces/{quote(self.namespace, safe='')}"
            f"/inferenceendpointconfigs/{quote(self.name, safe='')}"
        )

    def __str__(self) -> str:
        return f"InferenceEndpointConfig {self.namespace}/{self.name}"

    def ready_state(self, api: KubernetesApi, *, log_hint: str) -> str:
        """Return the state once the endpoint answers.

        Raises:
            NotYet: It does not answer yet: the state, and the operator's own words.
            Failure: The operator gave up, in its own words; or we may not look.
            Unavailable: The API server cannot answer at the moment.
        """
        answer = api.get(self.path)
        if answer.status == HTTPStatus.FORBIDDEN:
            raise Failure(
                f"this function may not read {self} (403)",
                remedy="its Kubernetes group needs a Role with get on inferenceendpointconfigs "
                f"in namespace {self.namespace}",
            )
        if answer.status == HTTPStatus.NOT_FOUND:
            raise NotYet("it is not there")
        state = _current_state(answer.body)
        if state == FAILED:
            raise Failure(f"{self} failed: {_operator_words(answer.body)}", remedy=log_hint)
        if state == COMPLETE:
            return state
        if state is not None and state not in UNFINISHED:
            _LOGGER.warning("%s is in a state newer than this function: %s", self, state)
        raise NotYet(f"{state or 'no state of this version'}: {_operator_words(answer.body)}")

    def is_gone(self, api: KubernetesApi) -> bool:
        """Return whether the operator's finalizers are done and the object no longer exists.

        A state of DeletionFailed is no reason to give up: the operator tries again.

        Raises:
            Failure: It is there and nobody deletes it, so no finalizer will ever run.
            Unavailable: The API server cannot answer at the moment.
        """
        answer = api.get(self.path)
        if answer.status == HTTPStatus.FORBIDDEN:
            # The Role lives in the namespace. Without it the namespace was deleted by hand,
            # and to insist would keep the stack from ever being deleted.
            _LOGGER.warning("%s cannot be read any more (403); taken as deleted", self)
            return True
        if answer.status == HTTPStatus.NOT_FOUND:
            return True
        metadata = answer.body["metadata"]
        if not metadata.get("deletionTimestamp"):
            raise Failure(
                f"{self} is still there and nobody has deleted it",
                remedy="run: kubectl delete inferenceendpointconfig "
                f"--namespace {self.namespace} {self.name}",
            )
        status = answer.body.get("status") or {}
        _LOGGER.info(
            "%s waits for finalizers %s: %s %s",
            self,
            metadata.get("finalizers"),
            status.get("state"),
            _operator_words(answer.body),
        )
        return False


def _current_state(resource: Mapping[str, Any]) -> str | None:
    """Return the state, or None where it describes an earlier version of the spec or nothing."""
    status = resource.get("status") or {}
    generation = resource["metadata"]["generation"]
    state: str | None = status.get("state")
    if not state or _is_of_earlier_spec(status, generation):
        return None
    announcements = [c for c in _conditions(status) if c.get("reason") == state]
    if any(_is_outdated(condition, generation) for condition in announcements):
        return None
    return state


def _operator_words(resource: Mapping[str, Any]) -> str:
    """Return every message of the operator on this generation, that of the state first."""
    status = resource.get("status") or {}
    generation = resource["metadata"]["generation"]
    conditions = [c for c in _conditions(status) if not _is_outdated(c, generation)]
    conditions.sort(key=lambda condition: condition.get("reason") != status.get("state"))
    current = {} if _is_of_earlier_spec(status, generation) else status
    deployment = current.get("deploymentStatus") or {}
    messages = [*(c.get("message") for c in conditions), deployment.get("message")]
    one_liners = dict.fromkeys(" ".join(message.split()) for message in messages if message)
    return " | ".join(filter(None, one_liners)) or "the operator gave no message"


def _conditions(status: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return status.get("conditions") or []


def _is_of_earlier_spec(status: Mapping[str, Any], generation: int) -> bool:
    # What bears no number was written for the first generation at least.
    return int(status.get("observedGeneration") or 1) < generation


def _is_outdated(condition: Mapping[str, Any], generation: int) -> bool:
    return int(condition.get("observedGeneration") or generation) < generation
