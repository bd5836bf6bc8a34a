"""The pod security standard `baseline`, as Kubernetes defines it, on the fields that we could set.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from collections.abc import Iterator
from typing import Any

_ADDABLE = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip
_SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_syncookies",
}


def violations(spec: dict[str, Any]) -> Iterator[str]:
    """Yield what `baseline` would refuse in a pod."""
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(key):
            yield key
    for volume in spec.get("volumes", []):
        if "hostPath" in volume:
            yield f"hostPath {volume['hostPath'].get('path')}"
    pod = spec.get("securityContext", {})
    for sysctl in pod.get("sysctls", []):
        if sysctl["name"] not in _SAFE_SYSCTLS:
            yield f"sysctl {sysctl['name']}"
    yield from _profiles(pod)
    for container in (*spec.get("initContainers", []), *spec["containers"]):
        yield from _container(container)


def _container(container: dict[str, Any]) -> Iterator[str]:
    context = container.get("securityContext", {})
    if context.get("privileged"):
        yield "privileged"
    for capability in set(context.get("capabilities", {}).get("add", [])) - _ADDABLE:
        yield f"capability {capability}"
    if context.get("procMount", "Default") != "Default":
        yield "procMount"
    for port in container.get("ports", []):
        if port.get("hostPort"):
            yield f"hostPort {port['hostPort']}"
    yield from _profiles(context)


def _profiles(context: dict[str, Any]) -> Iterator[str]:
    if context.get("seccompProfile", {}).get("type") == "Unconfined":
        yield "seccomp Unconfined"
    if context.get("appArmorProfile", {}).get("type") == "Unconfined":
        yield "AppArmor Unconfined"
    options = context.get("seLinuxOptions", {})
    if options.get("user") or options.get("role"):
        yield "SELinux user or role"
