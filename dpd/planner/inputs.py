"""From command-line flags and an environment file to a `Question`."""

from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dpd.catalog import instance_types, model_architectures
from dpd.config.report import validate
from dpd.config.source import Source, read_source
from dpd.errors import UserError, suggestion
from dpd.planner.prices import read_prices
from dpd.planner.question import Question
from dpd.planner.traffic import Fixed, Targets, Traffic, TrafficProfile, read_traffic

_ALL_SIZES = (8, 4, 2, 1)
_RANGES: dict[str, tuple[float, float]] = {
    "max_model_len": (16, 1 << 20),
    "gpu_memory_utilization": (0.05, 0.98),
    "max_nodes": (1, 64),
    "requests": (100, 100_000_000),
    "seed": (0, 1 << 32),
}
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Asked:
    """A question, and the endpoint it is about where there is one."""

    question: Question
    path: Path | None = None
    endpoint: str = ""


def asked(arguments: Namespace) -> Asked:
    """Return what the command line asks.

    Raises:
        UserError: flags that contradict each other, or a mistake in one of the files.
    """
    traffic = _traffic(arguments)
    found = _from_environment(arguments, traffic) if arguments.environment else None
    if found is None:
        found = Asked(_from_flags(arguments, traffic))
    question = found.question
    prices = read_prices(Path(arguments.prices) if arguments.prices else None)
    if question.instance.name not in prices.usd_per_hour:
        raise UserError(
            f"no price of {question.instance.name} in the price table; "
            f"there are: {', '.join(sorted(prices.usd_per_hour))}"
        )
    given: dict[str, Any] = {
        "max_model_len": arguments.max_model_len,
        "gpu_memory_utilization": arguments.gpu_memory_utilization,
        "weight_format": arguments.quantization,
        "kv_cache_format": arguments.kv_cache_dtype,
        "max_nodes": arguments.max_nodes,
        "requests": arguments.requests,
        "seed": arguments.seed,
        "runtime": arguments.runtime,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    _check_ranges(chosen)
    if arguments.tensor_parallel:
        sizes = _ALL_SIZES if "auto" in arguments.tensor_parallel else arguments.tensor_parallel
        chosen["tensor_parallel"] = tuple(dict.fromkeys(int(size) for size in sizes))
    decode = arguments.max_nodes if arguments.runtime == "self-managed" else 1
    question = replace(question, prices=prices, max_decode_replicas=decode, **chosen)
    _check_lengths(question)
    return replace(found, question=question)


def _check_ranges(values: dict[str, Any]) -> None:
    for name, (low, high) in _RANGES.items():
        if name in values and not low <= values[name] <= high:
            flag = name.replace("_", "-")
            raise UserError(f"--{flag} {values[name]}: allowed: {low} to {high}")


def _check_lengths(question: Question) -> None:
    """Refuse what the model refuses: a prompt and answer longer than it takes."""
    longest = question.max_model_len
    if longest > question.model.max_context_tokens:
        raise UserError(
            f"{question.model.title} takes {question.model.max_context_tokens} tokens at most, "
            f"not {longest}; lower --max-model-len"
        )
    for kind in question.traffic.profile.classes:
        if isinstance(kind.input, Fixed) and isinstance(kind.output, Fixed):
            tokens = kind.input.tokens + kind.output.tokens
            if tokens > longest:
                raise UserError(
                    f"prompt of {kind.input.tokens} and answer of {kind.output.tokens} tokens are "
                    f"{tokens}, more than the longest request of {longest}; raise --max-model-len"
                )


def _traffic(arguments: Namespace) -> Traffic:
    flags = {
        "rate": arguments.rate,
        "concurrency": arguments.concurrency,
        "trace": arguments.trace,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    lengths = {"input": arguments.input, "output": arguments.output}
    targets = {
        name: _target(name, getattr(arguments, name))
        for name in ("ttft", "itl", "e2e")
        if getattr(arguments, name)
    }
    if arguments.traffic:
        if given or any(value is not None for value in lengths.values()):
            raise UserError("--traffic already says how requests arrive and how long they are")
        traffic = read_traffic(Path(arguments.traffic))
        if not targets:
            return traffic
        profile = traffic.profile.model_copy(
            update={"targets": _merged(traffic.profile.targets, _checked(Targets, targets))}
        )
        return Traffic(profile, folder=Path(arguments.traffic).parent)
    if len(given) > 1:
        raise UserError(f"{' and '.join(f'--{name}' for name in given)}: give one of them")
    if not given:
        raise UserError("no traffic; add --traffic FILE, or --rate, --concurrency or --trace")
    data: dict[str, Any] = {**given, "targets": targets}
    if arguments.trace is None:
        missing = [f"--{name}" for name, value in lengths.items() if value is None]
        if missing:
            raise UserError(f"no request lengths; add {' and '.join(missing)}, in tokens")
        data["classes"] = [{**lengths, "sharedPrefix": arguments.shared_prefix}]
    return Traffic(_checked(TrafficProfile, data))


def _merged(file: Targets, flags: Targets) -> Targets:
    """Return the file's targets, with those that flags give in place of them."""
    changed = {name: getattr(flags, name) for name in flags.model_fields_set}
    return file.model_copy(update=changed)


def _target(flag: str, text: str) -> Any:
    """Turn `p99:2s,p50:300ms` into limits; a plain `2s` stays, it means the 95th percentile."""
    if ":" not in text:
        return text
    limits: dict[str, str] = {}
    for part in text.split(","):
        percentile, _, value = part.partition(":")
        if not value:
            raise UserError(f"--{flag} {text}: write 2s, or p50:1s,p99:2s")
        limits[percentile.strip()] = value.strip()
    return limits


def _checked(model: type[_Model], data: dict[str, Any]) -> _Model:
    return validate(model, Source(name="command line", data=data))


def _from_flags(arguments: Namespace, traffic: Traffic) -> Question:
    for flag in ("model", "instance"):
        if getattr(arguments, flag) is None:
            raise UserError(f"no --{flag}; give it, or an environment file with --endpoint")
    models, types = model_architectures(), instance_types()
    if arguments.model not in models:
        raise UserError(
            f"--model {arguments.model}: unknown; {suggestion(arguments.model, models)}"
        )
    if arguments.instance not in types:
        raise UserError(
            f"--instance {arguments.instance}: unknown; {suggestion(arguments.instance, types)}"
        )
    return Question(
        model=models[arguments.model],
        instance=types[arguments.instance],
        traffic=traffic,
        targets=traffic.profile.targets,
        tensor_parallel=_ALL_SIZES,
    )


def _from_environment(arguments: Namespace, traffic: Traffic) -> Asked:
    from dpd.config.loader import environment_from

    path = Path(arguments.environment)
    environment = environment_from(read_source(path), name=path.stem)
    names = [endpoint.name for endpoint in environment.endpoints]
    name = arguments.endpoint or (names[0] if len(names) == 1 else None)
    if name is None:
        raise UserError(
            f"{path}: {len(names)} endpoints; add --endpoint NAME, one of: {', '.join(names)}"
        )
    if name not in names:
        raise UserError(f"{path}: no endpoint {name!r}; {suggestion(name, names)}")
    endpoint = environment.endpoints[names.index(name)]
    model = environment.model_named(endpoint.model)
    groups = {role.instance_group for role in endpoint.roles.values()}
    types = {environment.instance_group_named(group).instance_type for group in groups}
    if len(types) > 1:
        raise UserError(
            f"{path}: endpoint {name}: roles on {' and '.join(sorted(types))}; the planner "
            "compares plans on one instance type"
        )
    question = Question(
        model=model_architectures()[model.architecture],
        instance=instance_types()[types.pop()],
        traffic=traffic,
        targets=traffic.profile.targets,
        max_model_len=endpoint.max_model_len_tokens,
        weight_format=model.quantization or model.dtype,
        kv_cache_format=_flag(endpoint.args, "--kv-cache-dtype", default="auto"),
        tensor_parallel=tuple(dict.fromkeys((endpoint.tensor_parallel_size, 8))),
    )
    share = endpoint.gpu_memory_utilization
    if endpoint.topology == "colocated":
        question = replace(question, colocated_gpu_memory_utilization=share)
    else:
        question = replace(question, gpu_memory_utilization=share)
    return Asked(question, path=path, endpoint=name)


def _flag(args: tuple[str, ...], flag: str, *, default: str) -> str:
    """Return the value of a vLLM flag in `--flag value` or `--flag=value` form."""
    for place, arg in enumerate(args):
        if arg == flag and place + 1 < len(args):
            return args[place + 1]
        if arg.startswith(f"{flag}="):
            return arg.split("=", 1)[1]
    return default
