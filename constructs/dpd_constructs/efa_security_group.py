"""Security group of the GPU nodes."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class EfaSecurityGroup(Construct):
    """Lets everything through between its members, in both directions, as EFA requires.

    All L1: the L2 drops an egress rule to itself without an error once all egress is allowed, and
    an EFA packet carries no IP address that a CIDR rule could match.
    """

    def __init__(self, scope: Construct, id_: str, *, vpc_id: str) -> None:
        super().__init__(scope, id_)
        group = ec2.CfnSecurityGroup(
            self,
            "Group",
            vpc_id=vpc_id,
            group_description="GPU nodes: EFA between members, internet egress",
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="-1",
                    cidr_ip="0.0.0.0/0",
                    description="Images, AWS APIs and S3",
                )
            ],
        )
        self.group_id = group.attr_group_id
        ec2.CfnSecurityGroupIngress(
            self,
            "FromItself",
            group_id=self.group_id,
            source_security_group_id=self.group_id,
            ip_protocol="-1",
            description="EFA, NCCL and FSx between members",
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "ToItself",
            group_id=self.group_id,
            destination_security_group_id=self.group_id,
            ip_protocol="-1",
            description="EFA between members: no CIDR rule matches it",
        )
