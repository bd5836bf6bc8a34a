"""Buckets: private, encrypted, logged, and there after everything else is gone."""

import pytest

from tests.synthesized import Resource, Synthesized, Template

NAMES = {
    "models": "dpd-prod-models-111122223333-us-east-2",
    "lifecycle": "sagemaker-dpd-prod-111122223333-us-east-2",
    "tls": "hyperpod-tls-dpd-prod-111122223333-us-east-2",
    "access logs": "dpd-prod-access-logs-111122223333-us-east-2",
}
"""AWS's managed policies grant by how two of them begin."""


def bucket(template: Template, name: str) -> tuple[str, Resource]:
    """Logical id and resource of a bucket."""
    ((id_, resource),) = template.of_type("AWS::S3::Bucket", BucketName=NAMES[name]).items()
    return id_, resource


def test_these_buckets_and_no_others(prod: Synthesized) -> None:
    """In one stack, the protected one."""
    made = {
        (part, resource["Properties"]["BucketName"])
        for part, template in prod.templates.items()
        for resource in template.of_type("AWS::S3::Bucket").values()
    }
    assert made == {("foundation", name) for name in NAMES.values()}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.replace(" ", "-"))
def test_bucket_is_private_and_stays(prod: Synthesized, name: str) -> None:
    """Nothing public, no ACLs, encrypted at rest, not deleted with its stack."""
    _, resource = bucket(prod["foundation"], name)
    properties = resource["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(properties["PublicAccessBlockConfiguration"]) == 4
    assert properties["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert resource["DeletionPolicy"] == "Retain"
    assert resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.replace(" ", "-"))
def test_bucket_takes_tls_only(prod: Synthesized, name: str) -> None:
    """Plain HTTP and old TLS are denied, for the bucket and for what is in it."""
    template = prod["foundation"]
    id_, _ = bucket(template, name)
    policy = template.properties("AWS::S3::BucketPolicy", Bucket={"Ref": id_})
    arn = {"Fn::GetAtt": [id_, "Arn"]}
    denied = {
        next(iter(test.items()))
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Action"] == "s3:*"
        and statement["Principal"] == {"AWS": "*"}
        and statement["Resource"] == [arn, {"Fn::Join": ["", [arn, "/*"]]}]
        for test in statement["Condition"].values()
    }
    assert denied == {("aws:SecureTransport", "false"), ("s3:TlsVersion", 1.2)}


@pytest.mark.parametrize("name", ["models", "lifecycle", "tls"])
def test_access_is_logged(prod: Synthesized, name: str) -> None:
    """To the one bucket that logs nothing itself, under a prefix of its own."""
    template = prod["foundation"]
    logs, resource = bucket(template, "access logs")
    assert "LoggingConfiguration" not in resource["Properties"]
    id_, logged = bucket(template, name)
    assert logged["Properties"]["LoggingConfiguration"] == {
        "DestinationBucketName": {"Ref": logs},
        "LogFilePrefix": f"{name}/",
    }
    policy = template.properties("AWS::S3::BucketPolicy", Bucket={"Ref": logs})
    sources = [
        statement["Condition"]["ArnLike"]["aws:SourceArn"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
        and statement["Principal"] == {"Service": "logging.s3.amazonaws.com"}
    ]
    assert {"Fn::GetAtt": [id_, "Arn"]} in sources


def test_weights_are_under_a_key_of_their_own(prod: Synthesized) -> None:
    """Which turns by itself, and outlives the stack as the weights do."""
    template = prod["foundation"]
    _, models = bucket(template, "models")
    (rule,) = models["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    ((key_id, key),) = template.of_type("AWS::KMS::Key").items()
    assert rule["ServerSideEncryptionByDefault"] == {
        "SSEAlgorithm": "aws:kms",
        "KMSMasterKeyID": {"Fn::GetAtt": [key_id, "Arn"]},
    }
    assert rule["BucketKeyEnabled"] is True
    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == "Retain"
