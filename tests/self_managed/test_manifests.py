"""Kubernetes takes every manifest, and pods ask for no more than they need."""

from copy import deepcopy
from typing import Any

import kubernetes_validate
import pytest

from dpd.config.cluster import Cluster
from tests.self_managed.conftest import (
    EXAMPLES,
    every_example,
    everything,
    objects,
    of_kind,
    pod,
    worker_parts,
)
from tests.self_managed.pod_security import violations

VERSIONS = Cluster.model_json_schema()["properties"]["kubernetesVersion"]["enum"]
NOT_KUBERNETES = {"ScaledObject"}
"""Kinds of other projects: no schema of Kubernetes' describes them."""


@pytest.mark.parametrize("version", VERSIONS)
@every_example()
def test_kubernetes_takes_them(name: str, version: str) -> None:
    """Strictly, for every version that a cluster may have."""
    checked = 0
    for each in everything(name):
        if each["kind"] not in NOT_KUBERNETES:
            kubernetes_validate.validate(each, version, strict=True)
            checked += 1
    assert checked > 8


def test_a_fault_would_be_found() -> None:
    """An unknown field and a wrong type."""
    (deployment,) = of_kind("Deployment", "privileged", "router")
    for path, value in (("replicaz", 1), ("replicas", "two")):
        changed = deepcopy(deployment)
        changed["spec"][path] = value
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(changed, VERSIONS[0], strict=True)


@every_example()
def test_pod_security_is_baseline_but_for_efa(name: str) -> None:
    """The exceptions are named: IPC_LOCK, or all of it where a person asked for privileged."""
    disaggregated = EXAMPLES[name].endpoints[0].topology == "disaggregated"
    for part in (*worker_parts(name), "router"):
        expected: list[str] = []
        if disaggregated and part != "router":
            expected = ["privileged" if name == "privileged" else "capability IPC_LOCK"]
        assert list(violations(pod(name, part))) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"hostNetwork": True},
        {"hostIPC": True},
        {"volumes": [{"name": "x", "hostPath": {"path": "/dev"}}]},
        {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
        {"containers": [{"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
        {"containers": [{"securityContext": {"privileged": True}}]},
        {"containers": [{"ports": [{"hostPort": 80}]}]},
    ],
    ids=str,
)
def test_security_faults_would_be_found(change: dict[str, Any]) -> None:
    """One each."""
    assert len(list(violations({"containers": [], **change}))) == 1


@every_example()
def test_containers_do_not_get_more_rights_later(name: str) -> None:
    """Nothing but a privileged worker, and root only where IPC_LOCK needs it."""
    for part in (*worker_parts(name), "router"):
        spec = pod(name, part)
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in (*spec.get("initContainers", []), *spec["containers"]):
            context = spec["securityContext"] | container["securityContext"]
            if context.get("privileged"):
                continue
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"]["drop"] == ["ALL"]
            is_root = context["runAsUser"] == 0
            assert is_root == ("IPC_LOCK" in context["capabilities"].get("add", []))
            assert is_root or context["runAsNonRoot"] is True


@every_example()
def test_only_routers_speak_to_kubernetes(name: str) -> None:
    """With a token that reads pods of one namespace; workers have none."""
    for part in worker_parts(name):
        assert pod(name, part)["automountServiceAccountToken"] is False
    assert pod(name, "router")["automountServiceAccountToken"] is True
    (role,) = of_kind("Role", name)
    assert not of_kind("ClusterRole", name)
    (rule,) = role["rules"]
    assert (rule["apiGroups"], rule["resources"]) == ([""], ["pods"])
    assert set(rule["verbs"]) <= {"get", "list", "watch"}
    (binding,) = of_kind("RoleBinding", name)
    (subject,) = binding["subjects"]
    assert subject["name"] == pod(name, "router")["serviceAccountName"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


@every_example()
def test_pods_write_to_scratch_only(name: str) -> None:
    """And to shared memory; the root file system is read-only unless a worker is privileged."""
    for part in (*worker_parts(name), "router"):
        for container in pod(name, part)["containers"]:
            context = container["securityContext"]
            assert context.get("privileged") or context["readOnlyRootFilesystem"] is True
            mounts = container["volumeMounts"]
            writable = {each["mountPath"] for each in mounts if not each.get("readOnly")}
            assert writable <= {"/tmp", "/dev/shm"}


@every_example()
def test_everything_is_in_the_endpoints_namespace(name: str) -> None:
    """But for the volume, which has none and says whose it is."""
    for each in everything(name):
        if each["kind"] == "PersistentVolume":
            assert each["spec"]["claimRef"]["namespace"] == "chat"
        else:
            assert each["metadata"]["namespace"] == "chat"


@every_example()
def test_names_are_unique(name: str) -> None:
    """Nothing overwrites anything."""
    names = [(each["kind"], each["metadata"]["name"]) for each in everything(name)]
    assert len(names) == len(set(names))
    assert next(iter(objects(name))) == "weights"
