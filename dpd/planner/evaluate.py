"""Simulates a plan and compares what comes out with the targets."""

from dataclasses import dataclass
from math import inf

from dpd.planner.plan import Plan, deployment
from dpd.planner.question import Question
from dpd.planner.simulation.simulate import Latency, Result, simulate
from dpd.planner.traffic import Traffic

REQUESTS_PER_USER = 10
"""Least requests of a run in a closed loop: its first and its last round are left out."""


@dataclass(frozen=True)
class Miss:
    """A target that a plan does not meet."""

    latency: str
    share: float
    seconds: float
    limit: float

    @property
    def name(self) -> str:
        """Name of the target, for example `ttft p95`."""
        return f"{self.latency} p{self.share * 100:g}"

    def __str__(self) -> str:
        """Return the value, the limit and the distance."""
        over = self.seconds / self.limit - 1
        value, limit = seconds_text(self.seconds), seconds_text(self.limit)
        return f"{self.name} is {value}, target {limit}: over by {over:.0%}"


@dataclass(frozen=True)
class Outcome:
    """A plan and what it does."""

    plan: Plan
    result: Result
    nodes: int
    gpus: int
    usd_per_hour: float
    misses: tuple[Miss, ...]
    worst_ratio: float
    """Largest latency in units of its target; 0 without targets."""

    @property
    def is_good(self) -> bool:
        """Whether the plan keeps up with the traffic and meets every target."""
        return not self.misses and not self.result.is_overloaded

    @property
    def usd_per_million_tokens(self) -> float:
        """Cost of a million output tokens at this load; infinite without any."""
        per_hour = self.result.output_token_rate * 3600
        return self.usd_per_hour / per_hour * 1e6 if per_hour else inf

    @property
    def goodput(self) -> float:
        """Requests per second within all targets."""
        return self.result.request_rate * self.result.good_share


def evaluate(
    plan: Plan,
    question: Question,
    *,
    traffic: Traffic | None = None,
    seed: int | None = None,
    requests: int | None = None,
) -> Outcome:
    """Return what the plan does under the question's traffic, or under another one."""
    targets, traffic = question.targets, traffic or question.traffic
    result = simulate(
        deployment(plan, question),
        traffic,
        requests=max(requests or question.requests, REQUESTS_PER_USER * traffic.users),
        max_model_len=question.max_model_len,
        seed=question.seed if seed is None else seed,
        limits=(
            _strictest(targets.ttft.limits()),
            _strictest(targets.itl.limits()),
            _strictest(targets.e2e.limits()),
        ),
    )
    compared = [
        Miss(name, share, latency.at(share), limit)
        for name, latency, limits in _targets(question, result)
        for share, limit in limits
    ]
    nodes = plan.nodes(question.instance.gpu_count)
    return Outcome(
        plan=plan,
        result=result,
        nodes=nodes,
        gpus=nodes * question.instance.gpu_count,
        usd_per_hour=nodes * question.usd_per_node_hour,
        misses=tuple(miss for miss in compared if miss.seconds > miss.limit),
        worst_ratio=max((miss.seconds / miss.limit for miss in compared), default=0.0),
    )


def seconds_text(seconds: float) -> str:
    """Return a duration as a person reads it: `29.9 ms`, `1.55 s`."""
    if seconds < 0.1:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _targets(
    question: Question, result: Result
) -> list[tuple[str, Latency, list[tuple[float, float]]]]:
    targets = question.targets
    return [
        ("ttft", result.ttft, targets.ttft.limits()),
        ("itl", result.itl, targets.itl.limits()),
        ("e2e", result.e2e, targets.e2e.limits()),
    ]


def _strictest(limits: list[tuple[float, float]]) -> float:
    """Return the limit that a good request must keep: that of the highest percentile."""
    return max(limits)[1] if limits else inf
