"""The pod of a worker."""

from typing import Any

from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.naming import workload
from dpd.workload import ports
from dpd.workload.image import worker_image
from dpd.workload.labels import pod_labels
from dpd.workload.lmcache import NOTICE_READER
from dpd.workload.resources import quantity, startup_seconds, worker_resources
from dpd.workload.variables import SCRATCH, worker_variables
from dpd.workload.vllm_arguments import MODEL_PATH, vllm_arguments
from k8s.self_managed.placement import placement

_ROUTERS_LET_GO_SECONDS = 5
"""Until no router sends new requests to a worker that is stopped."""
_LAST_SECONDS = 30
"""Beyond the drain, for what vLLM still does before it ends."""
_PROBE_SECONDS = 10


def worker_pod(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> Any:
    """Return the pod template of a role."""
    sidecars = _notice_reader(endpoint) if _sends_notices(endpoint, role) else []
    annotations = _scraped() if endpoint.monitoring else {}
    return {
        "metadata": {"labels": pod_labels(endpoint, role), **annotations},
        "spec": {
            **placement(environment, endpoint, role),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": (
                _ROUTERS_LET_GO_SECONDS + int(endpoint.drain) + _LAST_SECONDS
            ),
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            **({"initContainers": sidecars} if sidecars else {}),
            "containers": [_container(environment, endpoint, role)],
            "volumes": [
                {
                    "name": "weights",
                    "persistentVolumeClaim": {
                        "claimName": workload(endpoint, "weights"),
                        "readOnly": True,
                    },
                },
                {
                    "name": "shared-memory",
                    "emptyDir": {
                        "medium": "Memory",
                        "sizeLimit": quantity(endpoint.shared_memory),
                    },
                },
                {"name": "scratch", "emptyDir": {}},
            ],
        },
    }


def _container(environment: Environment, endpoint: SelfManagedEndpoint, role: str) -> Any:
    image = worker_image(endpoint)
    resources = worker_resources(environment, endpoint, role)
    variables = worker_variables(endpoint, role).items()
    health = {"httpGet": {"path": "/health", "port": "http"}, "timeoutSeconds": 5}
    starts = -(-startup_seconds(environment, endpoint) // _PROBE_SECONDS)
    return {
        "name": "vllm",
        "image": image.reference,
        "command": [image.vllm, "serve"],
        "args": vllm_arguments(environment, endpoint, role),
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            *({"name": name, "value": value} for name, value in variables),
        ],
        "ports": [{"name": "http", "containerPort": ports.HTTP}],
        "resources": {"requests": resources, "limits": resources},
        "startupProbe": {**health, "periodSeconds": _PROBE_SECONDS, "failureThreshold": starts},
        "readinessProbe": {**health, "periodSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {**health, "periodSeconds": _PROBE_SECONDS, "failureThreshold": 6},
        "lifecycle": {"preStop": {"sleep": {"seconds": _ROUTERS_LET_GO_SECONDS}}},
        "securityContext": _security_context(endpoint),
        "volumeMounts": [
            {"name": "weights", "mountPath": MODEL_PATH, "readOnly": True},
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - a volume
            {"name": "scratch", "mountPath": SCRATCH},
        ],
    }


def _security_context(endpoint: SelfManagedEndpoint) -> Any:
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        user = {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000}
        capabilities = {"drop": ["ALL"]}
    elif endpoint.privileged:
        return {"privileged": True, "runAsUser": 0}
    else:
        # EFA registers memory that must stay where it is. Kubernetes makes an added capability
        # effective for root only, so root it is, without any other.
        user, capabilities = {"runAsUser": 0}, {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    return {
        **user,
        # vLLM writes below its home and /tmp only: the files that two engines left behind say so.
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": capabilities,
    }


def _sends_notices(endpoint: SelfManagedEndpoint, role: str) -> bool:
    return (
        isinstance(endpoint, SelfManagedDisaggregatedEndpoint)
        and endpoint.kv_transfer.connector == "lmcache"
        and role == "prefill"
    )


def _notice_reader(endpoint: SelfManagedEndpoint) -> list[Any]:
    """Return the container that listens before vLLM starts and as long as it runs."""
    image, resources = worker_image(endpoint), {"cpu": "100m", "memory": "128Mi"}
    return [
        {
            "name": "notices",
            "image": image.reference,
            "command": [image.python, "-c", NOTICE_READER],
            "restartPolicy": "Always",
            "resources": {"requests": resources, "limits": resources},
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
        }
    ]


def _scraped() -> Any:
    return {
        "annotations": {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": str(ports.HTTP),
            "prometheus.io/path": "/metrics",
        }
    }
