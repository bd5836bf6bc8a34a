"""vLLM's flags: the data file and the reading of arguments."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.catalog import vllm_flags as flags
from dpd.catalog.vllm_flags import MODEL_TAG, parse

ROOT = Path(__file__).parents[2]
KNOWN = flags.known_flags()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vllm_flags", ROOT / "scripts/vllm_flags.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def help_text(shared: Path) -> str:
    return (shared / "data/vllm-0.19.0-serve-flags.txt").read_text(encoding="utf-8")


def test_data_file_is_what_the_script_writes(script: ModuleType, help_text: str) -> None:
    assert script.DATA_FILE.read_text(encoding="utf-8") == script.rendered(help_text)


def test_no_flag_of_the_help_text_is_missing(help_text: str) -> None:
    """Every word after two spaces at the start of a line that looks like a flag."""
    written = set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", help_text, flags=re.MULTILINE))
    assert set(KNOWN) == written
    assert len(KNOWN) > 200


def test_data_has_types_and_choices() -> None:
    assert KNOWN["tensor-parallel-size"].type == "whole number"
    assert KNOWN["gpu-memory-utilization"].type == "number"
    assert KNOWN["max-model-len"].type == "human-readable number"
    assert KNOWN["kv-transfer-config"].type == "JSON"
    assert "fp8" in KNOWN["kv-cache-dtype"].choices
    assert KNOWN["enable-prefix-caching"].takes == "negatable"
    assert KNOWN["api-key"].takes == "list"
    assert json.loads((ROOT / "dpd/catalog/vllm_flags.json").read_text())["version"] == "0.19.0"


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--max-model-len", "16k"], "max-model-len", "16k"),
        (["--max-model-len=16k"], "max-model-len", "16k"),
        (["--max_model_len", "16k"], "max-model-len", "16k"),
        (["-tp", "8"], "tensor-parallel-size", "8"),
        (["-tp=8"], "tensor-parallel-size", "8"),
        (["--tensor-par", "8"], "tensor-parallel-size", "8"),
        (["--max-model-len", "-1"], "max-model-len", "-1"),
        (["--kv-transfer-config.kv_role", "kv_both"], "kv-transfer-config", "kv_both"),
        (["-cc.mode=3"], "compilation-config", "3"),
        (["-O3"], "optimization-level", "3"),
        (["--enforce-eager"], "enforce-eager", "true"),
        (["--no-enforce-eager"], "enforce-eager", "false"),
        (["--no_enable_prefix_caching"], "enable-prefix-caching", "false"),
        (["/opt/ml/model"], MODEL_TAG, "/opt/ml/model"),
        (["--hf-token"], "hf-token", ""),
    ],
)
def test_arguments_are_read_as_vllm_reads_them(words: list[str], name: str, value: str) -> None:
    (flag,) = parse(words, ("args",))
    assert (flag.name, flag.value) == (name, value)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("--port 8000", [("port", "8000")]),
        ("-tp 8 --enforce-eager", [("tensor-parallel-size", "8"), ("enforce-eager", "true")]),
        ("--served-model-name=a b", [("served-model-name", "a b")]),
        ("--nonsense 1", [(MODEL_TAG, "--nonsense 1")]),
    ],
)
def test_an_item_of_several_words_is_read_as_meant(
    item: str, expected: list[tuple[str, str]]
) -> None:
    found = parse([item], ())
    assert [(flag.name, flag.value) for flag in found] == expected
    assert {flag.path for flag in found} == {(0,)}
    is_joined = " " in item.partition("=")[0] and expected[0][0] != MODEL_TAG
    assert {flag.item for flag in found} == {item if is_joined else None}


@pytest.mark.parametrize(
    ("value", "meant"), [("True", "true"), ("false", "false"), ("FALSE", "false")]
)
def test_a_truth_value_belongs_to_its_flag(value: str, meant: str) -> None:
    """VLLM would take it for the model; a rule tells of it."""
    (flag,) = parse(["--enable-chunked-prefill", value], ())
    assert (flag.values, flag.value) == ((value,), meant)


def test_lists_end_at_the_next_flag() -> None:
    first, second = parse(["--served-model-name", "a", "b", "--seed", "1"], ())
    assert first.values == ("a", "b")
    assert second.values == ("1",)
    assert second.path == (3,)


@pytest.mark.parametrize("word", ["--max-modle-len", "--max", "--", "-x", "--kv-transfer"])
def test_what_is_no_flag_is_not_known(word: str) -> None:
    """An ambiguous beginning is none either: vLLM refuses it."""
    (flag,) = parse([word], ())
    assert (flag.known is None) == (word != "--kv-transfer")


@pytest.mark.parametrize(
    ("text", "number"),
    [("16384", 16384), ("16k", 16000), ("16K", 16384), ("25.6k", 25600), ("1M", 2**20)],
)
def test_whole_numbers_have_multiples(text: str, number: int) -> None:
    assert flags.whole_number(text) == number


@pytest.mark.parametrize("text", ["", "k", "1.5", "25.6K", "x", "9" * 5000, "1e3", "-", "nan"])
def test_what_is_no_whole_number_is_none(text: str) -> None:
    assert flags.whole_number(text) is None


WORD = st.one_of(
    st.text(max_size=12),
    st.sampled_from([f"--{name}" for name in KNOWN]),
    st.builds("--{}={}".format, st.sampled_from(sorted(KNOWN)), st.text(max_size=5)),
    st.integers(),
    st.none(),
)


@settings(derandomize=True, deadline=None)
@given(words=st.lists(WORD, max_size=12))
def test_any_arguments_are_read(words: list[object]) -> None:
    """Whatever they are; nothing is lost, and order is kept."""
    found = parse(words, ())
    positions = [flag.path[0] for flag in found]
    assert positions == sorted(set(positions), key=positions.index)
    assert sum(1 + len(f.values) for f in found) <= 2 * len(words)
    for flag in found:
        assert isinstance(flag.value, str)
