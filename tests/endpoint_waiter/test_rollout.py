"""When the Deployments of a self-managed endpoint are rolled out, stuck or gone."""

from collections.abc import Mapping
from typing import Any

import pytest

HINT = "kubectl describe pods -n models"
NAMES = ("llama-prefill", "llama-decode", "llama-router")
DONE = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
STUCK = {
    "type": "Progressing",
    "status": "False",
    "reason": "ProgressDeadlineExceeded",
    "message": 'ReplicaSet "llama-prefill-1" has timed out progressing.',
}


class Api:
    """Answers each Deployment with what the test says of it, and every other as rolled out."""

    def __init__(self, waiter: Any, answers: Mapping[str, tuple[int, Any]]) -> None:
        self._waiter, self._answers = waiter, answers
        self.paths: list[str] = []

    def get(self, path: str) -> Any:
        """Return it."""
        self.paths.append(path)
        status, body = self._answers.get(path.rpartition("/")[2], (200, deployment(DONE)))
        return self._waiter.kubernetes.Answer(status, body)


def deployment(status: Any, *, generation: int = 1, replicas: int | None = 2, **more: Any) -> Any:
    """A Deployment as the API server returns it."""
    spec = {} if replicas is None else {"replicas": replicas}
    return {"metadata": {"generation": generation, **more}, "spec": spec, "status": status}


def ready(waiter: Any, **answers: Any) -> Any:
    """The state of an endpoint, one of whose Deployments is not as it should be."""
    rollout = waiter.rollout.Rollout("models", NAMES)
    return rollout.ready_state(Api(waiter, rename(answers)), log_hint=HINT)


def waits(waiter: Any, **answers: Any) -> str:
    """What is waited for, in words."""
    with pytest.raises(waiter.failure.NotYet) as caught:
        ready(waiter, **answers)
    return str(caught.value)


def rename(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments have no hyphens."""
    return {name.replace("_", "-"): answer for name, answer in answers.items()}


def test_all_complete_is_ready(waiter: Any) -> None:
    """Each is looked at where the API server keeps it."""
    api = Api(waiter, {})
    rollout = waiter.rollout.Rollout("models", NAMES)
    assert rollout.ready_state(api, log_hint=HINT) == "RolloutComplete"
    assert api.paths == [f"/apis/apps/v1/namespaces/models/deployments/{name}" for name in NAMES]


@pytest.mark.parametrize("name", ["llama_prefill", "llama_decode", "llama_router"])
@pytest.mark.parametrize(
    "body",
    [
        deployment(None),
        deployment({}),
        deployment(DONE, generation=2),
        deployment({**DONE, "updatedReplicas": 1}),
        deployment({**DONE, "replicas": 3}),
        deployment({**DONE, "availableReplicas": 1}),
        deployment({**DONE, "availableReplicas": None}),
        deployment({"observedGeneration": 1, "replicas": 0}, replicas=None),
    ],
    ids=str,
)
def test_one_unfinished_is_not_ready(waiter: Any, name: str, body: Any) -> None:
    """Whichever it is: new pods, old pods, available pods, or the controller are missing."""
    words = waits(waiter, **{name: (200, body)})
    assert words.startswith(f"{name.replace('_', '-')}: ")
    assert words.count(": ") == 1


def test_one_that_is_not_there_yet_is_not_ready(waiter: Any) -> None:
    """CloudFormation may look early."""
    assert waits(waiter, llama_decode=(404, {})) == "llama-decode: not there"


def test_all_that_is_missing_is_said(waiter: Any) -> None:
    """Every number before any message, and no message of a version or a Deployment that is done."""
    unavailable = {"type": "Available", "message": "no minimum availability"}
    quota = {"type": "ReplicaFailure", "message": "exceeded quota: gpus"}
    conditions = [unavailable, quota, {"type": "Progressing", "message": ""}]
    slow = {**DONE, "availableReplicas": 0, "conditions": conditions}
    done = {**DONE, "conditions": [{"type": "Available", "message": "it is available"}]}
    late = {**slow, "conditions": [{"type": "Available", "message": "of an earlier version"}]}
    words = waits(
        waiter,
        llama_prefill=(200, deployment(slow)),
        llama_decode=(200, deployment({**slow, "availableReplicas": 1})),
        llama_router=(200, deployment(done)),
    )
    assert words == (
        "llama-prefill: 0 of 2 pods are available, llama-decode: 1 of 2 pods are available"
        " | no minimum availability | exceeded quota: gpus"
    )
    assert "earlier" not in waits(waiter, llama_decode=(200, deployment(late, generation=2)))


def test_none_wanted_is_complete(waiter: Any) -> None:
    """An autoscaler may want no pods, and there are no pods then."""
    assert ready(waiter, llama_decode=(200, deployment({"observedGeneration": 1}, replicas=0)))


def test_no_progress_in_time_fails(waiter: Any) -> None:
    """With the controller's words, also behind another that is only slow."""
    slow = (200, deployment({**DONE, "updatedReplicas": 0}))
    body = deployment({"observedGeneration": 1, "conditions": [STUCK]})
    with pytest.raises(waiter.failure.Failure, match=rf"llama-decode: .* timed out .*; {HINT}$"):
        ready(waiter, llama_prefill=slow, llama_decode=(200, body))


def test_progress_of_an_earlier_version_says_nothing(waiter: Any) -> None:
    """An update that repairs a stuck rollout must not fail because it was stuck."""
    body = deployment({"observedGeneration": 1, "conditions": [STUCK]}, generation=2)
    assert "not looked" in waits(waiter, llama_decode=(200, body))


def test_missing_permission_is_said(waiter: Any) -> None:
    """An hour of waiting would not grant it."""
    with pytest.raises(waiter.failure.Failure, match="Role with get on deployments"):
        ready(waiter, llama_decode=(403, {}))


def gone(waiter: Any, status: int, body: Any = None) -> Any:
    """Whether the endpoint is gone, all of whose Deployments are in the same state."""
    answers = dict.fromkeys(NAMES, (status, body or {}))
    return waiter.rollout.Rollout("models", NAMES).is_gone(Api(waiter, answers))


def test_gone_when_no_deployment_is_left(waiter: Any) -> None:
    """Or when the namespace with our Role is gone too."""
    assert gone(waiter, 404) is True
    assert gone(waiter, 403) is True
    assert gone(waiter, 200, deployment(DONE, deletionTimestamp="2026-01-01T00:00:00Z")) is False


def test_nobody_deletes_it(waiter: Any) -> None:
    """Then waiting is in vain, and the command that helps is said."""
    with pytest.raises(waiter.failure.Failure, match="kubectl delete deployment --namespace"):
        gone(waiter, 200, deployment(DONE))
