"""What HyperPod expects on the EKS cluster before it is created.

The same objects as the chart HyperPodHelmChart of aws/sagemaker-hyperpod-cli at 011ca92, less what
only training needs. The namespace `aws-hyperpod` is fixed.
"""

import cdk8s
from constructs import Construct

from dpd.config import Environment
from k8s.api_object import api_object
from k8s.health_monitoring_agent import HealthMonitoringAgent
from k8s.rbac import cluster_role, rule, service_account, user

NAMESPACE = "aws-hyperpod"
HYPERPOD_USER = "hyperpod-service-linked-role"
"""Kubernetes user under which HyperPod itself acts on the cluster."""


class DependenciesChart(cdk8s.Chart):
    """Health monitoring agent, and the roles of deep health check, job auto restart, patching."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment) -> None:
        super().__init__(scope, id_)
        api_object(self, "Namespace", api_version="v1", kind="Namespace", name=NAMESPACE)
        HealthMonitoringAgent(
            self, "HealthMonitoringAgent", environment=environment, namespace=NAMESPACE
        )
        self._deep_health_check()
        self._job_auto_restart()
        self._patching()

    def _deep_health_check(self) -> None:
        account = service_account(
            self,
            "DeepHealthCheckAccount",
            name="deep-health-check-service-account",
            namespace=NAMESPACE,
        )
        cluster_role(
            self,
            "DeepHealthCheck",
            name="deep-health-check-service-account-role",
            rules=[
                rule(["nodes"], ["get", "list"]),
                rule(["pods"], ["get", "list", "patch"]),
            ],
            subject=account,
            binding="deep-health-check-service-account-role-binding",
        )

    def _job_auto_restart(self) -> None:
        cluster_role(
            self,
            "JobAutoRestart",
            name="job-auto-restart",
            rules=[
                rule(["nodes", "nodes/status", "pods", "pods/status"], ["get", "list", "watch"]),
                rule(["pods"], ["delete", "deletecollection"]),
                rule(["nodes", "nodes/status"], ["patch"]),
                rule(["events"], ["create"]),
                rule(
                    ["leases"], ["get", "create", "update", "delete"], group="coordination.k8s.io"
                ),
            ],
            subject=user(HYPERPOD_USER),
        )

    def _patching(self) -> None:
        cluster_role(
            self,
            "Patching",
            name="hyperpod-patching",
            rules=[rule(["pods"], ["list"]), rule(["pods/eviction"], ["create"])],
            subject=user(HYPERPOD_USER),
        )
