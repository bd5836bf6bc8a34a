"""The EKS cluster and the HyperPod instance groups on it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from dpd.config.base import Config, Name
from dpd.config.network import Cidr
from dpd.config.units import Bytes, byte_range

AddonVersion = Annotated[str, StringConstraints(pattern=r"^v\d+\.\d+\.\d+-eksbuild\.\d+$")]
RoleArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:role/\S+$")]
TrainingPlanArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:\d{12}:training-plan/[a-zA-Z0-9-]+$"
    ),
]


class SystemNodes(Config):
    """Ordinary EKS nodes for what is not a worker: the operator needs 13 pods and amd64."""

    instance_type: Annotated[
        str, StringConstraints(pattern=r"^[cmr][5-8](a|i|ad|id|n|in)?\.([48]|12|16|24)xlarge$")
    ] = "m6i.4xlarge"
    """An amd64 EC2 type of 4xlarge or more."""
    count: Annotated[int, Field(ge=1, le=10)] = 2
    """Nodes, spread over the two system subnets."""


class InstanceGroup(Config):
    """HyperPod nodes of one type, all in the GPU subnet."""

    name: Name
    """Name in HyperPod, and what endpoints place their workers by."""
    instance_type: str
    """One of the five types that support disaggregated serving, with the `ml.` prefix."""
    count: Annotated[int, Field(ge=0, le=6758)] | None = None
    """Nodes. Default: as many as the workers placed here need."""
    training_plan_arn: TrainingPlanArn | None = None
    """Flexible training plan to take the nodes from; its zone must be the GPU subnet's."""
    capacity: Literal["on-demand", "spot"] = "on-demand"
    """How the nodes are bought; it cannot change once the group exists."""
    volume_size: Annotated[Bytes, byte_range("100GiB", "16TiB")] = 500 * 2**30
    """EBS volume at /opt/sagemaker; images and kubelet data go there where no NVMe is mounted."""
    deep_health_checks: Annotated[
        tuple[Literal["InstanceStress", "InstanceConnectivity"], ...], Field(strict=False)
    ] = ()
    """Run on every new node before it takes pods; minutes to hours."""
    network_interface: Literal["efa", "efa-only"] | None = None
    """Kind of the extra network interfaces. `efa-only` takes no addresses. Default: HyperPod's."""


class NodeGroup(Config):
    """P5 or P6 nodes of the EKS cluster that HyperPod does not manage.

    Described so that self-managed workers can be placed on them; nothing here makes them.
    """

    name: Name
    """Name of the EKS managed node group, as the label `eks.amazonaws.com/nodegroup` has it."""
    instance_type: str
    """One of the types that support disaggregated serving, as EC2 spells it: without `ml.`."""
    count: Annotated[int, Field(ge=0, le=6758)]
    """Nodes."""


class Cluster(Config):
    """One EKS cluster, as a rule with one HyperPod cluster on it."""

    kubernetes_version: Literal["1.33", "1.34", "1.35"] = "1.35"
    """In quotes. 1.33 and 1.34 leave EKS's standard support in 2026 and then cost more an hour."""
    system_nodes: SystemNodes = SystemNodes()
    instance_groups: Annotated[tuple[InstanceGroup, ...], Field(max_length=20, strict=False)] = ()
    """HyperPod's GPU nodes, by what they are for. Without any there is no HyperPod, and nothing for
    `cdk deploy` to do."""
    node_groups: Annotated[tuple[NodeGroup, ...], Field(max_length=20, strict=False)] = ()
    """Nodes without HyperPod, for self-managed endpoints only."""
    public_access_cidrs: Annotated[tuple[Cidr, ...], Field(strict=False)] = ()
    """Who may reach the Kubernetes API from outside the VPC. Default: nobody."""
    administrator_role_arns: Annotated[tuple[RoleArn, ...], Field(strict=False)] = ()
    """IAM roles of people who administer the cluster with kubectl."""
    addon_versions: dict[str, AddonVersion] = Field(default_factory=dict)
    """Versions of EKS add-ons that differ from the catalog's, by add-on name."""
