"""From command-line flags and an environment file to a `Question`."""

from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dpd.catalog import instance_types, model_architectures
from dpd.config import AnyEndpoint
from dpd.config.report import validate
from dpd.config.source import Source, read_source
from dpd.errors import UserError, suggestion
from dpd.planner.evaluate import REQUESTS_PER_USER
from dpd.planner.from_endpoint import question_of, self_managed
from dpd.planner.prices import read_prices
from dpd.planner.question import Question
from dpd.planner.traffic import Fixed, Targets, Traffic, TrafficProfile, read_traffic

_ALL_SIZES = (8, 4, 2, 1)
_LENGTHS = ("input", "output", "shared_prefix")
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
    endpoint: AnyEndpoint | None = None


def asked(arguments: Namespace) -> Asked:
    """Return what the command line asks.

    Raises:
        UserError: flags that contradict each other, or a mistake in one of the files.
    """
    _refuse_contradictions(arguments)
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
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    _check_ranges(chosen)
    if arguments.tensor_parallel:
        sizes = _ALL_SIZES if "auto" in arguments.tensor_parallel else arguments.tensor_parallel
        chosen["tensor_parallel"] = tuple(dict.fromkeys(int(size) for size in sizes))
    question = replace(question, prices=prices, **chosen)
    # The operator runs one decode worker, and LMCache's connector knows one receiver.
    has_more = question.runtime == "self-managed" and question.connector == "nixl"
    question = replace(question, max_decode_replicas=question.max_nodes if has_more else 1)
    _check_lengths(question)
    return replace(found, question=_with_enough_requests(question, arguments.requests))


def _refuse_contradictions(arguments: Namespace) -> None:
    """Refuse flags of which one would be passed over."""
    for flag in ("model", "instance", "runtime"):
        if arguments.environment and getattr(arguments, flag) is not None:
            raise UserError(
                f"--{flag} beside {arguments.environment}, which says that already; leave it out"
            )
    if arguments.endpoint and not arguments.environment:
        raise UserError(f"--endpoint {arguments.endpoint} without an environment file; give one")
    lengths = [name for name in _LENGTHS if getattr(arguments, name) is not None]
    for source in ("traffic", "trace"):
        if getattr(arguments, source) is not None and lengths:
            flags = " and ".join(f"--{name.replace('_', '-')}" for name in lengths)
            raise UserError(f"{flags} beside --{source}, which already says how long requests are")


def _with_enough_requests(question: Question, given: int | None) -> Question:
    """Raise the number of requests where many users would all be in their first or last round."""
    needed = REQUESTS_PER_USER * question.traffic.users
    if given is not None and given < needed:
        raise UserError(
            f"--requests {given}: too few for {question.traffic.users} users at a time; "
            f"allowed: {needed} or more"
        )
    return replace(question, requests=max(question.requests, needed))


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
        if getattr(arguments, name) is not None
    }
    if arguments.traffic:
        if given:
            named = " and ".join(f"--{name}" for name in given)
            raise UserError(f"{named} beside --traffic, which already says how requests arrive")
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
        data["classes"] = [{**lengths, "sharedPrefix": arguments.shared_prefix or 0.0}]
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
        if not value.strip() or percentile.strip() in limits:
            raise UserError(f"--{flag} {text}: write 2s, or p50:1s,p99:2s, each once")
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
    model = models[arguments.model]
    question = Question(
        model=model,
        weight_format=model.quantization or "bfloat16",
        instance=types[arguments.instance],
        traffic=traffic,
        targets=traffic.profile.targets,
        tensor_parallel=_ALL_SIZES,
    )
    return self_managed(question) if arguments.runtime == "self-managed" else question


def _from_environment(arguments: Namespace, traffic: Traffic) -> Asked:
    from dpd.config.loader import environment_from

    path = Path(arguments.environment)
    environment = environment_from(read_source(path), name=path.stem)
    names = [endpoint.name for endpoint in environment.endpoints]
    name = arguments.endpoint or (names[0] if len(names) == 1 else None)
    if not names:
        raise UserError(f"{path}: no endpoints; add one, or give --model and --instance instead")
    if name is None:
        raise UserError(
            f"{path}: {len(names)} endpoints; add --endpoint NAME, one of: {', '.join(names)}"
        )
    if name not in names:
        raise UserError(f"{path}: no endpoint {name!r}; {suggestion(name, names)}")
    endpoint = environment.endpoints[names.index(name)]
    try:
        question = question_of(environment, endpoint, traffic)
    except UserError as error:
        raise UserError(*(f"{path}: {line}" for line in error.lines)) from None
    return Asked(question, path=path, endpoint=endpoint)
