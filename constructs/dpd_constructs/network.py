"""VPC and subnets by Availability Zone id, without lookups."""

from aws_cdk import CfnTag, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from dpd.config import Network as NetworkConfig
from dpd.config import Subnet

_INTERNAL_LOAD_BALANCER = CfnTag(key="kubernetes.io/role/internal-elb", value="1")


class Network(Construct):
    """One public subnet for the NAT gateway, two system subnets, one subnet for all GPU nodes."""

    def __init__(self, scope: Construct, id_: str, *, config: NetworkConfig, region: str) -> None:
        super().__init__(scope, id_)
        self._name = Stack.of(self).stack_name
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=str(config.vpc_cidr),
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=self._name)],
        )
        self.vpc_id = vpc.ref
        public = self._subnet("PublicSubnet", config.public_subnet)
        nat = self._nat_gateway(public.ref)
        self._private_routes = ec2.CfnRouteTable(self, "PrivateRoutes", vpc_id=self.vpc_id).ref
        ec2.CfnRoute(
            self,
            "PrivateDefaultRoute",
            route_table_id=self._private_routes,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.ref,
        )
        # The operator's load balancer needs two zones and must span the GPU nodes' own. One
        # tagged subnet per zone, or it may settle where its targets are never in use.
        gpu_zone = config.gpu_subnet.availability_zone_id
        self.system_subnets = [
            self._private_subnet(
                f"SystemSubnet{index}",
                subnet,
                takes_load_balancers=subnet.availability_zone_id != gpu_zone,
            )
            for index, subnet in enumerate(config.system_subnets, start=1)
        ]
        self.gpu_subnet = self._private_subnet(
            "GpuSubnet", config.gpu_subnet, takes_load_balancers=True
        )
        if not config.gpu_subnet.cidr.subnet_of(config.vpc_cidr):
            block = ec2.CfnVPCCidrBlock(
                self, "GpuCidr", vpc_id=self.vpc_id, cidr_block=str(config.gpu_subnet.cidr)
            )
            self.gpu_subnet.add_resource_dependency(block)
        self._s3_endpoint(region)
        self._flow_log()

    def as_vpc(self, scope: Construct, id_: str) -> ec2.IVpc:
        """Return the VPC with its system subnets, for constructs that take no ids."""
        return ec2.Vpc.from_vpc_attributes(
            scope,
            id_,
            vpc_id=self.vpc_id,
            availability_zones=[subnet.attr_availability_zone for subnet in self.system_subnets],
            private_subnet_ids=[subnet.ref for subnet in self.system_subnets],
            private_subnet_route_table_ids=[self._private_routes for _ in self.system_subnets],
        )

    def _subnet(self, id_: str, config: Subnet, *tags: CfnTag) -> ec2.CfnSubnet:
        return ec2.CfnSubnet(
            self,
            id_,
            vpc_id=self.vpc_id,
            availability_zone_id=config.availability_zone_id,
            cidr_block=str(config.cidr),
            map_public_ip_on_launch=False,
            tags=[CfnTag(key="Name", value=f"{self._name}/{id_}"), *tags],
        )

    def _private_subnet(
        self, id_: str, config: Subnet, *, takes_load_balancers: bool
    ) -> ec2.CfnSubnet:
        tags = [_INTERNAL_LOAD_BALANCER] if takes_load_balancers else []
        subnet = self._subnet(id_, config, *tags)
        self._associate(f"{id_}Routes", subnet.ref, self._private_routes)
        return subnet

    def _associate(self, id_: str, subnet_id: str, route_table_id: str) -> None:
        ec2.CfnSubnetRouteTableAssociation(
            self, id_, subnet_id=subnet_id, route_table_id=route_table_id
        )

    def _nat_gateway(self, subnet_id: str) -> ec2.CfnNatGateway:
        gateway_id = ec2.CfnInternetGateway(self, "InternetGateway").ref
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "InternetGatewayAttachment", vpc_id=self.vpc_id, internet_gateway_id=gateway_id
        )
        routes = ec2.CfnRouteTable(self, "PublicRoutes", vpc_id=self.vpc_id).ref
        self._associate("PublicSubnetRoutes", subnet_id, routes)
        route = ec2.CfnRoute(
            self,
            "PublicDefaultRoute",
            route_table_id=routes,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=gateway_id,
        )
        # CloudFormation sees no link between a route or an address and the attachment.
        route.add_resource_dependency(attachment)
        address = ec2.CfnEIP(self, "NatAddress", domain="vpc")
        address.add_resource_dependency(attachment)
        nat = ec2.CfnNatGateway(
            self, "NatGateway", subnet_id=subnet_id, allocation_id=address.attr_allocation_id
        )
        nat.add_resource_dependency(route)
        return nat

    def _s3_endpoint(self, region: str) -> None:
        """Weights, images and lifecycle scripts come from S3 without passing the NAT gateway."""
        ec2.CfnVPCEndpoint(
            self,
            "S3Endpoint",
            vpc_id=self.vpc_id,
            service_name=f"com.amazonaws.{region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[self._private_routes],
        )

    def _flow_log(self) -> None:
        group = logs.CfnLogGroup(self, "FlowLogGroup", retention_in_days=30)
        group.apply_removal_policy(RemovalPolicy.DESTROY)
        role = iam.Role(
            self, "FlowLogRole", assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com")
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"],
                resources=[group.attr_arn],
            )
        )
        ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_id=self.vpc_id,
            resource_type="VPC",
            traffic_type="REJECT",
            log_group_name=group.ref,
            deliver_logs_permission_arn=role.role_arn,
        )
