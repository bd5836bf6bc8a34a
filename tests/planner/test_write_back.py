"""What `--write` changes in a file, and what it leaves alone."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from dpd.cli import errors_in
from dpd.errors import UserError
from dpd.planner.memory import GIB
from dpd.planner.plan import Plan
from dpd.planner.write_back import write_plan

ENVIRONMENTS = Path(__file__).parents[2] / "environments"
CHAT = """\
  - name: chat
    topology: disaggregated
    model: Llama-3.3-70B-Instruct
    prefill: {instanceGroup: prefill, replicas: 1}  # one is enough
    decode:   # comments stay
        instanceGroup: decode
        args:
          # why: bursts
          - "--enforce-eager"   # for now
          - --max-num-seqs=64
    routing: {thresholdTokens:  4096, strategy: "prefixaware"}
    kvTransfer: {bufferSize: "8GiB"}
    cpu: 96
    # the end
"""
OTHER = """\
  - name: other
    topology: colocated
    model: Llama-3.3-70B-Instruct
    workers: {instanceGroup: decode}
"""
PLAN = Plan(
    tensor_parallel=8,
    prefill_replicas=1,
    routing_threshold=4096,
    pd_buffer_bytes=8 * GIB,
    decode_max_num_seqs=64,
)
COLOCATED = Plan(tensor_parallel=8, decode_replicas=3, decode_max_num_seqs=256)


def environment(endpoints: str, *, counts: str = "") -> str:
    """The shipped example with other endpoints, and numbers of nodes where they are given."""
    text = (ENVIRONMENTS / "prod.yaml").read_text(encoding="utf-8")
    head = text[: text.index("endpoints:")].replace("p5.48xlarge}", f"p5.48xlarge{counts}}}")
    return f"{head}endpoints:\n  # Only one is changed.\n{endpoints}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "prod.yaml"
    path.write_text(environment(OTHER + CHAT), encoding="utf-8")
    return path


def write(path: Path, plan: Plan, share: float = 0.75) -> list[str]:
    return write_plan(
        path, endpoint="chat", plan=plan, gpu_memory_utilization=share, errors_in=errors_in
    )


def test_the_same_plan_changes_nothing(path: Path) -> None:
    """Not a byte, and no file is written."""
    before = path.stat()
    assert write(path, PLAN) == []
    assert path.stat().st_ino == before.st_ino
    assert path.read_text() == environment(OTHER + CHAT)


BIGGER = replace(
    PLAN,
    prefill_replicas=2,
    routing_threshold=8192,
    pd_buffer_bytes=16 * GIB,
    decode_max_num_seqs=128,
    decode_max_num_batched_tokens=4096,
    prefill_max_num_batched_tokens=4096,
)
BIGGER_CHAT = (
    CHAT.replace(
        "prefill: {instanceGroup: prefill, replicas: 1}",
        "prefill: {instanceGroup: prefill, replicas: 2, "
        'args: ["--max-num-batched-tokens", "4096"]}',
    )
    .replace("thresholdTokens:  4096", "thresholdTokens:  8192")
    .replace('"8GiB"', '"16GiB"')
    .replace(
        "--max-num-seqs=64\n",
        '--max-num-seqs=128\n          - "--max-num-batched-tokens"\n          - "4096"\n',
    )
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_only_the_changed_values_differ(path: Path, line_end: str) -> None:
    """Comments, quotes, spaces, indents, line ends, order and the other endpoint stay."""
    path.write_bytes(environment(OTHER + CHAT).replace("\n", line_end).encode())
    changes = write(path, BIGGER)
    expected = environment(OTHER + BIGGER_CHAT).replace("\n", line_end)
    assert path.read_bytes().decode() == expected
    assert len(changes) == 5
    assert "prefill.replicas: 1 -> 2" in changes


def test_a_flag_is_found_in_every_spelling(path: Path) -> None:
    """Underscores, abbreviations and a value of its own are the same flag, which stands once."""
    for before, after in (
        ('["--max_num_seqs", "64"]', '["--max_num_seqs", "32"]'),
        ("['--max-num-s=64']", "['--max-num-s=32']"),
        ("[]", "[]"),
    ):
        chat = CHAT[: CHAT.index("    decode:")] + "    decode: {instanceGroup: decode, args: %s}\n"
        path.write_text(environment(chat % before))
        write(path, replace(PLAN, decode_max_num_seqs=32))
        assert path.read_text() == environment(chat % after)


def test_json_stays_json(path: Path) -> None:
    """Keys and values that are added are quoted like those around them."""
    import json

    import yaml

    data = yaml.safe_load(environment(CHAT))
    path.write_text(json.dumps(data, indent=2))
    write(path, BIGGER)
    written = json.loads(path.read_text())["endpoints"][0]
    assert written["prefill"]["args"] == ["--max-num-batched-tokens", "4096"]
    assert written["kvTransfer"] == {"bufferSize": "16GiB"}


def test_lists_without_indent_keep_it(path: Path) -> None:
    """The file's own style of lists is taken over."""
    flat = "- name: chat\n  topology: colocated\n  model: Llama-3.3-70B-Instruct\n"
    flat += "  workers: {instanceGroup: decode}"  # and no line end behind it
    path.write_text(environment(flat))
    write(path, replace(COLOCATED, decode_replicas=2))
    assert path.read_text() == environment(
        flat.replace("decode}", 'decode, replicas: 2, args: ["--max-num-seqs", "256"]}')
    )


