"""Workers of one role: Deployment, and what limits, protects and scales it."""

import cdk8s
from constructs import Construct

from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.capacity import spare_nodes
from dpd.config.naming import workload
from dpd.workload import ports
from dpd.workload.labels import pod_labels, selector
from dpd.workload.resources import rollout_seconds
from k8s.api_object import api_object
from k8s.self_managed.network_policy import worker_policy
from k8s.self_managed.scaling import scaled_object
from k8s.self_managed.worker_pod import worker_pod


class WorkerChart(cdk8s.Chart):
    """Everything of one role; decode has a disruption budget, LMCache's receiver a name."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        endpoint: SelfManagedEndpoint,
        role: str,
    ) -> None:
        super().__init__(scope, id_)
        self._endpoint, self._role = endpoint, role
        self._name, self._namespace = workload(endpoint, role), endpoint.resolved_namespace
        self._deployment(environment)
        worker_policy(self, endpoint=endpoint, role=role)
        if role == "decode":
            self._disruption_budget()
        if endpoint.roles[role].autoscaling:
            scaled_object(self, endpoint=endpoint, role=role)
        if (
            isinstance(endpoint, SelfManagedDisaggregatedEndpoint)
            and endpoint.kv_transfer.connector == "lmcache"
            and role == "decode"
        ):
            self._receiver_name()

    def _deployment(self, environment: Environment) -> None:
        endpoint, workers = self._endpoint, self._endpoint.roles[self._role]
        spare = spare_nodes(environment, environment.nodes_named(workers.instance_group))
        replicas = {} if workers.autoscaling else {"replicas": workers.replicas}
        api_object(
            self,
            "Deployment",
            api_version="apps/v1",
            kind="Deployment",
            name=self._name,
            namespace=self._namespace,
            labels=pod_labels(endpoint, self._role),
            spec={
                **replicas,
                "selector": {"matchLabels": selector(endpoint, self._role)},
                # Without a spare node a new worker can only start where an old one has gone.
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": (
                        {"maxSurge": 1, "maxUnavailable": 0}
                        if spare > 0
                        else {"maxSurge": 0, "maxUnavailable": 1}
                    ),
                },
                "progressDeadlineSeconds": rollout_seconds(environment, endpoint),
                "template": worker_pod(environment, endpoint, self._role),
            },
        )

    def _disruption_budget(self) -> None:
        """A decode worker holds the state of every answer that is being written.

        Where there is one only, nothing evicts it but a person who deletes it.
        """
        api_object(
            self,
            "DisruptionBudget",
            api_version="policy/v1",
            kind="PodDisruptionBudget",
            name=self._name,
            namespace=self._namespace,
            spec={
                "minAvailable": 1,
                "selector": {"matchLabels": selector(self._endpoint, self._role)},
            },
        )

    def _receiver_name(self) -> None:
        api_object(
            self,
            "Receiver",
            api_version="v1",
            kind="Service",
            name=self._name,
            namespace=self._namespace,
            spec={
                "clusterIP": "None",
                "selector": selector(self._endpoint, self._role),
                "ports": [{"name": "http", "port": ports.HTTP}],
            },
        )
