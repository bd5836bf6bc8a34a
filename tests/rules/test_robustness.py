"""Whatever a file holds, it ends in findings or in one clear line."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpd.errors import UserError
from dpd.rules import check_file, check_text

HERE = Path(__file__).parent
TEXTS = [path.read_bytes() for path in sorted((HERE / "files").glob("*.yaml"))]
GOOD = TEXTS[1]
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)
)


def lines_of(raw: bytes) -> list[str]:
    """Return the findings, or the one line in place of them."""
    try:
        return [str(each) for each in check_text(raw, name="file.yaml")]
    except UserError as error:
        lines = list(error.lines)
    assert len(lines) == 1
    assert lines[0].startswith("file.yaml")
    return lines


@settings(derandomize=True, deadline=None)
@given(raw=st.binary(max_size=300))
@example(raw=b"\x00")
@example(raw=b"\xff\xfe{\x00}\x00")
@example(raw=b"%YAML 9.9\n---\na: 1")
@example(raw=b"!!python/object:os.system {}")
@example(raw=b"? [a]\n: b")
@example(raw=b"{'\\ud800': 1}")
def test_any_bytes_end_in_clear_lines(raw: bytes) -> None:
    for line in lines_of(raw):
        assert line.isprintable()


@given(data=st.data())
@settings(derandomize=True, deadline=None)
def test_damaged_files_end_in_clear_lines(data: st.DataObject) -> None:
    """A right file with some bytes cut out, put in or turned round."""
    raw = bytearray(data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        new = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"\t", b": ", b"- ", b"\n", b"[", b"&a"])
        )
        raw[at : at + data.draw(st.integers(0, 12))] = new
    for line in lines_of(bytes(raw)):
        assert line.isprintable()


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (BOMB, "alias"),
        (b"a: " + b"[" * 60 + b"]" * 60, "nested too deep"),
        (b"a: " + b"[" * 5000, "nesting"),
        (b"{" * 100_000, "nesting"),
        (b"x" * 2_000_000, ""),
        (b"spec:\n\treplicas: 1\n", "not YAML"),
        (b"region: us-east-2\nregion: us-west-2\n", "'region' is there twice"),
        (b"", "holds no document"),
        (b"# nothing\n", "holds no document"),
        (b"just text\n", "given 'just text'"),
        (b"- a\n- b\n", "given a list"),
        (b"a: 1\n", "neither environment nor manifest"),
        (b"\xe9t\xe9: 1\n", "not UTF-8"),
    ],
    ids=lambda value: value[:12].decode("latin-1") if isinstance(value, bytes) else value,
)
def test_trouble_is_one_line(raw: bytes, told: str) -> None:
    with pytest.raises(UserError) as error:
        check_text(raw, name="file.yaml")
    assert len(error.value.lines) == 1
    assert told in error.value.lines[0]


def test_a_huge_file_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    with file.open("wb") as stream:
        stream.truncate(3_000_000_000)  # Sparse: it takes no room.
    with pytest.raises(UserError, match=r"huge\.yaml: larger than \d+ bytes"):
        check_file(file)


@pytest.mark.parametrize("name", [".", "absent.yaml", "absent/absent.yaml"])
def test_what_is_no_file_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        check_file(tmp_path / name)


@pytest.mark.parametrize("raw", TEXTS)
def test_windows_line_ends_change_nothing(raw: bytes) -> None:
    assert lines_of(raw.replace(b"\n", b"\r\n")) == lines_of(raw)


@pytest.mark.parametrize("raw", TEXTS)
def test_a_byte_order_mark_changes_nothing(raw: bytes) -> None:
    assert lines_of(b"\xef\xbb\xbf" + raw) == lines_of(raw)


@pytest.mark.parametrize("word", ["yes", "no", "on", "OFF", "Yes", "NO"])
def test_norway_is_no_boolean(word: str) -> None:
    """YAML 1.1's other booleans are text here, and a field that wants a boolean says so."""
    broken = GOOD.replace(b"{enableL1Cache: true}", b"{enableL1Cache: %s}" % word.encode())
    (line,) = lines_of(broken)
    assert "DPD102" in line
    assert "spec.kvCacheSpec.enableL1Cache" in line
    assert repr(word) in line
