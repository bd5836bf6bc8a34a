"""What must survive everything else."""

from tests.synthesized import Synthesized


def test_deleting_the_stack_is_refused(shipped: Synthesized) -> None:
    """Of this one only: the others come and go."""
    protected = {
        part: shipped.artifact(part)["properties"].get("terminationProtection", False)
        for part in shipped.templates
    }
    assert {part for part, is_on in protected.items() if is_on} == {"foundation"}


def test_what_holds_data_stays_behind(shipped: Synthesized) -> None:
    """Buckets and the weights' key; log groups may go."""
    template = shipped["foundation"]
    stateful = {**template.of_type("AWS::S3::Bucket"), **template.of_type("AWS::KMS::Key")}
    assert len(stateful) == 5
    for resource in stateful.values():
        assert resource["DeletionPolicy"] == "Retain"
        assert resource["UpdateReplacePolicy"] == "Retain"


def test_it_stands_on_nothing(prod: Synthesized) -> None:
    """It is deployed first."""
    stacks = {f"{prod.prefix}-{part}" for part in prod.templates}
    assert not stacks & set(prod.artifact("foundation").get("dependencies", []))


def test_output_says_where_weights_go(shipped: Synthesized) -> None:
    """The bucket's name."""
    output = shipped["foundation"].data["Outputs"]["ModelBucket"]
    bucket = shipped.resource("foundation", output["Value"])
    assert bucket["Properties"]["BucketName"].startswith(f"{shipped.prefix}-models-")
