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


DISAGGREGATED = yaml.safe_load((HERE / "files/disaggregated.yaml").read_text(encoding="utf-8"))


def with_args(*args: str, image: str | None = None) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(DISAGGREGATED))
    data["spec"]["worker"]["args"] += args
    data["spec"]["worker"]["image"] = image or data["spec"]["worker"]["image"]
    return data


@pytest.mark.parametrize(
    ("size", "told"), [("6", "DPD208"), ("0", "DPD112"), ("16", "DPD204"), ("x", "DPD112")]
)
def test_nothing_follows_from_a_wrong_size(size: str, told: str) -> None:
    data = with_args()
    args = data["spec"]["worker"]["args"]
    args[args.index("--tensor-parallel-size") + 1] = size
    assert set(rules(data)) == {told}


def test_words_in_one_item_are_told_of_once_each() -> None:
    """And read as they were meant: a wrong value among them is told of too."""
    found = check_text(
        yaml.safe_dump(with_args("--max-num-seqs 0 --seed 1", "--block-size=16")).encode(), name="f"
    )
    told = {each.rule: each for each in found}
    assert sorted(each.rule for each in found) == ["DPD112", "DPD118"]
    assert told["DPD118"].fix == "write --max-num-seqs, 0, --seed, 1"


def test_hints_do_not_say_the_opposite() -> None:
    def hint(*args: str, **kinds: Any) -> str:
        document = with_args(*args) if not kinds else changed(**kinds)
        (finding,) = check_text(yaml.safe_dump(document).encode(), name="f")
        return finding.fix

    assert hint("--disable-log-requests") == "remove it"
    assert hint("--disabel-log-stats") == "did you mean --disable-log-stats?"
    worker = {**MANIFEST["spec"]["worker"], "image": "own/vllm:1", "args": ["--device", "neuron"]}
    assert hint(worker=worker) == "see whether the vLLM in the image knows it"
    other = json.loads(json.dumps(DISAGGREGATED).replace("ml.p5.48xlarge", "ml.g6e.48xlarge"))
    (finding,) = check_text(json.dumps(other).encode(), name="f")
    assert (finding.rule, finding.fix) == ("DPD202", "choose one of them")


@pytest.mark.parametrize(
    ("ignored", "old", "new", "kept"),
    [
        ("DPD101", "region:", "foo: 1\nregion:", "DPD101"),
        ("DPD102", "us-east-2", "mars", "DPD102"),
        ("DPD104", "model: Llama", "model: Lama", "DPD104"),
        ("DPD201", "name: decode,", "name: decode, count: 0,", "DPD201"),
        ("DPD115", "region:", "region:", "DPD115"),
    ],
)
def test_what_the_models_refuse_cannot_be_ignored(
    ignored: str, old: str, new: str, kept: str
) -> None:
    """And to ignore it is a mistake of its own, which refuses the synth as well."""
    text = ENVIRONMENT.replace(old, new, 1) + f"ignore: {{{ignored}: why, DPD606: why}}\n"
    found = check_text(text.encode(), name="e.yaml")
    assert {each.rule for each in found} == {kept, "DPD115"}
    (told,) = (each for each in found if each.rule == "DPD115")
    assert told.path == f"ignore.{ignored}"


def test_published_formats_decide_what_fits() -> None:
    """671e9 parameters in 8 bits fit eight GPUs of 141 GiB; in 16 bits they do not."""
    for name, expected in (("DeepSeek-V3", set()), ("DeepSeek-V3-BF16", {"DPD305"})):
        data = with_args()
        spec = data["spec"]
        spec |= {"modelName": name, "instanceType": "ml.p5en.48xlarge"}
        spec["modelSourceConfig"]["modelLocation"] = name
        assert set(rules(data)) - {"DPD002", "DPD306"} == expected
