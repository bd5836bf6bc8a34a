"""Where the Deployments of a self-managed endpoint stand: rolled out, stuck, gone, or not yet."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from failure import Failure, NotYet
from kubernetes import KubernetesApi

COMPLETE = "RolloutComplete"

_LOGGER = logging.getLogger("endpoint_waiter")


@dataclass(frozen=True)
class Rollout:
    """Names of the Deployments of one endpoint."""

    namespace: str
    deployments: tuple[str, ...]

    def __str__(self) -> str:
        return f"Deployments {self.namespace}/{','.join(self.deployments)}"

    def ready_state(self, api: KubernetesApi, *, log_hint: str) -> str:
        """Return a state once every Deployment has all its pods new and available.

        Raises:
            NotYet: Which of them miss how many pods, and their conditions' messages.
            Failure: One made no progress in the time that it says it takes; or we may not look.
            Unavailable: The API server cannot answer at the moment.
        """
        # Every one is looked at, so that one that is stuck is not waited for behind another.
        found = {name: self._look(api, name, log_hint) for name in self.deployments}
        missing = {name: words for name, body in found.items() if (words := _missing(body))}
        if not missing:
            return COMPLETE
        # Numbers first: a long text is cut short at its end.
        numbers = ", ".join(f"{name}: {words}" for name, words in missing.items())
        messages = dict.fromkeys(message for name in missing for message in _messages(found[name]))
        raise NotYet(" | ".join((numbers, *messages)))

    def is_gone(self, api: KubernetesApi) -> bool:
        """Return whether no Deployment is left, and so no GPU of the endpoint's is taken.

        Raises:
            Failure: One is there and nobody deletes it.
            Unavailable: The API server cannot answer at the moment.
        """
        return all(self._is_gone(api, deployment) for deployment in self.deployments)

    def _look(self, api: KubernetesApi, name: str, log_hint: str) -> Mapping[str, Any]:
        """Return a Deployment that is not stuck; empty where there is none yet."""
        answer = api.get(self._path(name))
        if answer.status == HTTPStatus.FORBIDDEN:
            raise Failure(
                f"this function may not read Deployment {self.namespace}/{name} (403)",
                remedy="its Kubernetes group needs a Role with get on deployments "
                f"in namespace {self.namespace}",
            )
        if answer.status == HTTPStatus.NOT_FOUND:
            return {}
        if stuck := _no_progress(answer.body):
            raise Failure(f"Deployment {self.namespace}/{name}: {stuck}", remedy=log_hint)
        return answer.body

    def _is_gone(self, api: KubernetesApi, name: str) -> bool:
        answer = api.get(self._path(name))
        if answer.status == HTTPStatus.FORBIDDEN:
            # The Role lives in the namespace, and so both were deleted by hand.
            _LOGGER.warning("%s cannot be read any more (403); taken as deleted", self)
            return True
        if answer.status == HTTPStatus.NOT_FOUND:
            return True
        if not answer.body["metadata"].get("deletionTimestamp"):
            raise Failure(
                f"Deployment {self.namespace}/{name} is still there and nobody has deleted it",
                remedy=f"run: kubectl delete deployment --namespace {self.namespace} {name}",
            )
        return False

    def _path(self, name: str) -> str:
        namespace, quoted = quote(self.namespace, safe=""), quote(name, safe="")
        return f"/apis/apps/v1/namespaces/{namespace}/deployments/{quoted}"


def _missing(deployment: Mapping[str, Any]) -> str:
    """Return what the rollout waits for; empty where it is complete."""
    if not deployment:
        return "not there"
    status = _current_status(deployment)
    if not status:
        return "the controller has not looked at it yet"
    wanted = deployment["spec"].get("replicas", 1)
    updated = status.get("updatedReplicas") or 0
    available = status.get("availableReplicas") or 0
    old = (status.get("replicas") or 0) - updated
    if updated < wanted:
        return f"{updated} of {wanted} pods are new"
    if old > 0:
        return f"{old} old pods are still there"
    if available < wanted:
        return f"{available} of {wanted} pods are available"
    return ""


def _no_progress(deployment: Mapping[str, Any]) -> str:
    """Return the controller's words where it has given up waiting; empty where it has not."""
    for condition in _current_status(deployment).get("conditions") or []:
        is_progress = condition.get("type") == "Progressing"
        if is_progress and condition.get("reason") == "ProgressDeadlineExceeded":
            return str(condition.get("message") or "no progress in time")
    return ""


def _messages(deployment: Mapping[str, Any]) -> Iterator[str]:
    for condition in _current_status(deployment).get("conditions") or []:
        if message := condition.get("message"):
            yield message


def _current_status(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status; empty where it is none of this version of the Deployment."""
    status: Mapping[str, Any] = deployment.get("status") or {}
    observed = status.get("observedGeneration") or 0
    return status if deployment and observed >= deployment["metadata"]["generation"] else {}
