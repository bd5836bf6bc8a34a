"""`dpd plan` from its arguments to what it prints."""

import argparse
import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpd.cli import errors_in
from dpd.errors import UserError
from dpd.planner.command import add_parser

FLAGS = [
    "--model", "llama-3.3-70b", "--instance", "ml.p5.48xlarge", "--rate", "5", "--input", "4096",
    "--output", "256", "--ttft", "2s", "--itl", "30ms", "--requests", "1000",
]  # fmt: skip
ENVIRONMENTS = Path(__file__).parents[2] / "environments"
DOCS = Path(__file__).parents[2] / "docs/planner.md"


def plan(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="dpd")
    parser.set_defaults(errors_in=errors_in)
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
    assert data["alternatives"]["disaggregated"]["pdBufferBytes"] >= 8 * 2**30
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
    """Seven plots with lines in them, and nothing that is loaded from anywhere."""
    target = tmp_path / "plan.html"
    plan(*FLAGS, "--html", str(target))
    text = target.read_text()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.tags.count("svg") == 7
    assert page.tags.count("polyline") >= 7
    assert "http" not in text.replace("https://docs.aws", "")
    assert "url(" not in text
    titles = re.findall(r'aria-label="([^"]*)"', text)
    assert len(set(titles)) == len(titles)
    head = re.findall(r"<th>([^<]+)</th>", text)
    legends = set(re.findall(r">(disaggregated|colocated[^<0-9]*)</text>", text))
    legends = {name.removesuffix(", prefill").removesuffix(", decode") for name in legends}
    assert legends == {"disaggregated", "colocated, same GPUs"} <= set(head)
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
        (["--ttft", ""], "targets.ttft.p95: given ''"),
        (["--ttft", "0s"], "targets.ttft.p95: given '0s'; allowed: 0.1ms to 24h"),
        (["--itl", "p50:0ms"], "targets.itl.p50: given '0ms'; allowed: 0.1ms to 24h"),
        (["--ttft", "p50:1s,p50:2s"], "write 2s, or p50:1s,p99:2s, each once"),
        (["--ttft", "p75:1s"], "targets.ttft.p75: unknown key; did you mean 'p95'?"),
        (["--rate", "inf"], "rate: given inf; allowed: 100000.0 or less"),
        (["--rate", "nan"], "rate: given nan; allowed: "),
        (["--shared-prefix", "nan"], "sharedPrefix: given nan; allowed: "),
        (["--endpoint", "chat"], "--endpoint chat without an environment file"),
        (["--traffic", "x"], "--input and --output beside --traffic"),
        (["--topology", "disaggregated", "--max-nodes", "1"], "take a node each"),
        (["--html", "/nowhere/x.html"], "/nowhere/x.html: there is no folder /nowhere"),
        (["--html", "/"], "/: is a folder; give a file"),
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


@pytest.mark.parametrize("flag", ["--model", "--instance", "--runtime"])
def test_what_the_environment_file_says_is_not_said_again(flag: str) -> None:
    """Else one of the two would be passed over."""
    value = {"--model": "llama-3.3-70b", "--instance": "ml.p5.48xlarge", "--runtime": "operator"}
    line = refused(str(ENVIRONMENTS / "prod.yaml"), *FLAGS[4:], flag, value[flag])
    assert line.startswith(f"{flag} beside ")


def test_users_need_requests() -> None:
    """A run of the first and the last round of each user measures nothing."""
    flags = [*FLAGS[:4], *FLAGS[6:10], "--concurrency", "300"]
    line = refused(*flags, "--requests", "2999")
    assert line == "--requests 2999: too few for 300 users at a time; allowed: 3000 or more"


@pytest.mark.parametrize("target", ["ttft", "itl", "e2e"])
@pytest.mark.parametrize("limit", ["9h", "p50:8h", "p50:8h,p90:8h,p95:8h,p99:9h"])
def test_every_target_can_be_given(
    target: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line; a limit that nothing meets is named with its percentile."""
    flags = [*FLAGS[:10], "--requests", "300"]
    assert plan(*flags, f"--{target}", limit, "--json") == 0
    assert json.loads(capsys.readouterr().out)["predicted"]["meetsTargets"] is True
    last = limit.rsplit(",", 1)[-1].partition(":")[0] if ":" in limit else "p95"
    tight = re.sub(r"(.*)[0-9]h$", r"\g<1>0.1ms", limit)
    with pytest.raises(UserError) as error:
        plan(*flags, "--max-nodes", "2", f"--{target}", tight)
    assert error.value.lines[0].startswith(f"target cannot be met: {target} {last} is ")


def test_the_example_of_the_documentation_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traffic profile in docs/planner.md, with the file that it names."""
    (example,) = re.findall(r"```yaml\n(rate: .*?)```", DOCS.read_text(), flags=re.DOTALL)
    path = tmp_path / "traffic.yaml"
    path.write_text(example)
    assert plan(*FLAGS[:4], "--traffic", str(path), "--requests", "1000", "--json") == 0
    assert json.loads(capsys.readouterr().out)["predicted"]["endToEndSeconds"]["p95"] <= 20


def test_output_is_tried_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits a minute to hear that a folder is missing."""

    def searched(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("dpd.planner.verdict.answer", searched)
    assert "there is no folder" in refused(*FLAGS, "--html", str(tmp_path / "none" / "x.html"))


def test_a_full_device_is_one_line() -> None:
    """Found only when the page is written."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    assert refused(*FLAGS, "--html", "/dev/full").startswith("/dev/full: cannot be written: ")


@pytest.mark.parametrize(("endpoint", "text"), [("chat", "nixl"), ("chat-colocated", "nixl")])
def test_self_managed_endpoints_are_planned(
    endpoint: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """NIXL has no buffer, and this router sends every prompt to prefill."""
    path = str(ENVIRONMENTS / "self-managed.yaml")
    plan(path, "--endpoint", endpoint, *FLAGS[4:], "--json", "--topology", "disaggregated")
    data = json.loads(capsys.readouterr().out)
    assert data["assumptions"]["connector"] == text
    assert data["routingThreshold"] == 0
    assert data["pdBufferBytes"] is None
    assert data["predicted"]["meetsTargets"] is True


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
