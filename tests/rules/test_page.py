"""docs/rules.md is what the rules say, and nothing that is known falls between."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from dpd.rules.check import all_rules

ROOT = Path(__file__).parents[2]
COVERAGE: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (ROOT / "scripts/rules_coverage.yaml").read_text(encoding="utf-8")
)
ENTRIES = [each for entries in COVERAGE.values() for each in entries]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rules_page", ROOT / "scripts/rules_page.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_up_to_date(script: ModuleType) -> None:
    """`python scripts/rules_page.py` writes it."""
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_page_tells_of_every_rule(script: ModuleType) -> None:
    page = script.page()
    for rule in all_rules():
        assert f"### {rule.id}: {rule.title}\n" in page


def test_coverage_names_rules_that_exist() -> None:
    named = {id_ for each in ENTRIES for id_ in each.get("rules", [])}
    assert named <= {rule.id for rule in all_rules()}


def test_every_entry_is_caught_by_something() -> None:
    places = {"rules", "loader", "constructs", "preflight", "verify", "guides"}
    for each in ENTRIES:
        by = each.get("by", "rules")
        assert by in places or (by == "nobody" and each["why"])
        assert by != "rules" or each["rules"]
        assert each.get("also", "rules") in places


def test_every_report_is_accounted_for(shared: Path) -> None:
    text = (shared / "facts/field-reports.md").read_text(encoding="utf-8")
    reports = set(map(int, re.findall(r"^(\d+)\. ", text, flags=re.MULTILINE)))
    assert {each["report"] for each in COVERAGE["reports"]} == reports


def test_every_check_worth_making_is_accounted_for(shared: Path) -> None:
    text = (shared / "facts/workloads.md").read_text(encoding="utf-8")
    section = text.split("## 7. ")[1].split("## 8. ")[0]
    checks = set(map(int, re.findall(r"^\| (\d+) \|", section, flags=re.MULTILINE)))
    assert {each["check"] for each in COVERAGE["checks"]} == checks
