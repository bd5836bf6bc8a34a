"""A mistake is one line: where it is, what is allowed; never a traceback, never a template."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.synth.conftest import RunApp

PROD = (ROOT / "environments" / "prod.yaml").read_text(encoding="utf-8")


def edited(old: str, new: str) -> tuple[str, int]:
    """`prod` with one piece of text replaced, and the line it is on."""
    assert PROD.count(old) == 1
    return PROD.replace(old, new), PROD[: PROD.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("thresholdTokens", "tresholdTokens", ["tresholdTokens", "'thresholdTokens'"]),
        ("8GiB", "8GB", ["'8GB'", "KiB, MiB, GiB, TiB"]),
        ("    model: Llama-3.3-70B-Instruct", "    model: Llama-3.3-80B", ["Llama-3.3-80B",
         "Llama-3.3-70B-Instruct"]),
        ("llama-3.3-70b", "llama-3.3-71b", ["llama-3.3-71b", "llama-3.3-70b"]),
        ("{name: prefill, instanceType", "{name: prefill, count: 0, instanceType", ["count",
         "given 0", "need 1 node"]),
    ],
    ids=["misspelt-key", "wrong-unit", "unknown-model", "unknown-architecture", "no-room"],
)  # fmt: skip
def test_mistake_in_the_file(
    run_app: RunApp, tmp_path: Path, old: str, new: str, said: list[str]
) -> None:
    """With the file and the line."""
    text, line = edited(old, new)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "prod.yaml").write_text(text, encoding="utf-8")
    refused(run_app, tmp_path, [f"error: envs/prod.yaml:{line}: ", *said])


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"env": "produ"}, ["error: -c env=produ: ", "did you mean 'prod'?"]),
        ({"prefilReplicas": "2"}, ["-c prefilReplicas: ", "did you mean 'prefillReplicas'?"]),
        ({"routingThreshold": "many"}, ["error: -c routingThreshold=many: "]),
        ({"set": "endpoints.chat.kvTransfer.bufferSize=8GB"}, ["8GB", "KiB, MiB, GiB, TiB"]),
    ],
    ids=["environment", "key", "value", "unit"],
)  # fmt: skip
def test_mistake_in_a_parameter(
    run_app: RunApp, tmp_path: Path, context: dict[str, str], said: list[str]
) -> None:
    """With the parameter."""
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "prod.yaml").write_text(PROD, encoding="utf-8")
    refused(run_app, tmp_path, said, **context)


def test_more_replicas_than_the_file_has_nodes_for(run_app: RunApp, tmp_path: Path) -> None:
    """Two prefill workers of eight GPUs do not fit on one node."""
    text, line = edited("{name: prefill, instanceType", "{name: prefill, count: 1, instanceType")
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "prod.yaml").write_text(text, encoding="utf-8")
    said = [f"error: envs/prod.yaml:{line}: ", "given 1", "need 2 nodes of 8 GPUs"]
    refused(run_app, tmp_path, said, prefillReplicas="2")


def refused(run_app: RunApp, folder: Path, said: list[str], **context: str) -> None:
    """Check that the app stops with one line that says all this, and writes nothing."""
    values = {"env": "prod", "environments": str(folder / "envs"), **context}
    result = run_app(folder / "out", **values)
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert [piece for piece in said if piece not in line] == []
    assert not list(folder.glob("out/*.json"))
