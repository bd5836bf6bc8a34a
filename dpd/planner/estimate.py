"""Closed-form estimates: bounds that rule a plan out before it is simulated."""

from dataclasses import dataclass
from math import inf

import numpy as np

from dpd.planner.plan import Plan
from dpd.planner.question import Question
from dpd.planner.sampling import Ints, arrivals, request_count
from dpd.planner.step_time import StepCosts, prefill_seconds, step_seconds

_SAMPLE = 4_096
_BUSIEST = 0.97


@dataclass(frozen=True)
class Lengths:
    """A sample of the traffic's requests."""

    inputs: Ints
    cached: Ints
    outputs: Ints
    rate: float
    """Requests per second; infinite under a closed loop."""

    def remote(self, threshold: int) -> "Lengths":
        """Return those that a router with this threshold sends to prefill workers."""
        far = self.inputs >= threshold
        share = float(far.mean())
        rate = self.rate * share if share else 0.0
        return Lengths(self.inputs[far], self.cached[far], self.outputs[far], rate)


def sample_lengths(question: Question) -> Lengths:
    """Draw the lengths that the estimates average over."""
    traffic = question.traffic
    count = request_count(traffic, _SAMPLE)
    blocks = list(
        arrivals(traffic, requests=count, seed=question.seed, max_model_len=question.max_model_len)
    )
    rate = inf
    if traffic.profile.rate is not None:
        rate = traffic.profile.rate * traffic.load
    elif traffic.trace is not None:
        rate = traffic.trace.rate * traffic.load
    return Lengths(
        inputs=np.concatenate([block.inputs for block in blocks]),
        cached=np.concatenate([block.cached for block in blocks]),
        outputs=np.concatenate([block.outputs for block in blocks]),
        rate=rate,
    )


def prefill_worker_saturation(question: Question, plan: Plan, lengths: Lengths) -> float:
    """Return the requests per second that one prefill worker can take: 1 / mean prefill time.

    Prompts are averaged over at most 256 of the sample; 0 where the router sends none.
    """
    remote = lengths.remote(plan.routing_threshold)
    if len(remote.inputs) == 0:
        return 0.0
    costs = question.costs(plan.tensor_parallel)
    step = max(1, len(remote.inputs) // 256)
    seconds = [
        prefill_seconds(
            costs,
            int(tokens),
            max_num_batched_tokens=plan.prefill_max_num_batched_tokens,
            cached_tokens=int(cached),
        )
        for tokens, cached in zip(remote.inputs[::step], remote.cached[::step], strict=True)
    ]
    store = question.constants.store_seconds_per_prompt if plan.is_disaggregated else 0.0
    return 1 / (sum(seconds) / len(seconds) + store)


def decode_seconds(costs: StepCosts, sequences: int, context: float) -> float:
    """Return the time of a decode step of so many sequences with so much context each."""
    return step_seconds(costs, 0, 0.0, sequences, int(sequences * context))


def is_hopeless(question: Question, plan: Plan, lengths: Lengths) -> bool:
    """Return whether a bound already rules the plan out; a true answer is never wrong.

    Utilization: open arrivals beyond what prefill workers can take grow a queue without end.
    Latency: nothing is faster than an idle worker, for inter-token latency and first token.
    """
    costs = question.costs(plan.tensor_parallel)
    if plan.is_disaggregated and lengths.rate < inf:
        remote = lengths.remote(plan.routing_threshold)
        capacity = prefill_worker_saturation(question, plan, lengths) * plan.prefill_replicas
        # Steps that mix prompts share one read of the weights, so capacity may be a little higher.
        if remote.rate > capacity / _BUSIEST:
            return True
    shortest = float(lengths.inputs.min())
    floor = decode_seconds(costs, 1, shortest)
    if any(floor > limit for _, limit in question.targets.itl.limits()):
        return True
    first = prefill_seconds(
        costs,
        int(lengths.inputs.min()),
        max_num_batched_tokens=1 << 20,
        cached_tokens=int(lengths.cached.min()),
    )
    return any(first > limit for _, limit in question.targets.ttft.limits())
