"""The progress bar: silent on pipes and in the first second."""

import io

import pytest

from dpd.planner import progress
from dpd.planner.progress import ProgressBar


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "wait", "is_drawn"),
    [(_Terminal(), 0.0, True), (_Terminal(), 60.0, False), (io.StringIO(), 0.0, False)],
    ids=["late", "early", "pipe"],
)
def test_it_draws_on_a_terminal_after_a_while(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, wait: float, is_drawn: bool
) -> None:
    """And takes the line away at the end."""
    monkeypatch.setattr(progress, "_WAIT_SECONDS", wait)
    bar = ProgressBar(stream=stream)
    bar("one plan")
    assert ("one plan" in stream.getvalue()) == is_drawn
    bar.done()
    assert stream.getvalue().endswith("\r\033[K") == is_drawn
