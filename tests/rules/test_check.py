"""From files to findings: documents, lists, kinds, and what is said once."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpd.config.loader import environment_from
from dpd.config.source import parse_documents
from dpd.errors import UserError
from dpd.rules import Severity, check_environment, check_text

HERE = Path(__file__).parent
MANIFEST = yaml.safe_load((HERE / "files/colocated.yaml").read_text(encoding="utf-8"))
ENVIRONMENT = (HERE / "files/environment.yaml").read_text(encoding="utf-8")
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving"}}


def changed(**spec: Any) -> dict[str, Any]:
    return {**MANIFEST, "spec": {**MANIFEST["spec"], **spec}}


def rules(*documents: Any) -> list[str]:
    text = yaml.safe_dump_all(documents, sort_keys=False)
    return [each.rule for each in check_text(text.encode(), name="file.yaml")]


def test_documents_of_other_kinds_are_one_note() -> None:
    found = check_text(
        yaml.safe_dump_all([NAMESPACE, MANIFEST, {**NAMESPACE, "kind": "Role"}]).encode(), name="f"
    )
    assert [(each.rule, each.severity) for each in found] == [("DPD100", Severity.NOTE)]
    assert "2 documents of other kinds: Namespace, Role" in found[0].message


def test_every_document_of_a_file_is_checked() -> None:
    second = changed(endpointName="other", replicas="2")
    second["metadata"] = {"name": "other"}
    assert rules(MANIFEST, None, second) == ["DPD102"]


def test_items_of_a_list_are_checked() -> None:
    data = {"apiVersion": "v1", "kind": "List", "items": [NAMESPACE, changed(replicas="2")]}
    found = check_text(json.dumps(data, indent="\t").encode(), name="file.json")
    assert [each.rule for each in found] == ["DPD100", "DPD102"]
    assert found[1].path == "items.1.spec.replicas"
    assert found[1].line


def test_json_may_be_indented_by_tabs() -> None:
    text = json.dumps(MANIFEST, indent="\t").encode()
    assert check_text(text, name="file.json") == []


def test_objects_from_a_cluster_are_read() -> None:
    """The server's own fields are no mistakes of the author's."""
    served = changed()
    served["metadata"] = {
        **MANIFEST["metadata"],
        **{"uid": "1", "resourceVersion": "2", "generation": 3, "managedFields": []},
        **{"creationTimestamp": "2026-11-01T00:00:00Z", "finalizers": ["a/b"]},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "$NAME"},
    }
    assert rules({**served, "status": {"state": "DeploymentComplete"}}) == []


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"apiVersion": "inference.sagemaker.aws.amazon.com/v1alpha1"}, "DPD101"),
        ({"apiVersion": "inference.sagemaker.aws.amazon.com/v2"}, "DPD102"),
        ({"kind": "inferenceendpointconfig"}, "DPD102"),
        ({"kind": None}, "DPD102"),
    ],
)
def test_versions_and_kinds_are_checked(edits: dict[str, str], expected: str) -> None:
    assert expected in rules({**MANIFEST, **edits})


def test_v1alpha1_is_read() -> None:
    old = {**MANIFEST, "apiVersion": "inference.sagemaker.aws.amazon.com/v1alpha1"}
    worker = {key: value for key, value in MANIFEST["spec"]["worker"].items() if key != "args"}
    old["spec"] = {**MANIFEST["spec"], "worker": worker}
    assert rules(old) == []


def test_v1alpha1_says_everything_at_once() -> None:
    """What the version lacks, and what would be wrong in any version."""
    old = {**changed(replicas="2"), "apiVersion": "inference.sagemaker.aws.amazon.com/v1alpha1"}
    assert sorted(rules(old)) == ["DPD101", "DPD102"]


def test_a_value_is_told_of_once() -> None:
    """Though it also breaks the pattern of its field."""
    assert rules(changed(instanceType="$TYPE")) == ["DPD105"]
    text = (HERE / "files/disaggregated.yaml").read_text(encoding="utf-8")
    found = check_text(text.replace(": ml.p5", ": p5").encode(), name="m.yaml")
    assert [each.rule for each in found] == ["DPD202"]


def test_overrides_are_checked_like_a_manifest() -> None:
    overrides = "\n    overrides: {pdSpec: {topologySpec: {sameAz: false, placementGroup: mine}}}"
    found = check_text((ENVIRONMENT.rstrip() + overrides).encode(), name="e.yaml")
    told = {each.rule: each.path for each in found}
    assert told["DPD101"] == "endpoints.chat.overrides.pdSpec.topologySpec.sameAz"
    assert told["DPD508"] == "endpoints.chat.overrides.pdSpec.topologySpec.placementGroup"


def test_ignored_rules_are_silent_here_and_at_synth() -> None:
    """In the file that ignores them, whoever reads it."""
    text = ENVIRONMENT.replace("region: us-east-2", "region: us-east-2\nignore: {DPD005: small}")
    text += "    args: [--max-num-seqs, '1']\n"
    assert "DPD005" in {
        each.rule for each in check_text(text.replace("DPD005", "DPD004").encode(), name="e")
    }
    assert "DPD005" not in {each.rule for each in check_text(text.encode(), name="e")}
    (source,) = parse_documents(text.encode(), name="e")
    found = check_environment(environment_from(source, name="e"), source)
    assert "DPD005" not in {each.rule for each in found}


def test_synth_is_told_what_the_check_tells() -> None:
    """With the source the same to the line, without it the same but for lines."""
    text = ENVIRONMENT + "    args: [--max-num-seqs, '1', --max-num-sequences, '2']\n"
    (source,) = parse_documents(text.encode(), name="e")
    environment = environment_from(source, name="e")
    found = check_text(text.encode(), name="e")
    assert {each.rule for each in found} >= {"DPD005", "DPD110"}
    assert check_environment(environment, source) == found
    bare = check_environment(environment)
    assert [(each.rule, each.path) for each in bare] == sorted(
        ((each.rule, each.path) for each in found),
        key=lambda told: [b.rule for b in bare].index(told[0]),
    )
    assert {each.line for each in bare} == {None}


def test_a_wrong_environment_is_not_judged_by_guesses() -> None:
    text = ENVIRONMENT.replace("model: Llama-3.3-70B-Instruct", "model: Lama")
    (finding,) = check_text(text.encode(), name="e.yaml")
    assert finding.rule == "DPD104"
    assert "'Lama'" in finding.message
    assert finding.line == 20


def test_a_file_of_no_kind_is_not_passed_over() -> None:
    with pytest.raises(UserError, match="neither environment nor manifest"):
        check_text(b"image: a\n", name="values.yaml")


def test_sums_are_printed() -> None:
    """The documented endpoint with a buffer of half a request: how much, and why."""
    text = (HERE / "files/disaggregated.yaml").read_text(encoding="utf-8")
    found = check_text(text.replace("8589934592", "335544320").encode(), name="m.yaml")
    (finding,) = (each for each in found if each.rule == "DPD302")
    assert finding.message == (
        "given 0.3125 GiB, but a request of 16384 tokens takes 64 chunks x 256 x 40,960 bytes per "
        "token and rank (llama-3.3-70b, tensor parallel size 8) = 0.625 GiB; "
        "allowed: 0.625 GiB or more"
    )
    assert finding.path == "spec.worker.environmentVariables.PD_BUFFER_SIZE.value"


def test_forgotten_quotes_are_said_once() -> None:
    """The number is judged as if it had them, so nothing follows from their lack."""
    data = yaml.safe_load((HERE / "files/disaggregated.yaml").read_text(encoding="utf-8"))
    worker = data["spec"]["worker"]
    worker["args"] = [int(word) if word.isdecimal() else word for word in worker["args"]]
    worker["environmentVariables"][0]["value"] = 1
    found = check_text(yaml.safe_dump(data).encode(), name="m.yaml")
    bare = [each for each in found if each.rule == "DPD102"]
    assert len(bare) == 4
    assert {each.fix for each in bare} == {"put it in quotes"}
    assert {each.rule for each in found} == {"DPD102", "DPD301"}


def test_the_name_of_an_environment_is_its_files() -> None:
    (finding,) = (
        each
        for each in check_text(ENVIRONMENT.encode(), name="a/My_env.yaml")
        if each.rule == "DPD102"
    )
    assert (finding.path, finding.file, finding.line) == ("name", "a/My_env.yaml", None)
    assert finding.fix == "rename the file"
