"""Prints the planner beside AIConfigurator: `python -m dpd.planner.cross_check [PYTHON]`.

PYTHON is one that has aiconfigurator 0.12.0; by default the one that runs this.
"""

import sys
from dataclasses import replace

from dpd.catalog import instance_types, model_architectures
from dpd.errors import exit_on_user_error
from dpd.planner.aiconfigurator import MODELS, SYSTEMS, Estimate, Estimated, estimates
from dpd.planner.defaults import PD_BUFFER_BYTES
from dpd.planner.plan import Plan, deployment
from dpd.planner.question import Question
from dpd.planner.report_text import aligned
from dpd.planner.simulation.simulate import Result, simulate
from dpd.planner.step_time import attention_pairs, step_seconds
from dpd.planner.traffic import Fixed, Targets, Traffic, TrafficClass, TrafficProfile

_MODEL, _INPUT, _OUTPUT, _TP = "llama-3.3-70b", 4096, 256, 8
_INSTANCES = {"H100": "ml.p5.48xlarge", "H200": "ml.p5en.48xlarge", "B200": "ml.p6-b200.48xlarge"}
_BATCHES = (8, 16, 32)

_EXPLANATION = """\
Why they differ
- step, prefill: the planner has one efficiency per kind of work for all GPUs, AIConfigurator a
  table per GPU; H200's and H100's tables differ although their matrix units are the same.
- step, decode: the planner adds {host:.1f} ms of host time to every step when it simulates; the
  step rows are without it. B200's table jumps between 8 and 16 sequences, a roofline does not.
- colocated: AIConfigurator averages a steady mix of prefill and decode; the planner schedules
  prompts of up to 8,192 tokens a step, so prompts meet in pairs and wait for each other.
- disaggregated: AIConfigurator lets {batches} sequences decode at all times. In the planner, as
  in a closed loop, what waits for the only prefill worker does not decode: fewer sequences run,
  each faster, and prefill caps the rate. The planner also counts the hand-over of every prompt.
- time to first token: AIConfigurator states 1.8 times the prefill time when disaggregated and has
  no queue; at concurrency 32 the only prefill worker is saturated and the queue is most of it.
"""


def main(python: str) -> None:
    """Ask both and print one table per GPU."""
    for gpu, instance in _INSTANCES.items():
        question = Question(
            model=model_architectures()[_MODEL],
            instance=instance_types()[instance],
            traffic=_closed_loop(1),
            targets=Targets(),
        )
        theirs = estimates(_questions(gpu), python=python)
        print(f"\n{gpu}: {question.model.title}, TP {_TP}, {_INPUT} in, {_OUTPUT} out")
        print("\n".join(aligned(_table(question, theirs))))
    host = question.constants.host_seconds_per_step * 1000
    batches = "/".join(str(batch) for batch in _BATCHES)
    print("\n" + _EXPLANATION.format(host=host, batches=batches))


def _questions(gpu: str) -> list[Estimate]:
    base = Estimate(
        model=MODELS[_MODEL],
        system=SYSTEMS[gpu],
        tensor_parallel=_TP,
        mode="static_ctx",
        sequences=1,
        input_tokens=_INPUT,
        output_tokens=1,
    )
    asked = [base]
    asked += [
        replace(base, mode="static_gen", sequences=batch, output_tokens=2) for batch in _BATCHES
    ]
    for mode in ("agg", "disagg"):
        asked += [
            replace(base, mode=mode, sequences=batch, output_tokens=_OUTPUT) for batch in _BATCHES
        ]
    return asked


def _table(question: Question, theirs: list[Estimated]) -> list[list[str]]:
    costs = question.costs(_TP)._replace(host=0.0, launch=0.0)
    answers = iter(theirs)
    prefill = step_seconds(costs, _INPUT, attention_pairs(_INPUT, 0), 0, 0)
    rows = [
        ["", "planner", "AIConfigurator", "difference"],
        _milliseconds(f"step, prefill of {_INPUT}", prefill, next(answers).ttft),
    ]
    for batch in _BATCHES:
        step = step_seconds(costs, 0, 0.0, batch, batch * _INPUT)
        rows.append(_milliseconds(f"step, decode of {batch}", step, next(answers).itl))
    for name, plan in (
        ("colocated", Plan(tensor_parallel=_TP, decode_max_num_seqs=256)),
        (
            "1 prefill + 1 decode",
            Plan(
                tensor_parallel=_TP,
                prefill_replicas=1,
                routing_threshold=_INPUT,
                pd_buffer_bytes=PD_BUFFER_BYTES,
            ),
        ),
    ):
        for batch in _BATCHES:
            ours, other = _simulated(question, plan, batch), next(answers)
            case = f"{name}, concurrency {batch}"
            rows.append(_milliseconds(f"{case}: ITL", ours.itl.p50, other.itl))
            rows.append(_milliseconds(f"{case}: TTFT", ours.ttft.p50, other.ttft))
            rows.append(
                _row(f"{case}: tokens/s", ours.output_token_rate, other.token_rate, decimals=0)
            )
    return rows


def _simulated(question: Question, plan: Plan, users: int) -> Result:
    return simulate(
        deployment(plan, question),
        _closed_loop(users),
        requests=2000,
        max_model_len=question.max_model_len,
    )


def _closed_loop(users: int) -> Traffic:
    kind = TrafficClass(input=Fixed(tokens=_INPUT), output=Fixed(tokens=_OUTPUT))
    return Traffic(TrafficProfile(concurrency=users, classes=(kind,)))


def _milliseconds(name: str, ours: float, theirs: float) -> list[str]:
    return _row(f"{name}, ms", ours * 1000, theirs * 1000, decimals=1)


def _row(name: str, ours: float, theirs: float, *, decimals: int) -> list[str]:
    return [name, f"{ours:.{decimals}f}", f"{theirs:.{decimals}f}", f"{ours / theirs - 1:+.0%}"]


if __name__ == "__main__":
    with exit_on_user_error():
        main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
