"""`dpd plan`: how many prefill workers, which threshold, which buffer, and whether at all."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpd.planner.progress import ProgressBar
    from dpd.planner.verdict import Answer

_DESCRIPTION = """\
Say what to put into an environment file for a model under given traffic, what it will do and what
it costs, or that colocated workers are the better choice. Give an environment file and a traffic
profile, or flags alone:

  dpd plan environments/prod.yaml --endpoint chat --traffic traffic.yaml
  dpd plan --model llama-3.3-70b --instance ml.p5.48xlarge --rate 5 --input 4096 --output 256 \\
      --ttft 2s --itl 30ms
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `plan`; nothing heavy is imported before it runs."""
    parser = subparsers.add_parser(
        "plan",
        help="size an endpoint for a traffic profile, or find that it should be colocated",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("environment", nargs="?", help="environment file that holds the endpoint")
    parser.add_argument("--endpoint", help="endpoint of the file; not needed where it has one")
    what = parser.add_argument_group("without an environment file")
    what.add_argument("--model", help="architecture in the catalog, such as llama-3.3-70b")
    what.add_argument("--instance", help="instance type, such as ml.p5.48xlarge")
    traffic = parser.add_argument_group("traffic")
    traffic.add_argument("--traffic", metavar="FILE", help="traffic profile (YAML)")
    traffic.add_argument("--rate", type=float, help="requests a second, Poisson arrivals")
    traffic.add_argument("--concurrency", type=int, help="users with one request at a time")
    traffic.add_argument("--trace", metavar="FILE", help="CSV or JSONL: arrival, input, output")
    traffic.add_argument("--input", type=int, help="prompt tokens")
    traffic.add_argument("--output", type=int, help="answer tokens")
    traffic.add_argument(
        "--shared-prefix", type=float, help="share of the prompt that all begin with"
    )
    targets = parser.add_argument_group("targets", "a duration (p95), or p50:1s,p99:2s")
    targets.add_argument("--ttft", metavar="LIMIT", help="time to first token")
    targets.add_argument("--itl", metavar="LIMIT", help="inter-token latency, mean of a request")
    targets.add_argument("--e2e", metavar="LIMIT", help="end-to-end time")
    _add_limits(parser)
    _add_output(parser)
    parser.set_defaults(run=run)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits of the search; the environment file gives them too")
    limits.add_argument(
        "--tensor-parallel",
        action="append",
        choices=("1", "2", "4", "8", "auto"),
        help="GPUs of one worker; may be given again (default: the file's and 8, or auto)",
    )
    limits.add_argument("--max-model-len", type=int, help="longest prompt and answer (16384)")
    limits.add_argument("--gpu-memory-utilization", type=float, help="with a PD buffer (0.75)")
    limits.add_argument("--quantization", choices=("fp8", "awq", "gptq", "mxfp4"), help="weights")
    limits.add_argument("--kv-cache-dtype", choices=("auto", "fp8"), help="KV cache (auto)")
    limits.add_argument("--max-nodes", type=int, default=8, help="nodes to use at most (8)")
    limits.add_argument(
        "--runtime",
        choices=("operator", "self-managed"),
        help="self-managed: NIXL, several decode workers, no threshold (operator)",
    )
    limits.add_argument(
        "--requests", type=int, help="simulated requests a run (10000; more for many users)"
    )
    limits.add_argument("--seed", type=int, default=0, help="same seed, same answer")
    limits.add_argument("--prices", metavar="FILE", help="price table instead of the built-in one")
    limits.add_argument(
        "--backend",
        choices=("roofline", "aiconfigurator"),
        default="roofline",
        help="where step times come from; aiconfigurator must be installed",
    )
    limits.add_argument(
        "--aiconfigurator-python",
        metavar="PATH",
        default=sys.executable,
        help="Python that has aiconfigurator 0.12.0, where it is another one",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    output = parser.add_argument_group("output")
    output.add_argument(
        "--topology",
        choices=("disaggregated", "colocated"),
        help="insist on one; both are compared in any case",
    )
    output.add_argument("--json", action="store_true", help="print data instead of a table")
    output.add_argument("--html", metavar="FILE", help="also write one page with plots")
    output.add_argument("--write", action="store_true", help="put the plan into the file")


def run(arguments: argparse.Namespace) -> int:
    """Plan, print and return 0; `UserError` for a mistake or for targets that cannot be met."""
    import gc
    from dataclasses import replace

    from dpd.errors import UserError
    from dpd.planner.inputs import asked
    from dpd.planner.output import refuse_unwritable, replace_file
    from dpd.planner.progress import ProgressBar
    from dpd.planner.verdict import answer

    gc.enable()  # short commands switch it off; compiling and simulating leaves cycles behind
    if arguments.write and not arguments.environment:
        raise UserError("--write changes an environment file; give one")
    found = asked(arguments)
    for path in (arguments.html, arguments.environment if arguments.write else None):
        if path is not None:
            refuse_unwritable(Path(path))
    question = found.question
    if arguments.backend == "aiconfigurator":
        from dpd.planner.aiconfigurator import costs_for

        question = replace(question, **costs_for(question, python=arguments.aiconfigurator_python))
    progress = ProgressBar()
    try:
        result = answer(question, topology=arguments.topology, progress=progress)
        page = _page(result, progress) if arguments.html else None
    finally:
        progress.done()
    if page is not None:
        replace_file(Path(arguments.html), page.encode())
    if arguments.json:
        import json

        from dpd.planner.report_json import as_data

        print(json.dumps(as_data(result), indent=2))
    else:
        from dpd.planner.report_text import report

        print(report(result))
    if arguments.write:
        from dpd.planner.write_back import write_plan

        assert found.path is not None
        assert found.endpoint is not None
        plan = result.chosen.plan
        changes = write_plan(
            found.path,
            endpoint=found.endpoint.name,
            plan=plan,
            gpu_memory_utilization=question.utilization(is_disaggregated=plan.is_disaggregated),
            errors_in=arguments.errors_in,
        )
        for line in changes or ["says the same already"]:
            print(f"{found.path}: {line}", file=sys.stderr)
    return 0


def _page(result: "Answer", progress: "ProgressBar") -> str:
    from dpd.planner.curves import curves
    from dpd.planner.report_html import page

    return page(result, curves(result, progress=progress))
