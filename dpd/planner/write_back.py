"""Puts a plan into an environment file; comments, order and everything else stay."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpd.catalog.vllm_flags import parse
from dpd.config import AnyEndpoint, Environment
from dpd.config.capacity import Group, node_room, required_nodes
from dpd.config.loader import environment_from
from dpd.config.report import validate
from dpd.config.source import KeyPath, parse_documents, read_bytes
from dpd.config.units import bytes_text
from dpd.errors import UserError
from dpd.planner.defaults import (
    DECODE_MAX_NUM_SEQS,
    DPD_GPU_MEMORY_UTILIZATION,
    MAX_NUM_BATCHED_TOKENS,
    PD_BUFFER_BYTES,
    PREFILL_MAX_NUM_SEQS,
    THRESHOLD_TOKENS,
)
from dpd.planner.output import replace_file
from dpd.planner.plan import Plan
from dpd.planner.yaml_text import YamlText

_FLAGS = ("max-num-seqs", "max-num-batched-tokens")
_DEFAULTS: Mapping[str, tuple[int | None, int]] = {
    "prefill": (PREFILL_MAX_NUM_SEQS, MAX_NUM_BATCHED_TOKENS),
    "decode": (DECODE_MAX_NUM_SEQS, MAX_NUM_BATCHED_TOKENS),
    "workers": (None, MAX_NUM_BATCHED_TOKENS),
}
"""What workers of a role take where no flag is given."""
_OF_DISAGGREGATION = ("decode", "kvTransfer", "efaDevices", "hugepages", "privileged")
"""Keys that a colocated endpoint does not have; `workers` takes the place of `prefill`."""

ErrorsIn = Callable[[bytes, str], Mapping[tuple[str, str], str]]
"""Returns what `dpd check` finds wrong in a file's content: a line by rule and path."""


def write_plan(
    path: Path, *, endpoint: str, plan: Plan, gpu_memory_utilization: float, errors_in: ErrorsIn
) -> list[str]:
    """Change one endpoint of the file, and the nodes that it needs; return what was changed.

    Raises:
        UserError: the file cannot be read or written, or would have errors that it has not now.
            Nothing is written then.
    """
    raw = read_bytes(path, name=str(path))
    environment = environment_from(parse_documents(raw, name=str(path))[0], name=path.stem)
    index = [each.name for each in environment.endpoints].index(endpoint)
    change = _Change(YamlText(raw.decode()), environment, index)
    change.endpoint(plan, gpu_memory_utilization)
    change.group_counts(path)
    if not change.said:
        return []
    written = change.text.text.encode()
    _refuse_new_errors(path, raw, written, errors_in)
    replace_file(path, written)
    return change.said


def _refuse_new_errors(path: Path, before: bytes, after: bytes, errors_in: ErrorsIn) -> None:
    environment_from(parse_documents(after, name=f"{path} with the plan")[0], name=path.stem)
    known = errors_in(before, str(path))
    new = [line for key, line in errors_in(after, str(path)).items() if key not in known]
    if new:
        raise UserError(f"{path}: not written, as the plan would make errors:", *new)


