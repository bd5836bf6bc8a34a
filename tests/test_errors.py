"""Errors that a person is meant to read."""

import pytest

from dpd.errors import UserError, exit_on_user_error, nearest, shortened, shown, suggestion


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("prefil", "prefill"),
        ("PREFILL", "prefill"),
        ("decod", "decode"),
        ("router", None),
        ("", None),
    ],
)
def test_nearest(given: str, meant: str | None) -> None:
    """Near in spelling, whatever the case."""
    assert nearest(given, ["prefill", "decode"]) == meant


def test_suggestion_names_one_or_all() -> None:
    """The right word where one is near, else every word, sorted; never an empty promise."""
    assert suggestion("prefil", ["prefill", "decode"]) == "did you mean 'prefill'?"
    assert suggestion("xyz", ["prefill", "decode"]) == "allowed: decode, prefill"
    assert suggestion("xyz", []) == "allowed: none"
    assert suggestion("xyz", iter(["b", "a"])) == "allowed: a, b"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (1.5, "1.5"),
        ("a", "'a'"),
        ({"a": 1}, "a mapping"),
        ([1], "a list"),
        ((), "a list"),
        ("a\nb", "'a\\nb'"),
        ("", "''"),
    ],
)
def test_values_are_shown_as_a_file_holds_them(value: object, text: str) -> None:
    """No `None`, no `True`, no page of data."""
    assert shown(value) == text


def test_long_text_loses_its_middle() -> None:
    """Both ends stay, since they tell it apart."""
    assert shortened("a" * 100) == "a" * 100
    short = shortened("begin" + "-" * 1000 + "end")
    assert len(short) == 100
    assert short.startswith("begin")
    assert short.endswith("end")
    assert len(shown("x" * 10**6)) == 100


def test_lines_hold_no_control_characters() -> None:
    """What a file holds does not reach the terminal as a command, nor breaks a line."""
    error = UserError("a\nb", "\x1b[31mred\u202e", "caf\u00e9 \udcff")
    assert error.lines == ("a\\nb", "\\x1b[31mred\\u202e", "caf\u00e9 \\udcff")
    assert str(error).count("\n") == 2


def test_user_error_ends_in_lines_and_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    """One `error:` line each on stderr, status 2, no traceback."""
    with pytest.raises(SystemExit) as caught, exit_on_user_error():
        raise UserError("first", "second")
    assert caught.value.code == UserError.exit_code == 2
    assert capsys.readouterr() == ("", "error: first\nerror: second\n")


def test_other_errors_are_no_user_errors() -> None:
    """A fault of ours keeps its traceback."""
    with pytest.raises(ZeroDivisionError), exit_on_user_error():
        raise ZeroDivisionError


def test_nothing_happens_without_an_error() -> None:
    """The block simply runs."""
    with exit_on_user_error():
        done = True
    assert done
