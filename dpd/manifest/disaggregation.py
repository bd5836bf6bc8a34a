"""Disaggregated prefill and decode: `pdSpec`, whose presence switches it on."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from dpd.manifest.autoscaling import AutoScalingSpec
from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import Int32, Items
from dpd.manifest.resources import ResourceRequirements


class RoleSpec(ManifestModel):
    """Workers of one role."""

    replicas: Annotated[Int32, Field(ge=1)] = 1
    args: Items[str] | None = None
    """vLLM arguments of this role; the same flag of the worker's arguments gives way."""
    node_selector: Mapping[str, str] | None = None
    resources: ResourceRequirements | None = None
    """Must ask for GPUs, though the schema does not say so."""


class TopologySpec(ManifestModel):
    """Where prefill and decode workers may run."""

    same_az: bool = True
    """Keep both roles in one Availability Zone."""
    availability_zone: str | None = None
    placement_group: str | None = None


class PdAutoScalingSpec(ManifestModel):
    """Scaling of each role."""

    prefill_auto_scaling: AutoScalingSpec | None = None
    decoding_auto_scaling: AutoScalingSpec | None = None


class PdSpec(ManifestModel):
    """Prefill and decode workers, and which prompts the prefill workers take."""

    prefill_spec: RoleSpec
    decoding_spec: RoleSpec
    routing_threshold: Annotated[Int32, Field(ge=0)] = 4096
    """Prompts of at least this many estimated tokens go to a prefill worker; 0 sends all."""
    topology_spec: TopologySpec | None = None
    auto_scaling_spec: PdAutoScalingSpec | None = None
