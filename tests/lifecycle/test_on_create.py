"""The script runs for real, in a folder that stands for a node."""

import stat

import pytest

from tests.lifecycle.conftest import EBS, NVME, Node

SERVICES = ("containerd", "kubelet")
LOG = "/var/log/provision/provisioning.log"


def _volume(node: Node) -> str:
    """Return what both mount units bind."""
    sources = {
        line.removeprefix("What=").rpartition("/")[0]
        for service in SERVICES
        for line in node.read(f"/etc/systemd/system/var-lib-{service}.mount").splitlines()
        if line.startswith("What=")
    }
    assert len(sources) == 1
    return sources.pop()


@pytest.mark.parametrize("volume", [NVME, EBS])
def test_everything_moves(node: Node, volume: str) -> None:
    """What lay in the old folders lies on the volume: hidden files, links and modes too."""
    node.mount(volume)
    result = node.run()
    assert result.returncode == 0, result.stdout
    assert _volume(node) == volume
    for service in SERVICES:
        source, target = node.root / f"var/lib/{service}", node.root / f"{volume[1:]}/{service}"
        assert {p.relative_to(source) for p in source.rglob("*")} == {
            p.relative_to(target) for p in target.rglob("*")
        }
        assert stat.S_IMODE(source.stat().st_mode) == stat.S_IMODE(target.stat().st_mode)
        assert f"{node.root}/var/lib/{service}" in node.lines("mounted")
    assert node.read(f"{volume}/kubelet/.hidden") == "bootstrap"
    assert (node.root / volume[1:] / "kubelet/link").is_symlink()


def test_nvme_wins(node: Node) -> None:
    """With both volumes mounted, the faster one is taken and nobody waits."""
    node.mount(EBS)
    node.mount(NVME)
    assert node.run().returncode == 0
    assert _volume(node) == NVME
    assert node.lines("sleeps") == []


def test_nvme_is_waited_for_where_there_is_some(node: Node) -> None:
    """A node with NVMe disks does not take the EBS volume because that is mounted first."""
    node.add_instance_store()
    node.mount(EBS)
    node.mount(NVME, after_pauses=3)
    assert node.run().returncode == 0
    assert _volume(node) == NVME
    assert len(node.lines("sleeps")) == 3


def test_ebs_is_taken_in_the_end(node: Node) -> None:
    """NVMe disks that nobody mounts do not keep the node out."""
    node.add_instance_store()
    node.mount(EBS)
    assert node.run().returncode == 0
    assert _volume(node) == EBS
    assert 60 <= sum(map(int, node.lines("sleeps"))) <= 600


def test_no_large_volume_fails_the_node(node: Node) -> None:
    """Images would fill the root volume: nothing is touched, the reason is logged and shipped."""
    before = {path: entry for path, entry in node.contents().items() if "/log" not in path}
    result = node.run()
    assert result.returncode == 1
    errors = [line for line in node.read(LOG).splitlines() if "ERROR" in line]
    assert len(errors) == 1
    assert NVME in errors[0]
    assert EBS in errors[0]
    assert "volumeSize" in errors[0]
    assert errors[0] in result.stdout
    after = {path: entry for path, entry in node.contents().items() if "/log" not in path}
    assert after == before
    assert node.lines("systemctl") == []
    # Bounded, and a last pause in which the log is shipped.
    *waits, last = map(int, node.lines("sleeps"))
    assert 60 <= sum(waits) <= 600
    assert last == 60


def test_second_run_changes_nothing(node: Node) -> None:
    """HyperPod may run it again."""
    node.mount(NVME)
    assert node.run().returncode == 0
    before, calls = node.contents(), node.lines("systemctl")
    result = node.run()
    assert result.returncode == 0
    assert node.contents() == before
    assert node.lines("systemctl") == calls
    assert "nothing to do" in result.stdout


def test_unfinished_run_is_finished(node: Node) -> None:
    """A half copy from a run that died gives way to what the services wrote since."""
    node.mount(NVME)
    for service in SERVICES:
        (node.root / NVME[1:] / service).mkdir()
        (node.root / NVME[1:] / service / "half").touch()
    node.mount("/var/lib/kubelet")
    assert node.run().returncode == 0
    assert not (node.root / NVME[1:] / "containerd/half").exists()
    assert (node.root / NVME[1:] / "kubelet/half").exists(), "what is mounted stays as it is"
    assert "enable --now var-lib-containerd.mount" in node.lines("systemctl")


@pytest.mark.parametrize("running", [(), ("containerd",), ("containerd", "kubelet")])
def test_only_what_ran_is_stopped_and_started(node: Node, running: tuple[str, ...]) -> None:
    """Services stop before the copy and start after the mount; HyperPod starts the others."""
    node.mount(NVME)
    node.activate(running)
    assert node.run().returncode == 0
    units = " ".join(f"{service}.service" for service in running)
    mounts = "enable --now var-lib-containerd.mount var-lib-kubelet.mount"

    def around(verb: str) -> list[str]:
        return [f"{verb} {units}"] if running else []

    assert node.lines("systemctl") == [
        *around("stop"),
        "daemon-reload",
        mounts,
        *around("start"),
    ]
    copied_after_the_stop = (node.root / NVME[1:] / "containerd/last-write").exists()
    assert copied_after_the_stop == bool(running)


def test_mount_that_does_not_happen_fails_the_node(node: Node) -> None:
    """Systemd may say yes and mount nothing."""
    node.mount(NVME)
    (node.state / "refuses").touch()
    result = node.run()
    assert result.returncode == 1
    assert "ERROR: var-lib-containerd.mount did not mount" in node.read(LOG)


def test_any_failing_program_fails_the_node(node: Node) -> None:
    """An error nobody foresaw still ends with a status HyperPod sees, and a shipped log."""
    node.mount(NVME)
    (node.state / "bin/systemctl").write_text("#!/bin/sh\necho 'no bus' >&2\nexit 4\n")
    result = node.run()
    assert result.returncode == 4
    assert "no bus" in node.read(LOG)
    assert "failed with exit status 4" in node.read(LOG)
    assert node.lines("sleeps") == ["60"]
