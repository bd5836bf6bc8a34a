"""The app as a program of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CONTEXT, ROOT

Completed = subprocess.CompletedProcess[str]
RunApp = Callable[..., Completed]
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""Where this Python lies, there lies its Node.js, too."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that is gone after the test: assets are sixty megabytes."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(scope="session")
def run_app() -> RunApp:
    """Run `python app.py` as the CDK's command line does."""

    def run(
        output: Path,
        *,
        app: Path = ROOT / "app.py",
        cwd: Path | None = None,
        variables: dict[str, str] | None = None,
        **context: Any,
    ) -> Completed:
        environment = {
            "PATH": PROGRAMS,
            "HOME": os.environ.get("HOME", ""),
            "CDK_VALIDATION": "false",
            "CDK_OUTDIR": str(output),
            "CDK_CONTEXT_JSON": json.dumps({**CONTEXT, **context}),
            **(variables or {}),
        }
        return subprocess.run(
            [sys.executable, str(app)],
            cwd=cwd or output.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run
