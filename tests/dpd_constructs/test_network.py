"""Network by Availability Zone id, with ways out and no way in."""

from typing import Any

import pytest

from tests.conftest import Synthesize
from tests.synthesized import Synthesized, Template

LOAD_BALANCER_TAG = {"Key": "kubernetes.io/role/internal-elb", "Value": "1"}


def subnet(template: Template, cidr: object) -> tuple[str, dict[str, Any]]:
    """Logical id and properties of the subnet with a block."""
    return template.only("AWS::EC2::Subnet", CidrBlock=str(cidr))


def test_subnets_are_those_of_the_file(shipped: Synthesized) -> None:
    """Zone and block of each; no name of a zone anywhere."""
    network = shipped.environment.network
    given = [network.public_subnet, *network.system_subnets, network.gpu_subnet]
    made = [
        resource["Properties"]
        for resource in shipped["foundation"].of_type("AWS::EC2::Subnet").values()
    ]
    assert {(s["AvailabilityZoneId"], s["CidrBlock"]) for s in made} == {
        (s.availability_zone_id, str(s.cidr)) for s in given
    }
    assert not any("AvailabilityZone" in s for s in made)
    assert not any(s["MapPublicIpOnLaunch"] for s in made)


def test_vpc_resolves_names(prod: Synthesized) -> None:
    """A private Kubernetes endpoint is found by name only."""
    vpc = prod["foundation"].properties("AWS::EC2::VPC")
    assert vpc["CidrBlock"] == str(prod.environment.network.vpc_cidr)
    assert vpc["EnableDnsHostnames"] is True
    assert vpc["EnableDnsSupport"] is True


def route_tables(template: Template) -> dict[str, str]:
    """Route table of each subnet, by logical ids."""
    return {
        resource["Properties"]["SubnetId"]["Ref"]: resource["Properties"]["RouteTableId"]["Ref"]
        for resource in template.of_type("AWS::EC2::SubnetRouteTableAssociation").values()
    }


def test_private_subnets_go_out_through_nat(shipped: Synthesized) -> None:
    """All three share one table, whose default route ends at the NAT gateway."""
    template, network = shipped["foundation"], shipped.environment.network
    tables = route_tables(template)
    public, _ = subnet(template, network.public_subnet.cidr)
    (private,) = {table for subnet_id, table in tables.items() if subnet_id != public}
    assert set(tables) == set(template.of_type("AWS::EC2::Subnet"))
    nat_id, nat = template.only("AWS::EC2::NatGateway")
    assert nat["SubnetId"] == {"Ref": public}
    assert template.properties("AWS::EC2::Route", RouteTableId={"Ref": private}) == {
        "RouteTableId": {"Ref": private},
        "DestinationCidrBlock": "0.0.0.0/0",
        "NatGatewayId": {"Ref": nat_id},
    }


def test_s3_is_reached_without_nat(shipped: Synthesized) -> None:
    """Weights of 140 GB would pass the NAT gateway, for money, otherwise."""
    template = shipped["foundation"]
    public, _ = subnet(template, shipped.environment.network.public_subnet.cidr)
    endpoint = template.properties("AWS::EC2::VPCEndpoint")
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert endpoint["ServiceName"] == f"com.amazonaws.{shipped.environment.region}.s3"
    private = {table for id_, table in route_tables(template).items() if id_ != public}
    assert endpoint["RouteTableIds"] == [{"Ref": table} for table in private]


def test_ways_out_wait_for_the_internet_gateway(prod: Synthesized) -> None:
    """CloudFormation sees no link by itself, and fails at random without one."""
    template = prod["foundation"]
    attachment, _ = template.only("AWS::EC2::VPCGatewayAttachment")
    gateway, _ = template.only("AWS::EC2::InternetGateway")
    route, _ = template.only("AWS::EC2::Route", GatewayId={"Ref": gateway})
    assert template.resources[route]["DependsOn"] == [attachment]
    address, _ = template.only("AWS::EC2::EIP")
    nat, _ = template.only("AWS::EC2::NatGateway")
    for waiting in (route, address, nat):
        assert attachment in template.needs(waiting)
    assert route in template.needs(nat)


def test_gpu_subnet_waits_for_its_block(prod: Synthesized) -> None:
    """A block outside the VPC's own is added to the VPC first."""
    template, cidr = prod["foundation"], prod.environment.network.gpu_subnet.cidr
    block, properties = template.only("AWS::EC2::VPCCidrBlock")
    assert properties["CidrBlock"] == str(cidr)
    assert block in template.needs(subnet(template, cidr)[0])


def test_gpu_subnet_inside_the_vpc_needs_no_block(synthesize: Synthesize) -> None:
    """Where it has room, the VPC is left as it is."""
    template = synthesize("prod", "network.gpuSubnet.cidr=10.192.64.0/20")["foundation"]
    assert template.of_type("AWS::EC2::VPCCidrBlock") == {}
    assert subnet(template, "10.192.64.0/20")


@pytest.mark.parametrize("gpu_zone", ["use2-az1", "use2-az2", "use2-az3"])
def test_load_balancer_has_one_subnet_in_each_zone(synthesize: Synthesize, gpu_zone: str) -> None:
    """And the GPU nodes' own in theirs: in another, its targets would never be in use."""
    network = [
        f"network.gpuSubnet.availabilityZoneId={gpu_zone}",
        f"network.publicSubnet.availabilityZoneId={gpu_zone}",
    ]
    made = synthesize("prod", *network)
    subnets = [s["Properties"] for s in made["foundation"].of_type("AWS::EC2::Subnet").values()]
    tagged = [s for s in subnets if LOAD_BALANCER_TAG in s["Tags"]]
    zones = [s["AvailabilityZoneId"] for s in tagged]
    assert sorted(zones) == sorted({"use2-az1", "use2-az2", gpu_zone})
    assert str(made.environment.network.gpu_subnet.cidr) in {s["CidrBlock"] for s in tagged}
    assert str(made.environment.network.public_subnet.cidr) not in {s["CidrBlock"] for s in tagged}


def test_refused_traffic_is_logged(prod: Synthesized) -> None:
    """What a security group refuses is the first thing to look at when EFA is silent."""
    template = prod["foundation"]
    flow_log = template.properties("AWS::EC2::FlowLog")
    assert flow_log["ResourceId"] == {"Ref": template.only("AWS::EC2::VPC")[0]}
    assert flow_log["TrafficType"] in {"REJECT", "ALL"}
    group, properties = template.only("AWS::Logs::LogGroup")
    assert flow_log["LogGroupName"] == {"Ref": group}
    assert properties["RetentionInDays"] > 0
