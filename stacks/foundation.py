"""Network and storage: what must survive everything else."""

import aws_cdk as cdk
from constructs import Construct

from dpd.config import Environment
from dpd.config.naming import stack_name
from dpd_constructs.buckets import Buckets
from dpd_constructs.efa_security_group import EfaSecurityGroup
from dpd_constructs.network import Network
from stacks.base import EnvironmentStack


class FoundationStack(EnvironmentStack):
    """VPC, EFA security group, keys and buckets."""

    def __init__(self, scope: Construct, *, environment: Environment) -> None:
        super().__init__(
            scope,
            stack_name(environment, "foundation"),
            environment=environment,
            description="hyperpod-dpd: network, keys and buckets",
            termination_protection=True,
        )
        self.network = Network(
            self, "Network", config=environment.network, region=environment.region
        )
        self.efa_security_group = EfaSecurityGroup(
            self, "EfaSecurityGroup", vpc_id=self.network.vpc_id
        )
        self.buckets = Buckets(self, "Buckets", environment=environment)
        cdk.CfnOutput(
            self,
            "ModelBucket",
            value=self.buckets.models.bucket_name,
            description="Upload weights here, each model under its location",
        )
