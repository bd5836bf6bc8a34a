"""YAML that is read to the line, and YAML that is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.config.source import (
    Source,
    child,
    parse_documents,
    parse_value,
    read_bytes,
    read_source,
)
from dpd.errors import UserError

TWO_HUNDRED = settings(derandomize=True, max_examples=200, deadline=None, database=None)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
    | st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc.-_", max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def parsed(text: str) -> Source:
    (source,) = parse_documents(text.encode(), name="file")
    return source


def faults(raw: bytes) -> tuple[str, ...]:
    try:
        parse_documents(raw, name="file")
    except UserError as error:
        return error.lines
    return ()


def refused(text: str | bytes) -> str:
    with pytest.raises(UserError) as caught:
        parse_documents(text if isinstance(text, bytes) else text.encode(), name="file")
    (line,) = caught.value.lines
    return line


@TWO_HUNDRED
@given(JSON)
def test_json_is_read_as_json(data: Any) -> None:
    """Any JSON value comes out as it went in: nothing is guessed in quoted text."""
    text = json.dumps({"value": data}, ensure_ascii=True)
    assert parsed(text).data == {"value": data}


@TWO_HUNDRED
@given(JSON)
def test_yaml_that_a_tool_wrote_is_read_the_same(data: Any) -> None:
    """What PyYAML writes for JSON data is read back, or its unquoted text is asked to be quoted."""
    message = None
    try:
        result = parsed(yaml.safe_dump({"value": data}, sort_keys=False)).data
    except UserError as error:
        message = str(error)
    assert "text in quotes" in message if message else result == {"value": data}


@TWO_HUNDRED
@given(st.binary(max_size=200))
def test_bytes_are_read_or_refused(raw: bytes) -> None:
    """Nothing but a `UserError` ever comes out of a file."""
    assert all(line.startswith("file:") for line in faults(raw))


@TWO_HUNDRED
@given(st.lists(st.sampled_from(list("-:?&*!|>{}[]#,'\"%@` \n\ta0~<\r\x85\0\ufeff")), max_size=40))
def test_marks_are_read_or_refused(marks: list[str]) -> None:
    """Every order of YAML's own characters is read or refused."""
    assert all(line.startswith("file:") for line in faults("".join(marks).encode()))


def test_every_value_has_the_line_of_its_key() -> None:
    """Keys by their own line, list items by theirs, unknown places by what is around them."""
    source = parsed("a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\n")
    places = {(): 1, ("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "d"): 5}
    assert {path: source.place(path) for path in places} == {
        path: f"file:{line}" for path, line in places.items()
    }
    assert source.place(("b", 1, "e", "f")) == "file:4"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_do_not_matter(ending: str) -> None:
    """Files from Windows count their lines the same."""
    source = parsed(ending.join(["a: 1", "", "b: 2", ""]))
    assert source.data == {"a": 1, "b": 2}
    assert source.place(("b",)) == "file:3"


def test_byte_order_mark_is_no_part_of_the_first_key() -> None:
    """Some Windows editors write one."""
    assert parsed("\ufeffa: 1\n").data == {"a": 1}


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "y", "n", "NO", "True", "FALSE", "Null"]
)
def test_only_lower_case_true_and_false_are_booleans(word: str) -> None:
    """Norway stays Norway."""
    assert parsed(f"a: {word}").data == {"a": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("-3", -3),
        ("0", 0),
        ("+7", 7),
        ("0.75", 0.75),
        (".5", 0.5),
        ("1.", 1.0),
        ("9007199254740992", 2**53),
        ("2026-01-31", "2026-01-31"),
        ("1.2.3", "1.2.3"),
        ("10.1.0.0/16", "10.1.0.0/16"),
        ("'010'", "010"),
        ('"true"', "true"),
        ("a:b", "a:b"),
    ],
)
def test_plain_words(text: str, value: object) -> None:
    """Decimal numbers are numbers; dates and versions are text."""
    result = parsed(f"a: {text}").data["a"]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "number",
    [
        "010",
        "-010",
        "089",
        "0x1F",
        "0o17",
        "0b1",
        "1_000",
        "1:30",
        "12:30:45",
        "00.5",
        ".inf",
        "-.INF",
        ".nan",
        "1.0e999",
        "9007199254740993",
        "9" * 25,
        "9" * 5000,
        "1e17",
        "1e3",
        "1.0e5",
        "1.0e+5",
        "0E0",
        "08",
    ],
)
def test_numbers_that_tools_read_differently_are_refused(number: str) -> None:
    """Octal, hexadecimal, sexagesimal, endless and infinite ones; the message says how to go on."""
    line = refused(f"b: 1\na: {number}")
    assert line.startswith("file:2: given ")
    assert "without leading zeros or exponent, or text in quotes" in line
    assert len(line) < 300
    assert parsed(f"a: '{number}'").data == {"a": number}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x [1]\nb: *x", "file:2: alias '*x' is not allowed; write the value out"),
        ("b: 1\n<<: {a: 1}", "file:2: merge key '<<' is not allowed; write the values out"),
        ("a: 1\nb: 2\na: 3", "file:3: key 'a' is there twice; remove one"),
        ("a: !!int '5'", "file:1: tag 'tag:yaml.org,2002:int' is not allowed; write a plain value"),
        ("a: !!set {b}", "file:1: tag 'tag:yaml.org,2002:set' is not allowed; write a plain value"),
        ("a: !x [1]", "file:1: tag '!x' is not allowed; write a plain value"),
        ("!!python/name:os.system a", "file:1: tag"),
        ("a: 1\n? [b]\n: 1", "file:2: a key must be a plain word"),
        ("a: 1\n? !!int 5\n: 1", "file:2: a key must be a plain word"),
        ("a:\n\tb: 1", "file:2: not YAML"),
        ("a: 1\nb: [", "file:3: not YAML"),
        ("a: 1\nb: \0", "file:2: not YAML: holds a control character"),
        (b"a: 1\nb: \xff", "file:2: not UTF-8 text; save it as UTF-8"),
        ("a: 1".encode("utf-16"), "file:1: not UTF-8 text; save it as UTF-8"),
        ("[" * 100_000, "file:1: "),
        ("{a: " * 41 + "1", "file:1: nested too deep; allowed: 40 levels"),
    ],
)
def test_refusals_name_the_line_and_the_reason(text: str | bytes, line: str) -> None:
    """What this reader does not take, with the line where it stands."""
    assert refused(text).startswith(line)


