"""What every stack shares."""

import aws_cdk as cdk
from constructs import Construct

from dpd.config import Environment


class EnvironmentStack(cdk.Stack):
    """A stack in the environment's account and region, with the environment's tags."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        environment: Environment,
        description: str,
        termination_protection: bool = False,
    ) -> None:
        super().__init__(
            scope,
            name,
            stack_name=name,
            description=description,
            env=cdk.Environment(account=environment.account, region=environment.region),
            tags={"dpd:environment": environment.name, **environment.tags},
            termination_protection=termination_protection,
        )
