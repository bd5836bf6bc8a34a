"""Device plugins: what makes GPUs and EFA devices visible to pods."""

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from dpd.config import Environment
from dpd.manifest.affinity import on_nodes

_NVIDIA_VERSION = "0.16.1"
# Carries plugin 0.5.20, which knows all five types; the chart's own version goes with a v.
_EFA_VERSION = "v0.5.30"
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"

_UNHEALTHY_NODES = {
    "key": "sagemaker.amazonaws.com/node-health-status",
    "operator": "Equal",
    "value": "Unschedulable",
    "effect": "NoSchedule",
}
_GPU_NODES = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


class DevicePlugins(Construct):
    """NVIDIA's and AWS's public charts, pinned, on the environment's own instance types only.

    They do not wait for their pods: GPU nodes come after them, and a type without EFA would make
    the EFA plugin crash.
    """

    def __init__(
        self, scope: Construct, id_: str, *, environment: Environment, cluster: eks.ICluster
    ) -> None:
        super().__init__(scope, id_)
        types = sorted(environment.instance_types)
        eks.HelmChart(
            self,
            "Nvidia",
            cluster=cluster,
            repository="https://nvidia.github.io/k8s-device-plugin",
            chart="nvidia-device-plugin",
            version=_NVIDIA_VERSION,
            release="nvidia-device-plugin",
            namespace="kube-system",
            create_namespace=False,
            values={
                "allowDefaultNamespace": True,
                # The chart's own affinity waits for labels that HyperPod nodes do not carry.
                "affinity": {"nodeAffinity": on_nodes(_INSTANCE_TYPE, types)},
                "tolerations": [_GPU_NODES, _UNHEALTHY_NODES],
            },
        )
        eks.HelmChart(
            self,
            "Efa",
            cluster=cluster,
            repository="https://aws.github.io/eks-charts",
            chart="aws-efa-k8s-device-plugin",
            version=_EFA_VERSION,
            release="aws-efa-k8s-device-plugin",
            namespace="kube-system",
            create_namespace=False,
            values={
                "supportedInstanceLabels": {
                    "keys": [_INSTANCE_TYPE],
                    "values": types,
                },
                "tolerations": [_GPU_NODES, _UNHEALTHY_NODES],
            },
        )
