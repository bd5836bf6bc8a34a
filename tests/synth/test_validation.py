"""What the tools of others say to the templates, and that they would say something else."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpd.config import load_environment
from tests.conftest import CONTEXT
from tests.synth.conftest import PROGRAMS, Completed, RunApp
from tests.synthesized import Synthesized

PARTS = ("foundation", "cluster", "platform", "endpoint-chat")
UNKNOWN_PROPERTY = {"Type": "AWS::S3::Bucket", "Properties": {"BucketNam": "models"}}


def nag(folder: Path, *, with_plain_bucket: bool) -> None:
    """Run cdk-nag's AwsSolutions pack on `prod`; raises where a finding is not acknowledged."""
    import aws_cdk as cdk
    import cdk_nag
    from aws_cdk import aws_s3 as s3

    from stacks import build_environment

    values = {**CONTEXT, "env": "prod"}
    app = cdk.App(context=values, outdir=str(folder))
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks())
    build_environment(app, environment=load_environment(values))
    if with_plain_bucket:
        s3.Bucket(cdk.Stack(app, "Plain"), "Bucket")
    app.synth()


def report(folder: Path) -> dict[str, Any]:
    """What the one plugin reported."""
    path = folder / "validation-report.json"
    (found,) = json.loads(path.read_text(encoding="utf-8"))["pluginReports"]
    result: dict[str, Any] = found
    return result


def test_nag_finds_nothing_that_is_not_acknowledged(folder: Path) -> None:
    """Each acknowledgement with its reason."""
    nag(folder, with_plain_bucket=False)
    made = report(folder)
    assert made["pluginName"] == "AwsSolutions"
    assert made["conclusion"] == "success"
    assert made["violations"] == []
    assert made["suppressedViolations"]
    assert all(len(finding["reason"]) > 10 for finding in made["suppressedViolations"])


def acknowledged(folder: Path) -> Iterator[tuple[str, str]]:
    """Construct and rule of every acknowledgement."""
    for path in folder.glob("*.metadata.json"):
        for construct, entries in json.loads(path.read_text(encoding="utf-8")).items():
            for entry in entries:
                if entry["type"] == "aws:cdk:acknowledged-rules":
                    yield from ((construct.strip("/"), rule) for rule in entry["data"])


def test_nothing_is_acknowledged_that_is_not_found(folder: Path) -> None:
    """Or it would hide the next thing of its kind."""
    nag(folder, with_plain_bucket=False)
    found = report(folder)["suppressedViolations"]
    used = {(finding["acknowledgedAt"], finding["acknowledgedId"]) for finding in found}
    given = {(where, rule) for where, rule in acknowledged(folder) if rule.startswith("AwsSol")}
    assert given
    assert given == used


def test_nag_finds_what_is_not_acknowledged(folder: Path) -> None:
    """A bucket without logs and without TLS."""
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        nag(folder, with_plain_bucket=True)
    rules = {violation["ruleName"] for violation in report(folder)["violations"]}
    assert rules == {"AwsSolutions-S1", "AwsSolutions-S10"}


def lint(template: dict[str, Any], *, region: str) -> list[str]:
    """Errors of cfn-lint, as `E3002 message`."""
    from cfnlint.api import lint  # type: ignore[import-untyped]
    from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

    found = lint(json.dumps(template), config=ManualArgs(regions=[region]))
    lines = [f"{match.rule.id} {match.message}" for match in found]
    return [line for line in lines if line.startswith("E")]


@pytest.mark.parametrize("part", PARTS)
def test_cfn_lint_finds_no_error(prod: Synthesized, part: str) -> None:
    """Properties, types, references and limits."""
    assert lint(dict(prod[part].data), region=prod.environment.region) == []


def test_cfn_lint_finds_an_error() -> None:
    """A property that is misspelt."""
    (line,) = lint({"Resources": {"Bucket": UNKNOWN_PROPERTY}}, region="us-east-2")
    assert line.startswith("E3002 ")


def types(name: str) -> str:
    """Assignments that put an instance type on both groups."""
    return ",".join(f"cluster.instanceGroups.{i}.instanceType={name}" for i in (0, 1))


@pytest.mark.parametrize(
    "context",
    [{}, {"set": types("ml.p6-b300.48xlarge")}],
    ids=["as-shipped", "newest-type"],
)
def test_cdk_finds_no_error(run_app: RunApp, folder: Path, context: dict[str, str]) -> None:
    """Its own validation, on as it is for everybody who runs the command line."""
    result = run_app(folder / "out", variables={"CDK_VALIDATION": ""}, env="prod", **context)
    assert (result.returncode, result.stderr) == (0, "")
    assert (folder / "out" / "validation-report.json").is_file()


def test_cdk_finds_an_error(folder: Path) -> None:
    """With the flags of cdk.json; a program of three lines, since it takes seconds."""
    program = f"""
import aws_cdk as cdk
app = cdk.App(context={dict(CONTEXT)!r}, outdir={str(folder)!r})
cdk.CfnResource(cdk.Stack(app, "Wrong"), "Bucket", type="AWS::S3::Bucket",
                properties={UNKNOWN_PROPERTY["Properties"]!r})
app.synth()
"""
    result: Completed = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": PROGRAMS, "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    (violation,) = report(folder)["violations"]
    assert violation["severity"] == "error"
    assert "BucketNam" in violation["description"]
