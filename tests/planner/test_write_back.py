"""What `--write` changes in a file, and what it leaves alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from dpd.planner.memory import GIB
from dpd.planner.plan import Plan
from dpd.planner.write_back import write_plan

FILE = """\
# The first line stays.
region: us-east-2   # and so does this

endpoints:
  # Two endpoints; only one is changed.
  - name: other
    topology: colocated
    workers: {instanceGroup: gpu}
  - name: chat
    topology: disaggregated
    model: Llama
    prefill: {instanceGroup: prefill, replicas: 1}  # one is enough
    decode:
      instanceGroup: decode
      args: ["--enforce-eager", "--max-num-seqs=64"]
    routing: {thresholdTokens: 4096, strategy: "prefixaware"}
    kvTransfer: {bufferSize: 8GiB}
    cpu: 96
"""
PLAN = Plan(
    tensor_parallel=8,
    prefill_replicas=1,
    routing_threshold=4096,
    pd_buffer_bytes=8 * GIB,
    decode_max_num_seqs=64,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "prod.yaml"
    path.write_text(FILE)
    return path


def write(path: Path, plan: Plan, share: float = 0.75) -> list[str]:
    return write_plan(path, endpoint="chat", plan=plan, gpu_memory_utilization=share)


def test_the_same_plan_changes_nothing(path: Path) -> None:
    """Not a byte."""
    assert write(path, PLAN) == []
    assert path.read_text() == FILE


def test_only_the_changed_values_differ(path: Path) -> None:
    """Comments, quotes, order and the other endpoint stay."""
    plan = replace(
        PLAN,
        prefill_replicas=2,
        routing_threshold=2048,
        pd_buffer_bytes=16 * GIB,
        decode_max_num_seqs=128,
        prefill_max_num_batched_tokens=4096,
    )
    changes = write(path, plan)
    expected = (
        FILE.replace(
            "prefill: {instanceGroup: prefill, replicas: 1}",
            "prefill: {instanceGroup: prefill, replicas: 2, "
            'args: ["--max-num-batched-tokens", "4096"]}',
        )
        .replace("thresholdTokens: 4096", "thresholdTokens: 2048")
        .replace("bufferSize: 8GiB", "bufferSize: 16GiB")
        .replace("--max-num-seqs=64", "--max-num-seqs=128")
    )
    # A comment behind a line that grew moves to one space behind it.
    assert path.read_text().replace("]} #", "]}  #") == expected
    assert len(changes) == 5
    assert "prefill.replicas: 1 -> 2" in changes


def test_lists_without_indent_keep_it(path: Path) -> None:
    """The file's own style of lists is taken over."""
    flat = "endpoints:\n- name: chat\n  topology: colocated\n  workers: {instanceGroup: gpu}\n"
    path.write_text(flat)
    write(path, Plan(tensor_parallel=8, decode_replicas=2, decode_max_num_seqs=256))
    assert path.read_text() == flat.replace(
        "gpu}", 'gpu, replicas: 2, args: ["--max-num-seqs", "256"]}'
    )


def test_a_colocated_plan_replaces_the_roles_in_place(path: Path) -> None:
    """`workers` stands where `prefill` stood; what only disaggregation has is gone."""
    plan = Plan(tensor_parallel=8, decode_replicas=3, decode_max_num_seqs=256)
    write(path, plan, share=0.9)
    text = path.read_text()
    assert (
        "topology: colocated\n    model: Llama\n    workers: {instanceGroup: decode, replicas: 3"
        in text
    )
    assert "gpuMemoryUtilization: 0.9" in text
    assert 'routing: {strategy: "prefixaware"}' in text
    for word in ("prefill:", "decode:", "kvTransfer", "thresholdTokens"):
        assert word not in text


def test_there_and_back_is_a_disaggregated_endpoint_again(path: Path) -> None:
    """Values are those of the plan, defaults stay unwritten."""
    write(path, Plan(tensor_parallel=8, decode_replicas=3, decode_max_num_seqs=256), share=0.9)
    write(path, replace(PLAN, prefill_replicas=2))
    text = path.read_text()
    assert "prefill: {instanceGroup: decode, replicas: 2}" in text
    assert "gpuMemoryUtilization: 0.75" in text
    assert "kvTransfer" not in text