def test_a_colocated_plan_replaces_the_roles_in_place(path: Path) -> None:
    """`workers` stands where `prefill` stood; what only disaggregation has is gone."""
    changes = write(path, COLOCATED, share=0.9)
    text = path.read_text()
    assert (
        "    workers: {instanceGroup: decode, replicas: 3, "
        'args: ["--max-num-seqs", "256"]}  # one is enough\n'
        '    routing: {strategy: "prefixaware"}\n'
        "    cpu: 96\n"
        "    gpuMemoryUtilization: 0.9\n"
        "    # the end\n"
    ) in text
    for word in ("prefill:", "decode:", "kvTransfer", "thresholdTokens"):
        assert word not in text.split("endpoints:")[1]
    assert "workers: on instance group decode, as decode was" in changes
    assert "instance group prefill: this endpoint no longer uses it" in changes
    assert "decode.args: left out: --enforce-eager --max-num-seqs=64" in changes


def test_there_and_back_is_a_disaggregated_endpoint_again(path: Path) -> None:
    """Values are those of the plan, defaults stay unwritten, the groups are named."""
    write(path, COLOCATED, share=0.9)
    changes = write(path, replace(PLAN, prefill_replicas=2))
    text = path.read_text()
    assert "prefill: {instanceGroup: decode, replicas: 2}" in text
    assert "gpuMemoryUtilization: 0.75" in text
    assert "kvTransfer" not in text
    assert "prefill, decode: both on instance group decode, as workers were" in changes


def test_numbers_of_nodes_are_raised_with_the_replicas(path: Path) -> None:
    """Only where the file gives one and more are needed."""
    path.write_text(environment(CHAT, counts=", count: 1"))
    changes = write(path, replace(PLAN, prefill_replicas=3))
    text = path.read_text()
    assert "{name: prefill, instanceType: ml.p5.48xlarge, count: 3}" in text
    assert "{name: decode, instanceType: ml.p5.48xlarge, count: 1}" in text
    assert "instanceGroups prefill.count: 1 -> 3" in changes


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("cpu: 96\n    memory: 1536GiB", "cpu: 48\n    memory: 768GiB"),
        ("cpu: 40\n    memory: 256GiB", "cpu: 40\n    memory: 256GiB"),
        ("namespace: x", "namespace: x"),
    ],
    ids=["too-large", "fits", "not-given"],
)
def test_smaller_workers_share_the_host(path: Path, given: str, after: str) -> None:
    """Two workers on a node have half of it; what is not given stays so."""
    path.write_text(environment(CHAT.replace("cpu: 96", given)))
    write(path, replace(PLAN, tensor_parallel=4))
    assert f"    {after}\n    tensorParallelSize: 4\n" in path.read_text()


def test_nothing_is_written_that_would_be_an_error(path: Path) -> None:
    """Neither what the file's own model refuses nor what only the rules find."""
    chat = CHAT + "    overrides: {pdSpec: {topologySpec: {sameAZ: true}}}\n"
    path.write_text(environment(chat))
    with pytest.raises(UserError):
        write(path, COLOCATED, share=0.9)
    with pytest.raises(UserError, match="not written"):
        write(path, replace(PLAN, pd_buffer_bytes=200 * GIB))
    assert path.read_text() == environment(chat)
    assert [file.name for file in path.parent.iterdir()] == ["prod.yaml"]


def test_errors_that_were_there_before_do_not_keep_a_plan_out(path: Path) -> None:
    """Another endpoint's buffer is none of this plan's business."""
    other = CHAT.replace("chat", "second").replace('"8GiB"', "200GiB")
    path.write_text(environment(other + CHAT))
    assert "prefill.replicas: 1 -> 2" in write(path, BIGGER)


def test_the_files_mode_and_a_link_to_it_stay(path: Path) -> None:
    """The new content comes at once, under the old name."""
    path.chmod(0o640)
    link = path.with_name("link.yaml")
    link.symlink_to(path)
    write(link, BIGGER)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "16GiB" in path.read_text()


def self_managed(path: Path, old: str = "", new: str = "") -> str:
    text = (ENVIRONMENTS / "self-managed.yaml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path.read_text()


def test_a_self_managed_endpoint_has_neither_buffer_nor_threshold(path: Path) -> None:
    """NIXL needs none, and the router knows none; decode may have several workers."""
    before = self_managed(path)
    plan = Plan(tensor_parallel=8, prefill_replicas=3, decode_replicas=2)
    changes = write(path, plan, share=0.9)
    assert changes == ["prefill.replicas: 1 -> 3", "decode.replicas: 1 -> 2"]
    assert path.read_text() == before.replace(
        "prefill, replicas: 1", "prefill, replicas: 3", 1
    ).replace("decode, replicas: 1", "decode, replicas: 2", 1)


def test_autoscaling_keeps_its_workers(path: Path) -> None:
    """The number of workers is then not the file's to say."""
    before = self_managed(
        path,
        "    prefill: {instanceGroup: prefill, replicas: 1}\n",
        "    prefill: {instanceGroup: prefill, autoscaling: {minReplicas: 1, maxReplicas: 4}}\n"
        "    monitoring: {namespace: m, prometheusUrl: 'http://prometheus.m:9090'}\n",
    )
    plan = Plan(tensor_parallel=8, prefill_replicas=3)
    changes = write(path, plan, share=0.9)
    assert changes == ["prefill.replicas: left to its autoscaling; the plan has 3"]
    assert path.read_text() == before


def test_what_a_router_cannot_do_is_not_written(path: Path) -> None:
    """The colocated endpoint's strategy is unknown between prefill and decode workers."""
    before = self_managed(path)
    plan = Plan(tensor_parallel=8, prefill_replicas=1)
    with pytest.raises(UserError, match="prefixaware"):
        write_plan(
            path,
            endpoint="chat-colocated",
            plan=plan,
            gpu_memory_utilization=0.9,
            errors_in=errors_in,
        )
    assert path.read_text() == before
