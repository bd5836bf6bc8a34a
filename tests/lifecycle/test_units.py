"""What the script leaves behind for systemd."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lifecycle.conftest import EBS, NVME, Node

SERVICES = ("containerd", "kubelet")


def _unit(node: Node, name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd minds the case
    parser.read_string(node.read(f"/etc/systemd/system/{name}"))
    return parser


@pytest.fixture(params=[NVME, EBS])
def volume(request: pytest.FixtureRequest, node: Node) -> str:
    """The volume the node has, with the script already run."""
    path = str(request.param)
    node.mount(path)
    assert node.run().returncode == 0
    return path


@pytest.mark.parametrize("service", SERVICES)
def test_mount_comes_between_volume_and_service(node: Node, volume: str, service: str) -> None:
    """After a reboot the service starts only on the volume, or not at all."""
    unit = _unit(node, f"var-lib-{service}.mount")
    assert unit["Mount"]["What"] == f"{volume}/{service}"
    assert unit["Mount"]["Where"] == f"/var/lib/{service}"
    assert unit["Mount"]["Options"] == "bind"
    assert f"{service}.service" in unit["Unit"]["Before"].split()
    assert unit["Install"]["RequiredBy"] == f"{service}.service"
    wait = unit["Unit"]["Requires"]
    assert unit["Unit"]["After"] == wait
    assert volume in _unit(node, wait)["Service"]["ExecStart"]
    assert int(_unit(node, wait)["Service"]["TimeoutStartSec"]) <= 600


def test_no_test_path_reaches_a_unit(node: Node, volume: str) -> None:
    """Units name real folders; only files are written under the test's root."""
    assert volume
    for path in (node.root / "etc/systemd/system").iterdir():
        assert str(node.root) not in path.read_text()


def test_systemd_accepts_the_units(node: Node, volume: str, tmp_path: Path) -> None:
    """The real systemd finds neither a mistake in them nor a cycle with ordinary services."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    assert volume
    units = node.root / "etc/systemd/system"
    for service in SERVICES:
        (units / f"{service}.service").write_text("[Service]\nExecStart=/bin/true\n")
        requires = units / f"{service}.service.requires"
        requires.mkdir()
        (requires / f"var-lib-{service}.mount").symlink_to(f"../var-lib-{service}.mount")
    (units / "multi-user.target.wants").mkdir()
    for service in SERVICES:
        link = units / "multi-user.target.wants" / f"{service}.service"
        link.symlink_to(f"../{service}.service")
    result = subprocess.run(
        [program, "verify", "--man=no", "containerd.service", "kubelet.service"],
        env={"SYSTEMD_UNIT_PATH": f"{units}:", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
