"""Buckets: weights, lifecycle scripts, certificates, access logs."""

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from dpd.config import Environment
from dpd.config.naming import access_log_bucket, lifecycle_bucket, model_bucket, tls_bucket


class Buckets(Construct):
    """The environment's buckets; the weights outlive the environment."""

    def __init__(self, scope: Construct, id_: str, *, environment: Environment) -> None:
        super().__init__(scope, id_)
        # S3 delivers access logs only to buckets without a customer managed key.
        self._access_logs = self._bucket(
            "AccessLogs",
            name=access_log_bucket(environment),
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(90))],
        )
        self.model_key = kms.Key(
            self,
            "ModelKey",
            description=f"Model weights of {environment.name}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.models = self._bucket(
            "Models",
            name=model_bucket(environment),
            server_access_logs_bucket=self._access_logs,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.model_key,
            bucket_key_enabled=True,
            lifecycle_rules=[
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(7))
            ],
        )
        self.lifecycle = self._bucket(
            "Lifecycle",
            name=lifecycle_bucket(environment),
            server_access_logs_bucket=self._access_logs,
        )
        self.models_arn = _arn(model_bucket(environment))
        self.lifecycle_arn = _arn(lifecycle_bucket(environment))
        # The operator's managed policy covers no customer managed key.
        self.tls = self._bucket(
            "Tls", name=tls_bucket(environment), server_access_logs_bucket=self._access_logs
        )

    def _bucket(
        self,
        id_: str,
        *,
        name: str,
        lifecycle_rules: list[s3.LifecycleRule] | None = None,
        server_access_logs_bucket: s3.IBucket | None = None,
        encryption: s3.BucketEncryption = s3.BucketEncryption.S3_MANAGED,
        encryption_key: kms.IKey | None = None,
        bucket_key_enabled: bool | None = None,
    ) -> s3.Bucket:
        return s3.Bucket(
            self,
            id_,
            bucket_name=name,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            encryption=encryption,
            encryption_key=encryption_key,
            bucket_key_enabled=bucket_key_enabled,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=server_access_logs_bucket,
            server_access_logs_prefix=f"{id_.lower()}/" if server_access_logs_bucket else None,
            lifecycle_rules=lifecycle_rules,
            removal_policy=RemovalPolicy.RETAIN,
        )


def _arn(bucket_name: str) -> str:
    """Return an ARN made of the name, which ties no other stack to an output of this one."""
    return f"arn:{Aws.PARTITION}:s3:::{bucket_name}"
