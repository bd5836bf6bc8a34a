"""Puts a plan into an environment file; comments, order and everything else stay."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

from dpd.planner.memory import GIB
from dpd.planner.plan import Plan

_FLAGS = ("--max-num-seqs", "--max-num-batched-tokens")
_DEFAULTS = {"prefill": ("16", "8192"), "decode": ("32", "8192"), "workers": (None, "8192")}
"""What the operator (sequences) and vLLM on these GPUs (tokens) take where no flag is given."""


def write_plan(
    path: Path, *, endpoint: str, plan: Plan, gpu_memory_utilization: float
) -> list[str]:
    """Change one endpoint of the file; return the lines that say what was changed."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    text = path.read_text(encoding="utf-8")
    # Lists are written with one indent throughout; take that of the endpoints.
    found = re.search(r"^endpoints:.*\n(?:[ ]*(?:#.*)?\n)*([ ]*)-", text, flags=re.MULTILINE)
    offset = len(found[1]) if found else 2
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    data = yaml.load(text)
    node = next(item for item in data["endpoints"] if item["name"] == endpoint)
    changes: list[str] = []
    _change_topology(node, plan, changes)
    _set(node, ("tensorParallelSize",), plan.tensor_parallel, changes, default=8)
    share = gpu_memory_utilization
    _set(node, ("gpuMemoryUtilization",), share, changes, default=0.75)
    if plan.is_disaggregated:
        _set(node, ("prefill", "replicas"), plan.prefill_replicas, changes, default=1)
        _set(node, ("decode", "replicas"), plan.decode_replicas, changes, default=1)
        threshold = plan.routing_threshold
        _set(node, ("routing", "thresholdTokens"), threshold, changes, default=4096)
        size = _size(plan.pd_buffer_bytes)
        _set(node, ("kvTransfer", "bufferSize"), size, changes, default="8GiB")
        _set_args(
            node,
            "prefill",
            (plan.prefill_max_num_seqs, plan.prefill_max_num_batched_tokens),
            changes,
        )
        role = "decode"
    else:
        _set(node, ("workers", "replicas"), plan.decode_replicas, changes, default=1)
        role = "workers"
    _set_args(node, role, (plan.decode_max_num_seqs, plan.decode_max_num_batched_tokens), changes)
    stream = StringIO()
    yaml.dump(data, stream)
    if changes:
        path.write_text(stream.getvalue(), encoding="utf-8")
    return changes


def _change_topology(node: Any, plan: Plan, changes: list[str]) -> None:
    """Replace the roles of the other topology; the new ones stand where the old ones did."""
    wanted = "disaggregated" if plan.is_disaggregated else "colocated"
    if node["topology"] == wanted:
        return
    changes.append(f"topology: {node['topology']} -> {wanted}")
    node["topology"] = wanted
    if plan.is_disaggregated:
        place = list(node).index("workers")
        group = node.pop("workers")["instanceGroup"]
        node.insert(place, "prefill", _on_one_line({"instanceGroup": group}))
        node.insert(place + 1, "decode", _on_one_line({"instanceGroup": group}))
        return
    place = list(node).index("prefill")
    group = node["decode"]["instanceGroup"]
    for key in ("prefill", "decode", "kvTransfer"):
        node.pop(key, None)
    node.get("routing", {}).pop("thresholdTokens", None)
    if "routing" in node and not node["routing"]:
        node.pop("routing")
    node.insert(place, "workers", _on_one_line({"instanceGroup": group}))


def _set(node: Any, path: tuple[str, ...], value: Any, changes: list[str], *, default: Any) -> None:
    """Set a value, unless the file says the same already or leaves it at the same default."""
    *parents, key = path
    inner = node
    for parent in parents:
        inner = inner.get(parent, {})
    before = inner.get(key, default)
    if before == value:
        return
    changes.append(f"{'.'.join(path)}: {before} -> {value}")
    for parent in parents:
        if parent not in node:
            node[parent] = _on_one_line({})
        node = node[parent]
    node[key] = value


def _on_one_line(values: dict[str, Any]) -> Any:
    """Return a mapping that is written as `{key: value}`, like those it stands beside."""
    from ruamel.yaml.comments import CommentedMap

    mapping = CommentedMap(values)
    mapping.fa.set_flow_style()
    return mapping


def _set_args(node: Any, role: str, values: tuple[int, int], changes: list[str]) -> None:
    """Set vLLM flags in the role's `args`, in place where they are there."""
    workers = node[role]
    before = [str(arg) for arg in workers.get("args", [])]
    args = list(before)
    shared = [str(arg).split("=", 1)[0] for arg in (*node.get("args", []), *before)]
    for flag, value, default in zip(_FLAGS, values, _DEFAULTS[role], strict=True):
        if flag in shared or str(value) != default:
            _replace_flag(args, flag, str(value))
    if args == before:
        return
    changes.append(f"{role}.args: {' '.join(before) or '(none)'} -> {' '.join(args)}")
    from ruamel.yaml.comments import CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    sequence = CommentedSeq(DoubleQuotedScalarString(arg) for arg in args)
    sequence.fa.set_flow_style()
    workers["args"] = sequence


def _replace_flag(args: list[str], flag: str, value: str) -> None:
    for place, arg in enumerate(args):
        if arg.startswith(f"{flag}="):
            args[place] = f"{flag}={value}"
            return
        if arg == flag and place + 1 < len(args):
            args[place + 1] = value
            return
    args += [flag, value]


def _size(amount_bytes: int) -> str:
    if amount_bytes % GIB == 0:
        return f"{amount_bytes // GIB}GiB"
    return f"{-(-amount_bytes // 2**20)}MiB"
