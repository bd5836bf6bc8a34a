"""The `dpd` command, as a process and as a function."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpd.cli import main
from dpd.rules.check import all_rules

ROOT = Path(__file__).parents[1]
FILES = ROOT / "tests/rules/files"
GOOD = FILES / "disaggregated.yaml"


def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dpd", *words]
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, check=False)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.yaml"
    text = GOOD.read_text(encoding="utf-8")
    text = text.replace("routingThreshold: 4096", "routingThreshold: 20000")
    file.write_text(text.replace("{healthCheckPath: /health}", "{}"), encoding="utf-8")
    return file


def test_exit_status_tells_how_bad_it_is(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(GOOD)]) == 0
    assert main(["check", str(bad)]) == 1
    assert main(["check", str(GOOD), "absent.yaml", str(bad)]) == 2
    out, err = capsys.readouterr()
    assert err == "error: absent.yaml: cannot be read: No such file or directory\n"
    assert "DPD701" in out


def test_text_is_one_line_for_each_finding(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(bad)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{bad}:16: note DPD703: spec.loadBalancer.healthCheckPath: given")
    assert lines[1].startswith(f"{bad}:21: error DPD701: spec.pdSpec.routingThreshold: given 20000")
    assert lines[2] == "1 error, 1 note in 1 file"


def test_json_is_a_list_of_findings(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--json", str(bad)])
    first, second = json.loads(capsys.readouterr().out)
    keys = ["rule", "severity", "file", "line", "path", "message", "fix", "source"]
    assert list(first) == list(second) == keys
    assert (second["rule"], second["severity"], second["line"]) == ("DPD701", "error", 21)


def test_severity_hides_what_is_milder(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--severity", "error", "--json", str(bad)]) == 1
    assert [each["rule"] for each in json.loads(capsys.readouterr().out)] == ["DPD701"]


def test_ignored_rules_do_not_count(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ignore", "DPD701,dpd703", str(bad)]) == 0
    assert capsys.readouterr().out == "nothing found in 1 file\n"


def test_an_unknown_rule_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--ignore", "DPD7O1", str(GOOD)]) == 2
    assert "did you mean DPD701?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chek", "x"], "did you mean check?"),
        (["check", "--severty", "error", "x"], "did you mean --severity?"),
        (["check", "--severity", "errors", "x"], "did you mean error?"),
        (["explain"], "required: ID"),
        ([], "required: COMMAND"),
    ],
)
def test_wrong_words_get_the_nearest(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as status:
        main(words)
    assert status.value.code == 2
    assert told in capsys.readouterr().err


def test_stdin_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.read_bytes().replace(b"routingThreshold: 4096", b"routingThreshold: 0")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["check", "-"]) == 0
    assert capsys.readouterr().out.startswith("-:21: note DPD702: ")


def test_endless_stdin_is_one_line() -> None:
    done = run("check", "-", stdin=b"a" * 1_100_000)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: -: larger than 1000000 bytes")


def test_colour_is_for_terminals_only(
    bad: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(bad)])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["check", str(bad)])
    assert "\x1b[31merror\x1b[0m DPD701" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["check", str(bad)])
    assert "\x1b" not in capsys.readouterr().out


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(all_rules())
    assert main(["rules", "--json"]) == 0
    assert {each["id"] for each in json.loads(capsys.readouterr().out)} == {
        rule.id for rule in all_rules()
    }


def test_a_rule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "dpd302"]) == 0
    assert capsys.readouterr().out.startswith("DPD302 (error, memory): The transfer buffer holds")


def test_module_and_version_work() -> None:
    assert run("--version").stdout.startswith(b"dpd ")
    assert run("check", "-", stdin=GOOD.read_bytes()).stdout == b"nothing found in 1 file\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m dpd rules | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, check=False)
    assert done.stderr == b""


@pytest.mark.parametrize(
    "words", [["rules"], ["--help"], ["plan", "--help"], ["check", str(GOOD)]], ids=" ".join
)
def test_a_full_device_is_one_line(words: list[str]) -> None:
    """Also when Python would only find it at its very end."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dpd", *words],
            cwd=ROOT,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    said = b"error: the output: cannot be written or read: No space left on device\n"
    assert done.stderr == said


def test_any_file_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a command forgot to think of."""

    def failing(_: object) -> int:
        raise OSError(5, "Input/output error", "disk.yaml")

    monkeypatch.setattr("dpd.rules.command.run_rules", failing)
    assert main(["rules"]) == 2
    error = "error: disk.yaml: cannot be written or read: Input/output error\n"
    assert capsys.readouterr().err == error


def test_an_interrupt_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpd.rules.command.run_rules", interrupted)
    assert main(["rules"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_shipped_environments_have_no_errors(name: str) -> None:
    done = run("check", "--severity", "error", f"environments/{name}.yaml")
    assert (done.returncode, done.stdout) == (0, b"nothing found in 1 file\n")


def test_check_of_an_environment_imports_nothing_heavy() -> None:
    """No CDK, no AWS, no numbers, not even the custom resource's models."""
    code = (
        "import sys\nfrom dpd.cli import main\nmain(['check', 'environments/prod.yaml'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    modules = set(done.stderr.decode().split())
    heavy = {"jsii", "aws_cdk", "constructs", "cdk8s", "boto3", "numpy", "kubernetes", "jsonschema"}
    assert not modules & heavy
    models = ("dpd.manifest.base", "dpd.planner.s")
    assert not {each for each in modules if each.startswith(models)}
    assert "dpd.rules.memory" in modules
