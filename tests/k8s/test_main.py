"""Files that someone without the CDK can read and apply."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from dpd.config import Environment, load_environment
from k8s.__main__ import main, write
from tests.conftest import SHARED

CHECK = SHARED / "tools" / "check_manifest.py"
KIND = "InferenceEndpointConfig"
DEPENDENCIES = "00-hyperpod-dependencies.yaml"
ENDPOINT = "10-endpoint-chat.yaml"

COLOCATED = """endpoints=[{name: chat, topology: colocated, model: Llama-3.3-70B-Instruct,
  workers: {instanceGroup: decode}, routing: {strategy: session}}]"""


@pytest.fixture
def written(environment: Environment, tmp_path: Path) -> dict[str, str]:
    """The text of every file of an environment."""
    write(environment, tmp_path)
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(tmp_path.iterdir())}


def documents(text: str) -> list[dict[str, Any]]:
    """The objects in a file."""
    return list(yaml.safe_load_all(text))


def test_one_file_per_concern_in_the_order_to_apply(written: dict[str, str]) -> None:
    """`kubectl apply -f dist/prod` takes them by name; namespaces come first in each."""
    assert list(written) == [DEPENDENCIES, ENDPOINT]
    for text in written.values():
        assert documents(text)[0]["kind"] == "Namespace"
    assert [thing["kind"] for thing in documents(written[ENDPOINT])] == ["Namespace", KIND]


def test_files_are_plain(written: dict[str, str]) -> None:
    """No token of the CDK, no anchor or alias, nothing that only one tool reads."""
    for text in written.values():
        for event in yaml.parse(text):
            assert not isinstance(event, yaml.AliasEvent)
            assert getattr(event, "anchor", None) is None
            assert getattr(event, "tag", None) is None
        assert "${" not in text
        assert "Fn::" not in text
        assert "aws.cdk" not in text


def built_in(things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects of kinds that Kubernetes itself knows."""
    return [thing for thing in things if thing["kind"] != KIND]


def test_kubernetes_knows_every_field(environment: Environment, written: dict[str, str]) -> None:
    """Of all kinds that are its own, in the cluster's version."""
    things = [thing for text in written.values() for thing in built_in(documents(text))]
    assert {"DaemonSet", "ClusterRole", "Namespace"} <= {thing["kind"] for thing in things}
    for thing in things:
        kubernetes_validate.validate(thing, environment.cluster.kubernetes_version, strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found(written: dict[str, str]) -> None:
    """The judge can find something."""
    things = documents(written[DEPENDENCIES])
    (daemon_set,) = (thing for thing in things if thing["kind"] == "DaemonSet")
    daemon_set["spec"]["template"]["spec"]["containers"][0]["volumeMount"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(daemon_set, "1.34", strict=True)


def check(*paths: Path) -> subprocess.CompletedProcess[str]:
    """What the strict check against the operator's schema says."""
    if not CHECK.is_file():
        pytest.skip("the check is not beside the repository (../shared/tools)")
    command = [sys.executable, str(CHECK), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_operator_knows_every_field(tmp_path: Path) -> None:
    """Strictly: the API server would drop an unknown one without a word."""
    for name in ("dev", "staging", "prod"):
        write(load_environment({"env": name}), tmp_path / name)
    write(load_environment({"env": "prod", "set": COLOCATED}), tmp_path / "colocated")
    result = check(*sorted(tmp_path.glob("*/*.yaml")))
    assert result.stdout == "4 InferenceEndpointConfig checked, 0 faults\n"
    assert result.returncode == 0


def test_a_field_that_the_operator_does_not_know_is_found(
    prod_environment: Environment, tmp_path: Path
) -> None:
    """The judge can find something."""
    write(prod_environment, tmp_path)
    path = tmp_path / ENDPOINT
    path.write_text(path.read_text(encoding="utf-8").replace("sameAZ", "sameZone"))
    result = check(path)
    assert "sameZone" in result.stdout
    assert result.returncode == 1


def test_files_of_endpoints_that_are_gone_go_too(
    prod_environment: Environment, tmp_path: Path
) -> None:
    """Or an old endpoint would be applied again; what is not YAML is left alone."""
    (tmp_path / "10-endpoint-old.yaml").write_text("kind: Old\n")
    (tmp_path / "notes.txt").write_text("mine\n")
    write(prod_environment, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [DEPENDENCIES, ENDPOINT, "notes.txt"]


def test_command_writes_below_the_environments_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the CDK's own way to give context."""
    arguments = ["-c", "env=prod", "-c", "routingThreshold=8192", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["k8s", *arguments])
    main()
    text = (tmp_path / "prod" / ENDPOINT).read_text(encoding="utf-8")
    assert documents(text)[1]["spec"]["pdSpec"]["routingThreshold"] == 8192


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "env=prodd"], "did you mean 'prod'?"),
        (["-c", "env"], "-c env: no value"),
        (["-c", "env=prod", "-c", "prefilReplicas=2"], "did you mean 'prefillReplicas'?"),
    ],
    ids=["environment", "no-value", "key"],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """As the CDK app says them."""
    monkeypatch.setattr(sys, "argv", ["k8s", *arguments, "--output", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert list(tmp_path.iterdir()) == []
