"""The model's weights as a volume: Mountpoint for S3, read-only."""

import cdk8s
from constructs import Construct

from dpd.config import Environment, SelfManagedEndpoint
from dpd.config.naming import model_bucket, weights_volume, workload
from k8s.api_object import api_object

# A volume must say one, and Mountpoint does not look at it.
_SIZE = {"storage": "1200Gi"}


class WeightsChart(cdk8s.Chart):
    """Persistent volume of the model's folder in the bucket, and the claim on it.

    The driver's own role reads; nothing in the endpoint's namespace has rights in S3.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        environment: Environment,
        endpoint: SelfManagedEndpoint,
    ) -> None:
        super().__init__(scope, id_)
        volume = weights_volume(environment, endpoint)
        claim, namespace = workload(endpoint, "weights"), endpoint.resolved_namespace
        prefix = environment.model_named(endpoint.model).prefix
        api_object(
            self,
            "Volume",
            api_version="v1",
            kind="PersistentVolume",
            name=volume,
            spec={
                "capacity": _SIZE,
                "accessModes": ["ReadOnlyMany"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "",
                "claimRef": {"namespace": namespace, "name": claim},
                "mountOptions": [
                    "read-only",
                    "allow-other",
                    f"region {environment.region}",
                    f"prefix {prefix}/",
                ],
                "csi": {
                    "driver": "s3.csi.aws.com",
                    "volumeHandle": volume,
                    "volumeAttributes": {"bucketName": model_bucket(environment)},
                },
            },
        )
        api_object(
            self,
            "Claim",
            api_version="v1",
            kind="PersistentVolumeClaim",
            name=claim,
            namespace=namespace,
            spec={
                "accessModes": ["ReadOnlyMany"],
                "storageClassName": "",
                "volumeName": volume,
                "resources": {"requests": _SIZE},
            },
        )
