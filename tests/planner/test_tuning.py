"""The plan keeps to what `dpd check` advises where that costs nothing, and says so where not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpd.planner.memory import GIB
from dpd.planner.plan import Plan, problem
from dpd.planner.question import Question
from dpd.planner.search import search
from dpd.planner.traffic import Targets, Traffic
from dpd.planner.tuning import prompts_bytes
from dpd.planner.verdict import answer
from dpd.planner.write_back import write_plan
from dpd.rules.check import check_file

ENVIRONMENT = Path(__file__).parents[2] / "environments/prod.yaml"
MIXED = ({"median": 5000, "sigma": 0.8}, {"median": 250, "sigma": 0.6})


def warnings_of(plan: Plan, folder: Path) -> set[str]:
    """Return the rules of `dpd check` about threshold and buffer that the written plan breaks."""
    path = folder / "prod.yaml"
    path.write_text(ENVIRONMENT.read_text())
    write_plan(
        path, endpoint="chat", plan=plan, gpu_memory_utilization=0.75, errors_in=lambda *_: {}
    )
    return {each.rule for each in check_file(path)} & {"DPD003", "DPD304", "DPD306"}


@pytest.mark.parametrize(
    ("lengths", "arrivals"),
    [
        ((4096, 256), {"rate": 5.0}),
        ((6000, 256), {"rate": 4.0}),
        (MIXED, {"rate": 3.0}),
        ((4096, 256), {"concurrency": 64}),
        ((5000, 2000), {"concurrency": 200}),
    ],
    ids=["aws", "long", "mixed", "closed", "many-users"],
)
def test_what_the_checker_warns_of_is_explained(
    lengths: tuple[Any, Any],
    arrivals: dict[str, Any],
    question: Question,
    fixed: Callable[..., Traffic],
    tmp_path: Path,
) -> None:
    """Every warning has its reason in the answer, and no reason is without a warning."""
    targets = question.targets if "rate" in arrivals else Targets()
    asked = replace(question, traffic=fixed(*lengths, **arrivals), targets=targets, requests=2000)
    found = answer(replace(asked, max_nodes=4))
    best = found.findings.disaggregated
    assert best is not None
    explained = {
        rule for rule in ("DPD003", "DPD306") if any(f"({rule})" in why for why in found.reasons)
    }
    assert warnings_of(best.plan, tmp_path) == explained


def test_the_buffer_holds_a_prompt_for_each_sequence(
    question: Question, fixed: Callable[..., Traffic]
) -> None:
    """It grows with the batch as far as memory goes, and stays within it."""
    asked = replace(question, traffic=fixed(8000, 256, rate=3.0), max_nodes=4)
    best = search(asked).disaggregated
    assert best is not None
    assert best.plan.pd_buffer_bytes >= prompts_bytes(best.plan, asked)
    assert best.plan.pd_buffer_bytes % GIB == 0
    assert problem(best.plan, asked) is None


def test_a_threshold_of_4096_is_taken_where_nothing_is_lost(
    question: Question, fixed: Callable[..., Traffic]
) -> None:
    """Prompts far above it do not care; prompts just above it are not left to an estimate."""
    long = search(replace(question, traffic=fixed(8000, 256, rate=3.0), max_nodes=4))
    near = search(question)
    assert long.disaggregated is not None
    assert near.disaggregated is not None
    assert long.disaggregated.plan.routing_threshold >= 4096
    assert near.disaggregated.plan.routing_threshold == 3072
