"""`dpd plan` from its arguments to what it prints."""

import argparse
import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpd.errors import UserError
from dpd.planner.command import add_parser

FLAGS = [
    "--model", "llama-3.3-70b", "--instance", "ml.p5.48xlarge", "--rate", "5", "--input", "4096",
    "--output", "256", "--ttft", "2s", "--itl", "30ms", "--requests", "1000",
]  # fmt: skip
ENVIRONMENTS = Path(__file__).parents[2] / "environments"


def plan(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="dpd")
    add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["plan", *arguments])
    status: int = parsed.run(parsed)
    return status


def refused(*arguments: str) -> str:
    with pytest.raises(UserError) as error:
        plan(*arguments)
    assert len(error.value.lines) == 1
    return error.value.lines[0]


def test_the_table_has_what_a_person_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict first, then the numbers, the reasons, the assumptions."""
    assert plan(*FLAGS) == 0
    text = capsys.readouterr().out
    assert text.startswith("Verdict: ")
    for word in ("TTFT p95", "within targets", "cost an hour", "Why", "How sure", "Assumptions"):
        assert word in text
    assert re.search(r"one prefill worker saturates at \d\.\d\d prompts a second", text)


def test_json_says_the_same_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """Same seed, same bytes; another seed, other numbers; the promised keys."""
    outputs = []
    for seed in ("0", "0", "1"):
        plan(*FLAGS, "--json", "--seed", seed)
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]
    data = json.loads(outputs[0])
    assert data["verdict"] in ("disaggregated", "colocated")
    assert {"prefillReplicas", "decodeReplicas", "routingThreshold", "pdBufferBytes"} <= set(data)
    assert data["alternatives"]["disaggregated"]["pdBufferBytes"] == 8 * 2**30
    gpus = {
        name: outcome["predicted"]["gpus"]
        for name, outcome in data["alternatives"].items()
        if outcome
    }
    assert gpus["colocatedSameGpus"] == gpus["disaggregated"]
    assert gpus["colocatedHalfGpus"] <= gpus["disaggregated"] / 2
    assert data["predicted"]["ttftSeconds"]["p95"] <= 2


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "line", "circle", "rect", "polyline"):
            self.open.append(tag)
        for name, value in attrs:
            assert name not in ("src", "href", "onload"), f"{tag} loads {value}"

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def test_the_page_is_self_contained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five plots with lines in them, and nothing that is loaded from anywhere."""
    target = tmp_path / "plan.html"
    plan(*FLAGS, "--html", str(target))
    text = target.read_text()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.tags.count("svg") == 5
    assert page.tags.count("polyline") >= 7
    assert "http" not in text.replace("https://docs.aws", "")
    assert "url(" not in text
    assert "nan" not in re.findall(r'points="([^"]*)"', text)


def test_an_environment_file_is_planned_and_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The written file loads again and holds the plan."""
    from dpd.config.loader import environment_from
    from dpd.config.source import read_source

    path = tmp_path / "prod.yaml"
    path.write_text((ENVIRONMENTS / "prod.yaml").read_text())
    (tmp_path / "traffic.yaml").write_text(
        "rate: 5\nclasses: [{input: {median: 2700, sigma: 0.8}, output: 180}]\n"
        "targets: {ttft: 2s, itl: {p99: 30ms}}\n"
    )
    traffic = str(tmp_path / "traffic.yaml")
    arguments = [str(path), "--endpoint", "chat", "--traffic", traffic, "--requests", "1000"]
    plan(*arguments, "--write", "--json", "--topology", "disaggregated")
    data = json.loads(capsys.readouterr().out)
    written = environment_from(read_source(path), name="prod").endpoints[0]
    assert written.topology == "disaggregated"
    assert written.prefill.replicas == data["prefillReplicas"]
    assert written.routing.threshold_tokens == data["routingThreshold"]
    assert written.kv_transfer.buffer_size == data["pdBufferBytes"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ttft", "1ms"], "target cannot be met: ttft p95 is "),
        (["--model", "lama"], "--model lama: unknown; "),
        (["--instance", "p5.48xlarge"], "did you mean 'ml.p5.48xlarge'?"),
        (["--model", "llama-3.1-405b"], "Llama 3.1 405B does not fit: TP 8 on H100: 72.0 GiB"),
        (["--concurrency", "3"], "--rate and --concurrency: give one of them"),
        (["--ttft", "2"], "targets.ttft.p95: given '2'"),
        (["--rate", "-1"], "rate: given -1.0"),
        (["--input", "0"], "classes.0.input: given 0; allowed: a number of tokens from 1 up"),
        (["--input", "17000"], "more than the longest request of 16384"),
        (["--max-nodes", "0"], "--max-nodes 0: allowed: 1 to 64"),
        (["--rate", "100", "--max-nodes", "2", "--ttft", "9h", "--itl", "9h"], "cannot be served"),
        (["--write"], "--write changes an environment file; give one"),
    ],
    ids=lambda value: "-".join(value).strip("-") if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(arguments: list[str], says: str) -> None:
    """What was given, what is allowed, what to do."""
    assert says in refused(*FLAGS, *arguments)


def test_a_broken_trace_names_its_line(tmp_path: Path) -> None:
    """File and line number."""
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival,input,output\n0,100,10\n1,many,10\n")
    where = FLAGS[:4]
    assert refused(*where, "--trace", str(trace)).startswith(f"{trace}:3: input is 'many'")


def test_registering_the_command_imports_nothing_heavy() -> None:
    """The command line starts without numpy, numba or pydantic models of the planner."""
    script = (
        "import argparse, sys; from dpd.planner.command import add_parser;"
        "add_parser(argparse.ArgumentParser().add_subparsers());"
        "print(sorted({'numpy', 'numba', 'ruamel', 'pydantic', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
