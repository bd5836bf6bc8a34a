"""What each state of the custom resource means."""

from pathlib import Path
from typing import Any

import pytest

CRD = (
    Path(__file__).resolve().parents[2].parent
    / "shared/data/crd/inferenceendpointconfigs.operator-v3.2.yaml"
)
LOG = "kubectl logs -n hyperpod-inference-system deployment/controller"
UNFINISHED = [
    "DeploymentPending",
    "DeploymentInProgress",
    "DeletionPending",
    "DeletionInProgress",
    "DeletionFailed",
    "DeletionComplete",
]


class Api:
    """Answers one thing."""

    def __init__(self, waiter: Any, status: int, body: Any = None) -> None:
        self._answer = waiter.kubernetes.Answer(status, body or {})
        self.paths: list[str] = []

    def get(self, path: str) -> Any:
        """Return it."""
        self.paths.append(path)
        return self._answer


def _resource(status: Any = None, *, generation: int = 1, **metadata: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"metadata": {"generation": generation, **metadata}}
    return body if status is None else body | {"status": status}


def _ready(waiter: Any, body: Any, *, code: int = 200) -> Any:
    endpoint = waiter.endpoint_config.EndpointConfig("models", "llama")
    return endpoint.ready_state(Api(waiter, code, body), log_hint=LOG)


def _waits(waiter: Any, body: Any, *, code: int = 200) -> str:
    """What it waits for, in words."""
    with pytest.raises(waiter.failure.NotYet) as caught:
        _ready(waiter, body, code=code)
    return str(caught.value)


def _gone(waiter: Any, body: Any, *, code: int = 200) -> Any:
    return waiter.endpoint_config.EndpointConfig("models", "llama").is_gone(Api(waiter, code, body))


