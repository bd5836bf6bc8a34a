"""`.ci/run` fails when a test does, and when none ran."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"


@pytest.mark.parametrize(
    ("says", "status", "passes"),
    [
        ("12 passed in 3.4s", 0, True),
        ("10 passed, 2 skipped in 3.4s", 0, True),
        ("\033[32m\033[1m1 passed\033[0m in 3.4s", 0, True),
        ("1 failed, 11 passed in 3.4s", 2, False),
        ("no tests ran in 0.1s", 2, False),
        ("no tests ran in 0.1s", 0, False),
        ("3 skipped in 0.1s", 0, False),
        ("", 0, False),
    ],
)
def test_status(says: str, status: int, passes: bool, tmp_path: Path) -> None:
    """Whatever `make test` says and returns."""
    make = tmp_path / "make"
    make.write_text(f"#!/bin/sh\n[ \"$*\" = test ] || exit 9\necho '{says}'\nexit {status}\n")
    make.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run([SCRIPT], env=environment, capture_output=True, check=False)
    assert (result.returncode == 0) is passes
