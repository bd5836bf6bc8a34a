"""A folder that stands for a new node, and stand-ins for the programs that change a real one."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = (
    Path(__file__).resolve().parents[2] / "constructs/dpd_constructs/assets/lifecycle/on_create.sh"
)
NVME = "/opt/dlami/nvme"
EBS = "/opt/sagemaker"

_FAKES = {
    "mountpoint": 'grep -qxF -- "$2" "$FAKE/mounted"',
    "sync": ":",
    # A file named like the number of a pause holds what is mounted once that pause is over.
    "sleep": 'echo "$1" >>"$FAKE/sleeps"; n=$(wc -l <"$FAKE/sleeps"); '
    'if [ -f "$FAKE/after-$n" ]; then cat "$FAKE/after-$n" >>"$FAKE/mounted"; fi',
    "systemctl": """
case "$1" in
  is-active) grep -qxF -- "$3" "$FAKE/active"; exit ;;
  stop) echo "written while it stops" >"$DPD_ROOT/var/lib/containerd/last-write" ;;
  enable)
    shift 2
    if [ ! -f "$FAKE/refuses" ]; then
      for unit in "$@"; do
        sed -n "s#^Where=#$DPD_ROOT#p" "$DPD_ROOT/etc/systemd/system/$unit" >>"$FAKE/mounted"
      done
    fi
    set -- enable --now "$@" ;;
esac
echo "$*" >>"$FAKE/systemctl"
""",
}


@dataclass(frozen=True)
class Node:
    """A node as the script finds it, and what the script did to it."""

    root: Path
    state: Path

    def mount(self, path: str, *, after_pauses: int = 0) -> None:
        """Make `path` a mounted volume, at once or after so many pauses of the script."""
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        name = f"after-{after_pauses}" if after_pauses else "mounted"
        with (self.state / name).open("a") as file:
            file.write(f"{self.root}{path}\n")

    def activate(self, services: Sequence[str]) -> None:
        """Let these services run."""
        (self.state / "active").write_text("".join(f"{name}.service\n" for name in services))

    def add_instance_store(self) -> None:
        """Give the node NVMe disks, mounted or not."""
        disk = self.root / "dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1"
        disk.parent.mkdir(parents=True)
        disk.touch()

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run the script as HyperPod does: alone, from a folder that is not its own."""
        environment = {
            "PATH": f"{self.state}/bin:{os.environ['PATH']}",
            "DPD_ROOT": str(self.root),
            "FAKE": str(self.state),
        }
        return subprocess.run(  # a fixed program with a fixed file
            ["bash", str(SCRIPT)],
            env=environment,
            cwd=self.state,
            capture_output=True,
            text=True,
            check=False,
        )

    def read(self, path: str) -> str:
        """Return the text of a file on the node."""
        return (self.root / path.lstrip("/")).read_text()

    def lines(self, name: str) -> list[str]:
        """Return what a stand-in recorded."""
        return (self.state / name).read_text().splitlines()

    def contents(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of everything on the node but the log."""
        return {
            str(path.relative_to(self.root)): (
                path.lstat().st_mode,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in self.root.rglob("*")
            if path.name != "provisioning.log"
        }


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node whose containerd and kubelet have written a little, hidden files among it."""
    root, state = tmp_path / "root", tmp_path / "state"
    (state / "bin").mkdir(parents=True)
    for name, body in _FAKES.items():
        program = state / "bin" / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    for record in ("mounted", "active", "sleeps", "systemctl"):
        (state / record).touch()
    containerd = root / "var/lib/containerd/io.containerd.content.v1.content"
    containerd.mkdir(parents=True)
    containerd.parent.chmod(0o711)
    (containerd / "blob").write_text("pause image")
    kubelet = root / "var/lib/kubelet"
    kubelet.mkdir()
    (kubelet / ".hidden").write_text("bootstrap")
    (kubelet / "link").symlink_to("config.json")
    return Node(root, state)
