"""Every rule fires on a file that breaks just it, and not on the file's neighbour."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dpd.rules import Finding, check_file
from dpd.rules.check import all_rules

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
BASES = ("disaggregated", "colocated", "environment")
_ARGUMENTS = {
    "args": "spec.worker.args",
    "prefillArgs": "spec.pdSpec.prefillSpec.args",
    "decodeArgs": "spec.pdSpec.decodingSpec.args",
}


def base(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((HERE / f"files/{name}.yaml").read_text(encoding="utf-8"))
    return data


def edit(data: dict[str, Any], edits: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documents that edits make of one."""
    documents = [data]
    for key, value in sorted(edits.items(), key=lambda item: item[0] in _ARGUMENTS):
        if key == "twice":
            documents += edit(yaml.safe_load(yaml.safe_dump(data)), value)
        elif key == "variables":
            variables = data["spec"]["worker"].setdefault("environmentVariables", [])
            kept = {each["name"]: each["value"] for each in variables} | value
            data["spec"]["worker"]["environmentVariables"] = [
                {"name": name, "value": text} for name, text in kept.items() if text is not None
            ]
        elif key in _ARGUMENTS:
            node, last = _parent(data, _ARGUMENTS[key])
            node[last] = [*node.get(last, []), *value]
        else:
            node, last = _parent(data, key)
            if value is None:
                node.pop(last)
            else:
                node[last] = value
    return documents


def _parent(data: dict[str, Any], dotted: str) -> tuple[Any, Any]:
    *above, last = dotted.split(".")
    node: Any = data
    for key in above:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    return node, last


def findings(folder: Path, name: str, edits: dict[str, Any]) -> list[Finding]:
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump_all(edit(base(name), edits), sort_keys=False), encoding="utf-8")
    return check_file(file)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["rule"])
def test_rule_fires_on_its_file_and_not_on_the_neighbour(
    case: dict[str, Any], tmp_path: Path
) -> None:
    usual = {each.rule for each in findings(tmp_path, case["base"], {})}
    broken = {each.rule for each in findings(tmp_path, case["base"], case["broken"])}
    neighbour = {each.rule for each in findings(tmp_path, case["base"], case["neighbour"])}
    assert broken - usual == {case["rule"]}
    assert neighbour <= usual - {case["rule"]}


def test_every_rule_has_a_case() -> None:
    assert {case["rule"] for case in CASES} == {rule.id for rule in all_rules()}


@pytest.mark.parametrize("name", ["disaggregated", "colocated"])
def test_base_manifests_have_no_findings(name: str, tmp_path: Path) -> None:
    assert findings(tmp_path, name, {}) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["rule"])
def test_finding_names_what_was_given_and_where(case: dict[str, Any], tmp_path: Path) -> None:
    """One line, a line number, and texts in all three parts."""
    for each in findings(tmp_path, case["base"], case["broken"]):
        assert each.line is not None
        assert each.message
        assert each.fix
        assert each.source
        assert str(each).isprintable()


def test_rules_are_written_up() -> None:
    for rule in all_rules():
        assert rule.title
        assert rule.explanation.endswith((".", "`", "...`."))
        assert not rule.title.endswith(".")