def test_every_state_of_the_operator_is_known(waiter: Any) -> None:
    """The CRD's own list, in each of its versions."""
    yaml = pytest.importorskip("yaml")
    if not CRD.is_file():
        pytest.skip("the operator's CRD is not beside the repository (../shared/data/crd)")
    crd = yaml.load(CRD.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    module = waiter.endpoint_config
    known = {module.COMPLETE, module.FAILED, *module.UNFINISHED}
    for version in crd["spec"]["versions"]:
        status = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
        assert set(status["state"]["enum"]) == known
    assert set(UNFINISHED) == module.UNFINISHED


def test_path_is_the_one_the_crd_serves(waiter: Any) -> None:
    """Group, version, plural; names are escaped."""
    endpoint = waiter.endpoint_config.EndpointConfig("models", "a/b")
    api = Api(waiter, 404)
    endpoint.is_gone(api)
    assert api.paths == [
        "/apis/inference.sagemaker.aws.amazon.com/v1"
        "/namespaces/models/inferenceendpointconfigs/a%2Fb"
    ]


def test_complete_is_ready(waiter: Any) -> None:
    """The state is returned."""
    status = {"state": "DeploymentComplete", "observedGeneration": 1}
    assert _ready(waiter, _resource(status)) == "DeploymentComplete"


@pytest.mark.parametrize("state", UNFINISHED)
def test_unfinished_is_not_ready(waiter: Any, state: str) -> None:
    """Only one state is success, and only one failure."""
    assert _waits(waiter, _resource({"state": state, "observedGeneration": 1})).startswith(state)


def test_state_of_a_newer_operator_is_not_ready(
    waiter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It is waited out, and named in the log."""
    status = {"state": "DeploymentPaused", "observedGeneration": 1}
    assert _waits(waiter, _resource(status)).startswith("DeploymentPaused")
    assert "DeploymentPaused" in caplog.text


@pytest.mark.parametrize("status", [None, {}, {"observedGeneration": 1}, {"state": ""}])
def test_no_state_is_not_ready(waiter: Any, status: Any) -> None:
    """The operator has not looked yet."""
    assert "no state" in _waits(waiter, _resource(status))


@pytest.mark.parametrize("state", ["DeploymentComplete", "DeploymentFailed"])
@pytest.mark.parametrize("observed", [{}, {"observedGeneration": 2}, {"observedGeneration": None}])
def test_verdict_on_an_earlier_spec_does_not_count(
    waiter: Any, state: str, observed: dict[str, Any]
) -> None:
    """After an update the status is at first the old one."""
    status = {"state": state, **observed, "deploymentStatus": {"message": "of the old one"}}
    words = _waits(waiter, _resource(status, generation=3))
    assert state not in words
    assert "of the old one" not in words


@pytest.mark.parametrize("state", ["DeploymentComplete", "DeploymentFailed"])
def test_outdated_announcement_does_not_count(waiter: Any, state: str) -> None:
    """The condition may lag behind the status that holds it."""
    conditions = [{"type": "Available", "reason": state, "observedGeneration": 2}]
    status = {"state": state, "observedGeneration": 3, "conditions": conditions}
    assert state not in _waits(waiter, _resource(status, generation=3))


@pytest.mark.parametrize("observed", [{}, {"observedGeneration": 3}])
def test_current_announcement_counts(waiter: Any, observed: dict[str, int]) -> None:
    """With a number or without one, and whatever else is outdated."""
    conditions = [
        {"type": "Old", "reason": "DeploymentPending", "observedGeneration": 1},
        {"type": "Available", "reason": "DeploymentComplete", **observed},
    ]
    status = {"state": "DeploymentComplete", "observedGeneration": 3, "conditions": conditions}
    assert _ready(waiter, _resource(status, generation=3)) == "DeploymentComplete"


def test_first_generation_needs_no_number(waiter: Any) -> None:
    """There is no earlier spec that the status could be about."""
    assert _ready(waiter, _resource({"state": "DeploymentComplete"})) == "DeploymentComplete"


def test_failure_is_in_the_operators_words(waiter: Any) -> None:
    """Its messages, that of the state first, none twice, and where to look."""
    status = {
        "state": "DeploymentFailed",
        "observedGeneration": 2,
        "conditions": [
            {"reason": "Old", "message": "left from the first try", "observedGeneration": 1},
            {"reason": "Pods", "message": "0/2 nodes\nhave   8 GPUs", "observedGeneration": 2},
            {"reason": "DeploymentFailed", "message": "deadline exceeded"},
            {"reason": "Silent", "message": ""},
        ],
        "deploymentStatus": {"message": "deadline exceeded"},
    }
    with pytest.raises(waiter.failure.Failure) as caught:
        _ready(waiter, _resource(status, generation=2))
    assert str(caught.value) == (
        "InferenceEndpointConfig models/llama failed: "
        f"deadline exceeded | 0/2 nodes have 8 GPUs; {LOG}"
    )


@pytest.mark.parametrize("state", ["DeploymentPending", "DeploymentInProgress"])
def test_waiting_is_in_the_operators_words(waiter: Any, state: str) -> None:
    """The state and what was said of this version, and nothing of an earlier one."""
    status = {
        "state": state,
        "observedGeneration": 2,
        "conditions": [
            {"reason": "Old", "message": "left from the first try", "observedGeneration": 1},
            {"reason": "Pods", "message": "0/2 nodes have 8 GPUs", "observedGeneration": 2},
        ],
    }
    assert _waits(waiter, _resource(status, generation=2)) == f"{state}: 0/2 nodes have 8 GPUs"


def test_failure_without_words_says_so(waiter: Any) -> None:
    """The log is then all there is."""
    status = {"state": "DeploymentFailed", "observedGeneration": 1}
    with pytest.raises(waiter.failure.Failure, match=f"gave no message; {LOG}"):
        _ready(waiter, _resource(status))


def test_absence_is_not_ready(waiter: Any) -> None:
    """The API may lag behind kubectl."""
    assert _waits(waiter, None, code=404) == "it is not there"


def test_forbidden_look_fails(waiter: Any) -> None:
    """The line names the Role and its namespace."""
    with pytest.raises(waiter.failure.Failure, match=r"Role with get .* namespace models"):
        _ready(waiter, None, code=403)


def test_absence_is_gone(waiter: Any) -> None:
    """Finalizers are done."""
    assert _gone(waiter, None, code=404) is True


def test_forbidden_look_counts_as_gone(waiter: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A namespace deleted by hand took the Role with it; the log tells."""
    assert _gone(waiter, None, code=403) is True
    assert "403" in caplog.text


@pytest.mark.parametrize("state", [None, "DeploymentComplete", "DeploymentFailed", *UNFINISHED])
def test_deletion_waits_for_finalizers(waiter: Any, state: str | None) -> None:
    """In any state, as long as the object exists."""
    status = state and {"state": state}
    body = _resource(status, deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["operator"])
    assert _gone(waiter, body) is False


def test_object_that_nobody_deletes_fails(waiter: Any) -> None:
    """Nothing would happen for an hour; the line holds the command."""
    with pytest.raises(waiter.failure.Failure, match=r"kubectl delete .*--namespace models llama"):
        _gone(waiter, _resource({"state": "DeploymentComplete"}))
