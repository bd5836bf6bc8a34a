"""Compares our programs' times with the least that such programs take, in one run: `make bench`.

A synth with an empty CDK app, a check with the import of the two libraries that it stands on. Whole
processes, the CDK's built-in validation off in all of them. The programs take turns, so that a busy
machine slows all of them alike; the ratios are what counts.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
ENDPOINTS = 100

Program = tuple[list[str], Mapping[str, object]]
"""Arguments of Python and context of the CDK."""

EMPTY = "import aws_cdk as cdk; app = cdk.App(); cdk.Stack(app, 'Empty'); app.synth()"


def main() -> None:
    """Print the median of each program and its ratio to the least one."""
    synth()
    print()
    check()


def check() -> None:
    """Compare `dpd check` of an environment with the import of pydantic and PyYAML."""
    prod = ROOT / "environments" / "prod.yaml"
    programs = {
        "import libraries": (["-c", "import pydantic, yaml"], {}),
        "dpd check": (["-m", "dpd", "check", str(prod)], {}),
    }
    table(measured(programs, runs=15))


def synth() -> None:
    """Compare synths with an empty app."""
    with tempfile.TemporaryDirectory() as folder:
        write_environment(Path(folder), endpoints=0)
        write_environment(Path(folder), endpoints=ENDPOINTS)
        programs = {
            "empty CDK app": (["-c", EMPTY], {}),
            "prod": app("prod", ROOT / "environments"),
            "no endpoint": app("bench-0", Path(folder)),
            f"{ENDPOINTS} endpoints": app(f"bench-{ENDPOINTS}", Path(folder)),
        }
        medians = measured(programs, runs=7)
    floor = table(medians)
    extra = (medians[f"{ENDPOINTS} endpoints"] - medians["no endpoint"]) / ENDPOINTS
    print(f"{'per endpoint':<16}{extra * 1000:7.1f} ms{extra / floor:7.2%} of the empty app")


def measured(programs: Mapping[str, Program], *, runs: int) -> Mapping[str, float]:
    """Return the median wall time of each program in seconds; a first round warms the caches."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(runs + 1):
        for name, (arguments, context) in programs.items():
            seconds[name].append(timed(arguments, context))
    return {name: statistics.median(times[1:]) for name, times in seconds.items()}


def table(medians: Mapping[str, float]) -> float:
    """Print the medians and their ratios to the first one, and return that."""
    floor, *_ = medians.values()
    for name, median in medians.items():
        print(f"{name:<16}{median:7.2f} s{median / floor:8.2f} x")
    return floor


def write_environment(folder: Path, *, endpoints: int) -> None:
    """Write an environment like `prod` with another number of endpoints."""
    data = yaml.safe_load((ROOT / "environments" / "prod.yaml").read_text(encoding="utf-8"))
    (example,) = data["endpoints"]
    data["endpoints"] = [{**example, "name": f"chat-{index}"} for index in range(endpoints)]
    # JSON is YAML, and writes no aliases for what the endpoints share.
    (folder / f"bench-{endpoints}.yaml").write_text(json.dumps(data), encoding="utf-8")


def app(name: str, environments: Path) -> Program:
    """Return arguments and context of our app, as the cdk command line gives them to it."""
    settings = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))
    context = {**settings["context"], "env": name, "environments": str(environments)}
    return [str(ROOT / "app.py")], context


def timed(arguments: list[str], context: Mapping[str, object]) -> float:
    """Return the wall time of one Python process in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "CDK_VALIDATION": "false",
            "CDK_CONTEXT_JSON": json.dumps(context),
            "CDK_OUTDIR": folder,
            "PYTHONPATH": str(ROOT),
        }
        # Everybody but a container build keeps bytecode; the first round writes it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
