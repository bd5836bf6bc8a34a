"""The network: one VPC, GPU nodes in one subnet of one Availability Zone."""

import re
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field, PlainSerializer, PlainValidator, StringConstraints, WithJsonSchema

from dpd.config.base import Config

_PATTERN = r"[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}"


def _cidr(value: object) -> IPv4Network:
    try:
        is_cidr = isinstance(value, str) and re.fullmatch(_PATTERN, value)
        return IPv4Network(value if is_cidr else "")
    except ValueError:
        raise ValueError("an IPv4 block whose host bits are zero, such as 10.1.0.0/16") from None


Cidr = Annotated[
    IPv4Network,
    PlainValidator(_cidr),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": f"^{_PATTERN}$"}),
]

AvailabilityZoneId = Annotated[str, StringConstraints(pattern=r"^[a-z]{3,5}\d-az\d+$")]


class Subnet(Config):
    """One subnet."""

    availability_zone_id: AvailabilityZoneId
    """Such as `use2-az1`. Capacity is tied to it; a zone's letter differs by account."""
    cidr: Cidr
    """Block of addresses, such as `10.1.0.0/16`; it cannot change."""


class Network(Config):
    """VPC and subnets; nothing in it is looked up."""

    vpc_cidr: Cidr
    """Primary block of the VPC."""
    gpu_subnet: Subnet
    """Holds every GPU node: EFA traffic cannot leave a zone. A block outside `vpcCidr` is added to
    the VPC. A P5 node takes 81 addresses and a subnet cannot grow."""
    system_subnets: Annotated[tuple[Subnet, ...], Field(min_length=2, max_length=2, strict=False)]
    """Two private subnets in two zones, for the EKS control plane and the system nodes."""
    public_subnet: Subnet
    """Holds the NAT gateway and nothing else."""