class _Change:
    def __init__(self, text: YamlText, environment: Environment, index: int) -> None:
        self.text = text
        self.said: list[str] = []
        self._environment = environment
        self._before: AnyEndpoint = environment.endpoints[index]
        self._here: KeyPath = ("endpoints", index)

    def endpoint(self, plan: Plan, gpu_memory_utilization: float) -> None:
        """Write the plan's values."""
        before, is_operators = self._before, self._before.runtime == "operator"
        self._resources(plan.tensor_parallel)
        self._topology(plan)
        self._set("tensorParallelSize", value=plan.tensor_parallel, default=8)
        self._set(
            "gpuMemoryUtilization", value=gpu_memory_utilization, default=DPD_GPU_MEMORY_UTILIZATION
        )
        replicas = {"workers": plan.decode_replicas}
        if plan.is_disaggregated:
            replicas = {"prefill": plan.prefill_replicas, "decode": plan.decode_replicas}
        for role, number in replicas.items():
            workers = before.roles.get(role)
            if workers is not None and getattr(workers, "autoscaling", None):
                self.said.append(f"{role}.replicas: left to its autoscaling; the plan has {number}")
            else:
                self._set(role, "replicas", value=number, default=1)
        decode = (plan.decode_max_num_seqs, plan.decode_max_num_batched_tokens)
        if not plan.is_disaggregated:
            self._args("workers", decode)
            return
        threshold = THRESHOLD_TOKENS if is_operators else 0
        self._set("routing", "thresholdTokens", value=plan.routing_threshold, default=threshold)
        if plan.pd_buffer_bytes and plan.pd_buffer_bytes != self._buffer_bytes():
            # In whole MiB, rounded up: no file needs it finer.
            size = bytes_text(-(-plan.pd_buffer_bytes // 2**20) * 2**20)
            self._set("kvTransfer", "bufferSize", value=size, default=bytes_text(PD_BUFFER_BYTES))
        prefill = (plan.prefill_max_num_seqs, plan.prefill_max_num_batched_tokens)
        self._args("prefill", prefill)
        self._args("decode", decode)

    def _buffer_bytes(self) -> int | None:
        transfer = getattr(self._before, "kv_transfer", None)
        return getattr(transfer, "buffer_size", None)

    def group_counts(self, path: Path) -> None:
        """Raise the number of nodes where the file gives one and the workers need more."""
        data = parse_documents(self.text.text.encode(), name=f"{path} with the plan")[0]
        named = {**data.data, "name": self._environment.name}
        after = validate(Environment, type(data)(name=data.name, data=named, places=data.places))
        groups: dict[str, Sequence[Group]] = {
            "instanceGroups": after.cluster.instance_groups,
            "nodeGroups": after.cluster.node_groups,
        }
        for key, members in groups.items():
            for index, group in enumerate(members):
                needed = required_nodes(after, group)
                if group.count is not None and needed > group.count:
                    self.text.set(("cluster", key, index, "count"), needed)
                    self.said.append(f"{key} {group.name}.count: {group.count} -> {needed}")

    def _topology(self, plan: Plan) -> None:
        """Replace the roles of the other topology; the new ones stand where the old ones did."""
        before = self._before
        wanted = "disaggregated" if plan.is_disaggregated else "colocated"
        if before.topology == wanted:
            return
        here = self._here
        for role, workers in before.roles.items():
            if workers.args:
                self.said.append(f"{role}.args: left out: {' '.join(workers.args)}")
        self.text.set((*here, "topology"), wanted)
        self.said.append(f"topology: {before.topology} -> {wanted}")
        if before.topology == "colocated":
            group = before.workers.instance_group
            self.text.rename((*here, "workers"), "prefill", {"instanceGroup": group})
            self.text.insert((*here, "decode"), {"instanceGroup": group}, after="prefill")
            self.said.append(f"prefill, decode: both on instance group {group}, as workers were")
            return
        group, left = before.decode.instance_group, before.prefill.instance_group
        self.text.rename((*here, "prefill"), "workers", {"instanceGroup": group})
        for key in _OF_DISAGGREGATION:
            if self.text.has((*here, key)):
                self.text.remove((*here, key))
        if self.text.has((*here, "routing", "thresholdTokens")):
            only = before.routing.model_fields_set == {"threshold_tokens"}
            self.text.remove((*here, "routing") if only else (*here, "routing", "thresholdTokens"))
        self.said.append(f"workers: on instance group {group}, as decode was")
        if left != group:
            self.said.append(f"instance group {left}: this endpoint no longer uses it")

    def _resources(self, tensor_parallel: int) -> None:
        """Lower the worker's share of the host, where given, if more workers than before fit."""
        before = self._before
        for workers in before.roles.values():
            room = node_room(self._environment.nodes_named(workers.instance_group))
            per_node = room.gpus // tensor_parallel
            most = {"cpu": room.cpus // per_node, "memory": room.memory // per_node}
            for key, given in (("cpu", before.cpu), ("memory", before.memory)):
                if given is None or given <= most[key] or not self.text.has((*self._here, key)):
                    continue
                share = given * tensor_parallel // before.tensor_parallel_size
                if share < given:
                    value = share if key == "cpu" else bytes_text(share // 2**20 * 2**20)
                    self._set(key, value=value, default=None)

    def _set(self, *keys: str, value: str | int | float, default: str | float | None) -> None:
        """Set a value, unless the file says the same already or leaves it at the same default."""
        path = (*self._here, *keys)
        before = self._value(path)
        if (default if before is None else before) == value:
            return
        self.said.append(f"{'.'.join(keys)}: {default if before is None else before} -> {value}")
        self.text.set(path, value)

    def _args(self, role: str, values: tuple[int, int]) -> None:
        """Set vLLM flags in the role's `args`, in place where they are there."""
        path = (*self._here, role, "args")
        before: list[str] = self._value(path) or []
        shared = {flag.name for flag in parse(self._value((*self._here, "args")) or [], ())}
        known = {flag.name: flag for flag in parse(before, ())}
        added: list[str] = []
        changes: list[tuple[int, str]] = []
        for name, value, default in zip(_FLAGS, values, _DEFAULTS[role], strict=True):
            flag = known.get(name)
            if flag is not None:
                place = int(flag.path[0])
                is_attached = before[place] != flag.word
                word = f"{flag.word}={value}" if is_attached else str(value)
                if flag.value != str(value):
                    changes.append((place if is_attached else place + 1, word))
            elif name in shared or value != default:
                added += [f"--{name}", str(value)]
        if not (changes or added):
            return
        for place, word in changes:
            self.text.set((*path, place), word)
        if self.text.has(path):
            self.text.append(path, added)
        else:
            self.text.insert(path, added)
        after = " ".join(self._value(path))
        self.said.append(f"{role}.args: {' '.join(before) or '(none)'} -> {after}")

    def _value(self, path: KeyPath) -> Any:
        """Return what stands at a place, as it was read; None where nothing does."""
        value: Any = parse_documents(self.text.text.encode(), name="the plan")[0].data
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError):
                return None
        return value
