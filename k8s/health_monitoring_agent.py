"""HyperPod's health monitoring agent: one pod on every GPU node."""

from typing import Any

from constructs import Construct

from dpd.catalog import health_monitoring_agent_accounts
from dpd.config import Environment
from dpd.manifest.affinity import on_nodes
from k8s.api_object import api_object
from k8s.rbac import cluster_role, rule, service_account

NAME = "health-monitoring-agent"
TAG = "1.0.1892.0_1.0.424.0"


class HealthMonitoringAgent(Construct):
    """DaemonSet, service account and role of the agent."""

    def __init__(
        self, scope: Construct, id_: str, *, environment: Environment, namespace: str
    ) -> None:
        super().__init__(scope, id_)
        account = service_account(self, "Account", name=NAME, namespace=namespace)
        events = ["create", "patch", "update"]
        cluster_role(
            self,
            "Agent",
            name=NAME,
            rules=[
                rule(["nodes"], ["get"]),
                rule(["nodes", "nodes/status"], ["patch"]),
                rule(["events"], events),
                rule(["events"], events, group="events.k8s.io"),
            ],
            subject=account,
        )
        labels = {"app": NAME}
        api_object(
            self,
            "DaemonSet",
            api_version="apps/v1",
            kind="DaemonSet",
            name=NAME,
            namespace=namespace,
            labels=labels,
            spec={
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": _pod(environment)},
            },
        )


def _pod(environment: Environment) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "affinity": {
            "nodeAffinity": on_nodes(
                "node.kubernetes.io/instance-type", sorted(environment.instance_types)
            )
        },
        "tolerations": [
            {"operator": "Exists", "effect": "NoSchedule"},
            {"operator": "Exists", "effect": "NoExecute"},
        ],
        "containers": [_container(environment.region)],
        "volumes": [
            {"name": "log", "hostPath": {"path": "/var/log"}},
            {"name": "kmsg", "hostPath": {"path": "/dev/kmsg"}},
            {"name": "localtime", "hostPath": {"path": "/etc/localtime"}},
        ],
    }


def _container(region: str) -> dict[str, Any]:
    account = health_monitoring_agent_accounts()[region]
    resources = {"cpu": "500m", "memory": "512Mi"}
    return {
        "name": NAME,
        "image": f"{account}.dkr.ecr.{region}.amazonaws.com/hyperpod-{NAME}:{TAG}",
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "NODE_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
        ],
        "resources": {"requests": resources, "limits": resources},
        "securityContext": {"runAsUser": 1000, "runAsGroup": 2000},
        "volumeMounts": [
            {"name": "log", "mountPath": "/var/log"},
            {"name": "kmsg", "mountPath": "/dev/kmsg", "readOnly": True},
            {"name": "localtime", "mountPath": "/etc/localtime", "readOnly": True},
        ],
    }
