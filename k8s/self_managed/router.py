"""The router: Deployment, Service, and the right to see its workers' pods."""

from typing import Any

import cdk8s
import cdk8s_plus_28 as kplus
from constructs import Construct

from dpd.catalog import routers
from dpd.config import Environment, SelfManagedEndpoint
from dpd.config.naming import workload
from dpd.workload import ports
from dpd.workload.labels import pod_labels, selector
from dpd.workload.resources import quantity, rollout_seconds
from dpd.workload.router_arguments import metrics_port, router_arguments
from k8s.api_object import api_object
from k8s.self_managed.network_policy import router_policy
from k8s.self_managed.placement import rather_not_on_gpu_nodes

SERVICE_PORT = 80


class RouterChart(cdk8s.Chart):
    """Routers that find workers by their labels; each may read pods of its namespace, no more."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        endpoint: SelfManagedEndpoint,
    ) -> None:
        super().__init__(scope, id_)
        self._environment, self._endpoint = environment, endpoint
        self._router = routers()[endpoint.routing.router]
        self._start_seconds = rollout_seconds(environment, endpoint)
        self._metadata = cdk8s.ApiObjectMetadata(
            name=workload(endpoint, "router"), namespace=endpoint.resolved_namespace
        )
        self._access()
        api_object(
            self,
            "Deployment",
            api_version="apps/v1",
            kind="Deployment",
            name=workload(endpoint, "router"),
            namespace=endpoint.resolved_namespace,
            labels=pod_labels(endpoint, "router"),
            spec={
                "replicas": endpoint.routing.replicas,
                "selector": {"matchLabels": selector(endpoint, "router")},
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                # It may be ready only once it has workers to route to.
                "progressDeadlineSeconds": self._start_seconds,
                "template": self._pod(),
            },
        )
        self._service()
        router_policy(self, endpoint=endpoint)

    def _access(self) -> None:
        account = kplus.ServiceAccount(
            self, "Account", metadata=self._metadata, automount_token=False
        )
        role = kplus.Role(self, "Role", metadata=self._metadata)
        # jsii's protocols ask for more than its classes have.
        role.allow(list(self._router.pod_verbs), kplus.ApiResource.PODS)  # type: ignore[arg-type]
        binding = kplus.RoleBinding(self, "Binding", metadata=self._metadata, role=role)
        binding.add_subjects(account)

    def _service(self) -> None:
        endpoint = self._endpoint
        port = kplus.ServicePort(name="http", port=SERVICE_PORT, target_port=ports.HTTP)
        metrics = kplus.ServicePort(
            name="metrics", port=ports.ROUTER_METRICS, target_port=metrics_port(endpoint)
        )
        kplus.Service(
            self,
            "Service",
            metadata=self._metadata,
            selector=kplus.Pods.select(self, "Routers", labels=selector(endpoint, "router")),
            ports=[port, metrics],
        )

    def _pod(self) -> Any:
        name = workload(self._endpoint, "router")
        return {
            "metadata": {"labels": pod_labels(self._endpoint, "router")},
            "spec": {
                "serviceAccountName": name,
                # It finds its workers by asking the Kubernetes API.
                "automountServiceAccountToken": True,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": int(self._endpoint.drain) + 10,
                "affinity": rather_not_on_gpu_nodes(self._environment, self._endpoint),
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": selector(self._endpoint, "router")},
                    }
                ],
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": 1000,
                    "runAsGroup": 1000,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [self._container()],
                "volumes": [{"name": "scratch", "emptyDir": {}}],
            },
        }

    def _container(self) -> Any:
        routing, metrics = self._endpoint.routing, metrics_port(self._endpoint)
        memory = quantity(routing.memory)
        alive, ready = map(_probe, (self._router.liveness, self._router.readiness))
        served = {"http": ports.HTTP} | ({"metrics": metrics} if metrics != ports.HTTP else {})
        return {
            "name": "router",
            "image": routing.image or self._router.image,
            "args": router_arguments(self._endpoint),
            "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - an empty volume
            "ports": [{"name": name, "containerPort": port} for name, port in served.items()],
            "resources": {
                "requests": {"cpu": str(routing.cpu), "memory": memory},
                "limits": {"memory": memory},
            },
            "startupProbe": {**alive, "periodSeconds": 5, "failureThreshold": 60},
            "readinessProbe": {**ready, "periodSeconds": 5, "failureThreshold": 3},
            "livenessProbe": {**alive, "periodSeconds": 10, "failureThreshold": 6},
            "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
            "securityContext": {
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 - the same
        }


def _probe(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "http"}, "timeoutSeconds": 3}
