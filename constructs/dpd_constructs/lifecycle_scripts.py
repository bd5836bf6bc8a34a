"""The script that HyperPod runs on a new node."""

from pathlib import Path
from typing import cast

from aws_cdk import Stack, custom_resources
from aws_cdk import aws_iam as iam
from constructs import Construct

from dpd_constructs.acknowledge import MANAGED_POLICY, acknowledge
from dpd_constructs.buckets import Buckets

_SCRIPT = Path(__file__).parent / "assets" / "lifecycle" / "on_create.sh"
_PREFIX = "lifecycle"


class LifecycleScripts(Construct):
    """Uploads the script; a cluster that uses it depends on this construct.

    One object, put by name: a bucket deployment would want `s3:*Object*` and a second AWS CLI.
    """

    entry_point = _SCRIPT.name

    def __init__(self, scope: Construct, id_: str, *, buckets: Buckets) -> None:
        super().__init__(scope, id_)
        name = buckets.lifecycle.bucket_name
        key = f"{_PREFIX}/{_SCRIPT.name}"
        place = {"Bucket": name, "Key": key}
        custom_resources.AwsCustomResource(
            self,
            "Upload",
            on_update=custom_resources.AwsSdkCall(
                service="S3",
                action="PutObject",
                parameters={**place, "Body": _SCRIPT.read_text(encoding="utf-8")},
                physical_resource_id=custom_resources.PhysicalResourceId.of(key),
            ),
            on_delete=custom_resources.AwsSdkCall(
                service="S3", action="DeleteObject", parameters=place
            ),
            policy=custom_resources.AwsCustomResourcePolicy.from_statements(
                [
                    iam.PolicyStatement(
                        actions=["s3:PutObject", "s3:DeleteObject"],
                        resources=[f"{buckets.lifecycle_arn}/{key}"],
                    )
                ]
            ),
            install_latest_aws_sdk=False,
        )
        # One function serves the whole stack, so the finding is not below this construct.
        uuid = custom_resources.AwsCustomResource.PROVIDER_FUNCTION_UUID.replace("-", "")
        function = cast(Construct, Stack.of(self).node.find_child(f"AWS{uuid}"))
        logs = f"{MANAGED_POLICY}/service-role/AWSLambdaBasicExecutionRole"
        acknowledge(function, {f"IAM4[{logs}]": "Writes logs only"})
        self.uri = f"s3://{name}/{_PREFIX}/"