def test_tabs_get_advice() -> None:
    """The parser's own words do not say what to do."""
    assert refused("a:\n\tb: 1").endswith("indent with spaces, not tabs")
    assert "tabs" not in refused("a: [")


def test_aliases_cannot_blow_up() -> None:
    """A `billion laughs` file is refused at its first alias."""
    levels = [f"l{i}: &l{i} [*l{i - 1}, *l{i - 1}]" for i in range(1, 60)]
    assert refused("\n".join(["l0: &l0 [x]", *levels])).startswith("file:2: alias '*l0'")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "env.yaml:1: the file is empty; allowed: one YAML document"),
        ("# only a comment\n", "env.yaml:1: the file is empty; allowed: one YAML document"),
        ("a: 1\n---\nb: 1\n", "env.yaml:3: one of 2 YAML documents; allowed: one in a file"),
        ("x" * 1_000_001, "env.yaml: larger than 1000000 bytes; is it the right file?"),
    ],
)
def test_a_file_holds_one_document(tmp_path: Path, text: str, line: str) -> None:
    """None, several and far too much are refused."""
    path = tmp_path / "env.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_source(path, name="env.yaml")
    assert caught.value.lines == (line,)


def test_a_megabyte_is_read(tmp_path: Path) -> None:
    """The limit itself is allowed."""
    path = tmp_path / "env.yaml"
    path.write_bytes(b"a: " + b"x" * 999_997)
    assert len(read_source(path).data["a"]) == 999_997


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder or nothing at all, with the system's reason."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to(tmp_path / "link.yaml")
    for name in ("folder.yaml", "missing.yaml", "link.yaml"):
        with pytest.raises(UserError, match=f"{name}: cannot be read: "):
            read_bytes(tmp_path / name, name=name)


@pytest.mark.parametrize(
    ("text", "value"), [("", None), ("3", 3), ("[a, b]", ["a", "b"]), ("x", "x")]
)
def test_values_outside_a_file(text: str, value: object) -> None:
    """A context parameter is YAML too."""
    assert parse_value(text, name="-c x") == value


@pytest.mark.parametrize("text", ["[", "1\n---\n2", "\udcff", "*a", "\0", "010", "a: b: c"])
def test_values_outside_a_file_have_no_line(text: str) -> None:
    """The parameter is the place."""
    with pytest.raises(UserError, match=r"^-c x: "):
        parse_value(text, name="-c x")


def test_child_of_what_has_none() -> None:
    """Wrong kinds of keys and positions that are not there give nothing."""
    assert child({"a": 1}, "a") == 1
    assert child([1, 2], 1) == 2
    others: list[tuple[Any, str | int]] = [([1], 1), ([1], "a"), ("text", 0), (None, "a")]
    for data, key in [*others, ({"a": 1}, "b")]:
        assert child(data, key) is None
