"""One environment: everything that one file describes."""

from typing import Annotated

from pydantic import Field, StringConstraints

from dpd.config.base import Config
from dpd.config.cluster import Cluster, InstanceGroup, NodeGroup
from dpd.config.endpoint import Endpoint
from dpd.config.model import Model
from dpd.config.network import Network

TagKey = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9 _.:/=+@-]+$", min_length=1, max_length=128)
]
TagValue = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9 _.:/=+@-]*$", max_length=256)]
RuleId = Annotated[str, StringConstraints(pattern=r"^DPD\d{3}$")]


class EnvironmentFile(Config):
    """What a person writes; the environment's name is the name of the file."""

    account: Annotated[str, StringConstraints(pattern=r"^\d{12}$")]
    """AWS account, in quotes. A deployment with credentials of another account is refused."""
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
    """AWS region; one for which HyperPod publishes its images."""
    network: Network
    cluster: Cluster
    models: Annotated[tuple[Model, ...], Field(strict=False)] = ()
    """Weights in the model bucket."""
    endpoints: Annotated[tuple[Endpoint, ...], Field(strict=False)] = ()
    """What is served; each becomes a stack of its own."""
    tags: dict[TagKey, TagValue] = Field(default_factory=dict, max_length=40)
    """Tags of every AWS resource."""
    ignore: dict[RuleId, str] = Field(default_factory=dict)
    """Rules of `dpd check` that do not count for this environment, each with the reason why."""


class Environment(EnvironmentFile):
    """A named environment whose cross references hold; made by `load_environment` only."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=16)]

    def model_named(self, name: str) -> Model:
        """Return the model of that name."""
        return next(model for model in self.models if model.name == name)

    def instance_group_named(self, name: str) -> InstanceGroup:
        """Return the instance group of that name."""
        return next(group for group in self.cluster.instance_groups if group.name == name)

    def nodes_named(self, name: str) -> InstanceGroup | NodeGroup:
        """Return the instance group or node group of that name."""
        groups: tuple[InstanceGroup | NodeGroup, ...]
        groups = (*self.cluster.instance_groups, *self.cluster.node_groups)
        return next(group for group in groups if group.name == name)

    @property
    def instance_types(self) -> frozenset[str]:
        """The instance types of all groups; drivers that crash on other types select by them."""
        return frozenset(group.instance_type for group in self.cluster.instance_groups)
