"""Operator: times within which a large model cannot load, or a worker cannot finish."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpd.catalog import model_architectures
from dpd.config import Environment
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Written

_LARGE_MODEL = 60_000_000_000
"""Parameters of a model that takes minutes to load."""
_LOAD_SECONDS = 600
_GRACE_SECONDS = 30


@rule(
    "DPD611",
    Severity.WARNING,
    title="A large model has ten minutes to load",
    source=sources.DPD_TROUBLESHOOTING,
)
def time_to_load(endpoint: EndpointView) -> Iterator[Violation]:
    """70B from cold S3 takes 5 to 10 minutes; a worker that is killed meanwhile never starts."""
    model = endpoint.architecture
    if model is None or model.parameters < _LARGE_MODEL:
        return
    limit = endpoint.written("maxDeployTimeInSeconds")
    if type(limit.value) is int and limit.value < _LOAD_SECONDS:
        yield _too_short(limit, model.title, limit.value)
    probes = endpoint.written("worker", "probes").value
    startup = probes.get("startupProbe") if isinstance(probes, Mapping) else None
    liveness = probes.get("livenessProbe") if isinstance(probes, Mapping) else None
    name, probe = ("startupProbe", startup) if startup else ("livenessProbe", liveness)
    if isinstance(probe, Mapping) and (budget := _budget(probe)) < _LOAD_SECONDS:
        yield _too_short(endpoint.written("worker", "probes", name), model.title, budget)


@rule(
    "DPD612",
    Severity.WARNING,
    title="A deployment waits long enough for a large model",
    source=sources.DPD_TROUBLESHOOTING,
)
def time_to_wait(environment: Environment) -> Iterator[Violation]:
    """A deployment that gives up before the weights are loaded is rolled back."""
    for index, endpoint in enumerate(environment.endpoints):
        model = model_architectures()[environment.model_named(endpoint.model).architecture]
        seconds = endpoint.readiness.timeout
        if endpoint.readiness.wait and model.parameters >= _LARGE_MODEL and seconds < _LOAD_SECONDS:
            path = ("endpoints", index, "readiness", "timeout")
            yield _too_short(Written(None, path), model.title, int(seconds))


@rule(
    "DPD613",
    Severity.WARNING,
    title="vLLM drains within the pod's grace period",
    source=sources.VLLM_FLAGS,
)
def drains_in_time(endpoint: EndpointView) -> Iterator[Violation]:
    """Kubernetes kills a pod 30 seconds after SIGTERM, and the custom resource cannot change it."""
    seen = set()
    for role in endpoint.roles if endpoint.is_vllm else ():
        seconds = role.number("shutdown-timeout", 0)
        if seconds and seconds.value >= _GRACE_SECONDS and seconds.path not in seen:
            seen.add(seconds.path)
            yield Violation(
                seconds.path,
                f"given --shutdown-timeout {seconds.value}",
                f"less than the grace period of {_GRACE_SECONDS} s",
                "lower it",
            )


def _too_short(written: Written[Any], title: str, seconds: int) -> Violation:
    return Violation(
        written.path, f"given {seconds} s for {title}", f"{_LOAD_SECONDS} s or more", "raise it"
    )


def _budget(probe: Mapping[str, Any]) -> int:
    """Return the seconds until a probe gives up, with Kubernetes' defaults."""

    def number(key: str, default: int) -> int:
        value = probe.get(key)
        return value if type(value) is int else default

    period, failures = number("periodSeconds", 10), number("failureThreshold", 3)
    return number("initialDelaySeconds", 0) + period * failures
