"""The script on the nodes is the script in the repository."""

import json
from pathlib import Path
from typing import Any

from tests.synthesized import Synthesized, references, text

SCRIPT = (
    Path(__file__).resolve().parents[2] / "constructs/dpd_constructs/assets/lifecycle/on_create.sh"
)


def calls(made: Synthesized) -> dict[str, dict[str, Any]]:
    """What the uploading custom resource asks AWS for, by life cycle event."""
    properties = made["cluster"].properties("Custom::AWS")
    events = ("Create", "Update", "Delete")
    return {event: json.loads(text(properties[event])) for event in events if event in properties}


def test_script_is_uploaded_as_it_is(prod: Synthesized) -> None:
    """At creation and whenever it changes."""
    for event in ("Create", "Update"):
        call = calls(prod)[event]
        assert (call["service"], call["action"]) == ("S3", "PutObject")
        assert call["parameters"]["Body"] == SCRIPT.read_text(encoding="utf-8")


def test_script_is_where_the_nodes_look_for_it(shipped: Synthesized) -> None:
    """Bucket, key and name of the script as the instance groups name them."""
    put = calls(shipped)["Create"]["parameters"]
    for group in shipped["cluster"].properties("AWS::SageMaker::Cluster")["InstanceGroups"]:
        config = group["LifeCycleConfig"]
        place = f"{text(config['SourceS3Uri'])}{config['OnCreate']}"
        assert place == f"s3://{put['Bucket']}/{put['Key']}"


def test_bucket_is_the_one_that_nodes_may_read(shipped: Synthesized) -> None:
    """HyperPod takes scripts from buckets that begin with `sagemaker-` only."""
    written = calls(shipped)["Create"]["parameters"]["Bucket"]
    name = shipped.bucket_name("cluster", written)
    assert name.startswith("sagemaker-")
    assert shipped["foundation"].of_type("AWS::S3::Bucket", BucketName=name)


def test_script_is_gone_with_the_stack(prod: Synthesized) -> None:
    """The bucket stays; nothing of ours is left in it."""
    put, delete = calls(prod)["Create"]["parameters"], calls(prod)["Delete"]
    assert (delete["service"], delete["action"]) == ("S3", "DeleteObject")
    assert delete["parameters"] == {key: put[key] for key in ("Bucket", "Key")}


def test_uploading_is_allowed_for_that_object_only(prod: Synthesized) -> None:
    """And the permission is there before the upload."""
    template = prod["cluster"]
    upload, _ = template.only("Custom::AWS")
    statements = [
        statement
        for id_ in template.needs(upload)
        if template.resources[id_]["Type"] == "AWS::IAM::Policy"
        for statement in template.resources[id_]["Properties"]["PolicyDocument"]["Statement"]
        if "s3:PutObject" in statement["Action"]
    ]
    (statement,) = statements
    assert sorted(statement["Action"]) == ["s3:DeleteObject", "s3:PutObject"]
    key = calls(prod)["Create"]["parameters"]["Key"]
    assert text(statement["Resource"]).endswith(f"-{prod.environment.region}/{key}")
    assert not set(references(statement)) - {"AWS::Partition"}
