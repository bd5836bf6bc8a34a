"""Where the Deployments of a self-managed endpoint stand: rolled out, stuck, gone, or not yet."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from failure import Failure
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

    def ready_state(self, api: KubernetesApi, *, log_hint: str) -> str | None:
        """Return a state once every Deployment has all its pods new and available, else None.

        Raises:
            Failure: One made no progress in the time that it says it takes; or we may not look.
            Unavailable: The API server cannot answer at the moment.
        """
        # Every one is looked at, so that one that is stuck is not waited for behind another.
        done = [self._is_done(api, deployment, log_hint) for deployment in self.deployments]
        return COMPLETE if all(done) else None

    def is_gone(self, api: KubernetesApi) -> bool:
        """Return whether no Deployment is left, and so no GPU of the endpoint's is taken.

        Raises:
            Failure: One is there and nobody deletes it.
            Unavailable: The API server cannot answer at the moment.
        """
        return all(self._is_gone(api, deployment) for deployment in self.deployments)

    def _is_done(self, api: KubernetesApi, name: str, log_hint: str) -> bool:
        answer = api.get(self._path(name))
        if answer.status == HTTPStatus.FORBIDDEN:
            raise Failure(
                f"this function may not read Deployment {self.namespace}/{name} (403)",
                remedy="its Kubernetes group needs a Role with get on deployments "
                f"in namespace {self.namespace}",
            )
        if answer.status == HTTPStatus.NOT_FOUND:
            _LOGGER.info("Deployment %s/%s is not there yet", self.namespace, name)
            return False
        if stuck := _no_progress(answer.body):
            raise Failure(f"Deployment {self.namespace}/{name}: {stuck}", remedy=log_hint)
        missing = _missing(answer.body)
        if missing:
            _LOGGER.info("Deployment %s/%s: %s", self.namespace, name, missing)
        return not missing

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
    status = deployment.get("status") or {}
    if (status.get("observedGeneration") or 0) < deployment["metadata"]["generation"]:
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
    status = deployment.get("status") or {}
    if (status.get("observedGeneration") or 0) < deployment["metadata"]["generation"]:
        return ""
    for condition in status.get("conditions") or []:
        is_progress = condition.get("type") == "Progressing"
        if is_progress and condition.get("reason") == "ProgressDeadlineExceeded":
            return str(condition.get("message") or "no progress in time")
    return ""
