"""Context parameters change what they name, and nothing else, in the templates."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.synth.conftest import PROGRAMS, Completed, RunApp

CDK = ROOT / "node_modules" / ".bin" / "cdk"
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value by path; logical ids by their type, manifests opened."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            kind = item.get("Type", "") if isinstance(item, Mapping) else ""
            name = kind if isinstance(kind, str) and "::" in kind else key
            opened = json.loads(item) if key == "Manifest" and isinstance(item, str) else item
            yield from leaves(opened, f"{path}/{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}/{index}")
    else:
        yield path, value


def templates(folder: Path) -> dict[str, Any]:
    """Every template by file name."""
    paths = sorted(folder.glob("*.template.json"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def changes(before: Path, after: Path) -> dict[tuple[str, str], tuple[Any, Any]]:
    """What differs between two outputs, by template and path."""
    old, new = templates(before), templates(after)
    assert list(old) == list(new)
    found = {}
    for name in old:
        was, is_now = list(leaves(old[name])), list(leaves(new[name]))
        assert [path for path, _ in was] == [path for path, _ in is_now]
        for (path, left), (_, right) in zip(was, is_now, strict=True):
            if left != right:
                found[name, path.replace("/Resources/", "")] = (left, right)
    return found


SPEC = f"{MANIFEST}/Properties/Manifest/0/spec/pdSpec"
ENDPOINT = "dpd-prod-endpoint-chat.template.json"
CLUSTER = "dpd-prod-cluster.template.json"
EXPECTED = {
    (CLUSTER, "AWS::SageMaker::Cluster/Properties/InstanceGroups/0/InstanceCount"): (1, 2),
    (ENDPOINT, f"{SPEC}/prefillSpec/replicas"): (1, 2),
    (ENDPOINT, f"{SPEC}/routingThreshold"): (4096, 8192),
}
DIGEST = (ENDPOINT, "Custom::DpdEndpointReady/Properties/ManifestDigest")
"""Makes the waiter look again whenever the manifest is another."""


def test_two_parameters_change_two_fields_and_the_room_for_them(
    run_app: RunApp, folder: Path
) -> None:
    """Two prefill workers of eight GPUs need two nodes."""
    before, after = folder / "before", folder / "after"
    for output, context in ((before, {}), (after, {"prefillReplicas": "2"})):
        extra = {"routingThreshold": "8192"} if context else {}
        result = run_app(output, env="prod", **context, **extra)
        assert result.returncode == 0
        assert "error" not in result.stderr
    found = changes(before, after)
    was, is_now = found.pop(DIGEST)
    assert was != is_now
    assert found == EXPECTED


def cdk(output: Path, *arguments: str) -> Completed:
    """The pinned command line, offline and without credentials."""
    if not CDK.exists():
        pytest.skip("the CDK's command line is not installed; run: make setup")
    offline = ["--no-notices", "--no-version-reporting", "--output", str(output)]
    # The command line writes them by default, the program alone does not.
    plain = ["--no-path-metadata", "--no-asset-metadata"]
    return subprocess.run(
        [str(CDK), "synth", "--quiet", *offline, *plain, *arguments],
        cwd=ROOT,
        env={
            "PATH": PROGRAMS,
            "HOME": str(Path.home()),
            "CDK_VALIDATION": "false",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(output / "none"),
            "AWS_SHARED_CREDENTIALS_FILE": str(output / "none"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_line_gives_the_same(run_app: RunApp, folder: Path) -> None:
    """What a person types, from end to end; and no credentials are asked for."""
    before, after = folder / "before", folder / "after"
    run_app(before, env="prod")
    result = cdk(after, "-c", "env=prod", "-c", "prefillReplicas=2", "-c", "routingThreshold=8192")
    assert result.returncode == 0, result.stderr
    assert {**changes(before, after), DIGEST: None} == {**EXPECTED, DIGEST: None}


def test_command_line_names_the_right_key(folder: Path) -> None:
    """And stops."""
    result = cdk(folder, "-c", "env=prod", "-c", "prefilReplicas=2")
    said = "error: -c prefilReplicas: unknown context key; did you mean 'prefillReplicas'?"
    assert result.returncode != 0
    assert said in result.stderr.splitlines()
    assert "Traceback" not in result.stderr
