"""Environment files to change, load and see refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpd.config import Environment, load_environment
from dpd.config.loader import ENVIRONMENTS
from dpd.errors import UserError

Load = Callable[..., Environment]
Refusal = Callable[..., tuple[str, ...]]


@pytest.fixture(scope="session")
def prod() -> str:
    """The text of the shipped `prod` environment."""
    return (ENVIRONMENTS / "prod.yaml").read_text(encoding="utf-8")


@pytest.fixture
def edited(prod: str) -> Callable[..., str]:
    """`prod` with one piece of text replaced; the piece must be there."""

    def edit(old: str, new: str) -> str:
        assert old in prod
        return prod.replace(old, new, 1)

    return edit


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a text as environment `prod`, with context parameters."""

    def load_text(text: str | bytes, **context: Any) -> Environment:
        folder = tmp_path / "environments"
        folder.mkdir(exist_ok=True)
        raw = text.encode() if isinstance(text, str) else text
        (folder / "prod.yaml").write_bytes(raw)
        return load_environment({"env": "prod", "environments": str(folder), **context})

    return load_text


@pytest.fixture
def refusal(load: Load) -> Refusal:
    """The lines with which a text is refused."""

    def refused(text: str | bytes, **context: Any) -> tuple[str, ...]:
        with pytest.raises(UserError) as caught:
            load(text, **context)
        return caught.value.lines

    return refused


@pytest.fixture(scope="session")
def environment() -> Environment:
    """The shipped `prod` environment."""
    return load_environment({"env": "prod"})
