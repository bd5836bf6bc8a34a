"""One endpoint: made forwards, deleted backwards, gone before its operator is."""

import json
from typing import Any

import pytest

from dpd.config.naming import endpoint_url, model_bucket
from tests.conftest import Synthesize
from tests.synthesized import Synthesized, Template, text

WEIGHTS = "Custom::DpdModelWeights"
READY = "Custom::DpdEndpointReady"
KIND = "InferenceEndpointConfig"
TWO = """[
  {name: chat, topology: disaggregated, model: Llama-3.3-70B-Instruct,
   prefill: {instanceGroup: prefill}, decode: {instanceGroup: decode}},
  {name: tools, namespace: shared, topology: colocated, model: Llama-3.3-70B-Instruct,
   workers: {instanceGroup: decode}, readiness: {wait: false}}]"""


def endpoint(made: Synthesized) -> Template:
    """The template of the one endpoint of a shipped environment."""
    return made["endpoint-chat"]


def test_stack_stands_on_the_platform(shipped: Synthesized) -> None:
    """Which is therefore deleted after it."""
    assert f"{shipped.prefix}-platform" in shipped.artifact("endpoint-chat")["dependencies"]


def test_made_in_order(shipped: Synthesized) -> None:
    """Namespace and permission, a look at the weights, the custom resource, the wait."""
    template = endpoint(shipped)
    namespace, _ = template.manifest_with("Namespace")
    permission, _ = template.manifest_with("RoleBinding")
    weights, _ = template.only(WEIGHTS)
    resource, _ = template.manifest_with(KIND)
    ready, _ = template.only(READY)
    assert {namespace, permission} <= template.needs(weights)
    assert weights in template.needs(resource)
    assert resource in template.needs(ready)
    assert set(template.resources) == {namespace, permission, weights, resource, ready}


def test_custom_resource_is_alone_in_its_manifest(shipped: Synthesized) -> None:
    """Beside others it would be left behind when it is removed."""
    template = endpoint(shipped)
    id_, _ = template.manifest_with(KIND)
    assert [thing["kind"] for thing in template.manifests()[id_]] == [KIND]


def test_weights_are_looked_for_where_the_resource_points(shipped: Synthesized) -> None:
    """Same bucket, same prefix; and the command puts them there."""
    template = endpoint(shipped)
    source = template.manifest_with(KIND)[1]["spec"]["modelSourceConfig"]
    weights = template.properties(WEIGHTS)
    bucket, prefix = weights["Bucket"], weights["Prefix"]
    assert bucket == source["s3Storage"]["bucketName"] == model_bucket(shipped.environment)
    assert prefix == source["modelLocation"]
    assert f"s3://{bucket}/{prefix}/ " in weights["UploadCommand"]
    assert weights["UploadCommand"].endswith('--exclude "original/*"')
    assert shipped["foundation"].of_type("AWS::S3::Bucket", BucketName=bucket)


def test_waiter_asks_for_this_resource_by_name(shipped: Synthesized) -> None:
    """In its namespace, through the platform's provider."""
    template = endpoint(shipped)
    metadata = template.manifest_with(KIND)[1]["metadata"]
    provider = next(
        id_
        for id_, function in shipped["platform"].of_type("AWS::Lambda::Function").items()
        if function["Properties"]["Handler"] == "framework.onEvent"
    )
    for kind in (WEIGHTS, READY):
        properties = template.properties(kind)
        assert (properties["Namespace"], properties["Name"]) == (
            metadata["namespace"],
            metadata["name"],
        )
        token = properties["ServiceToken"]
        assert shipped.origin("endpoint-chat", token) == ("platform", provider)


def test_waiter_may_get_this_resource_and_nothing_else(shipped: Synthesized) -> None:
    """One verb on one name in one namespace, for the group that its access entry names."""
    template = endpoint(shipped)
    metadata = template.manifest_with(KIND)[1]["metadata"]
    _, role = template.manifest_with("Role")
    _, binding = template.manifest_with("RoleBinding")
    assert role["rules"] == [
        {
            "apiGroups": ["inference.sagemaker.aws.amazon.com"],
            "resources": ["inferenceendpointconfigs"],
            "resourceNames": [metadata["name"]],
            "verbs": ["get"],
        }
    ]
    entry = shipped["platform"].properties("AWS::EKS::AccessEntry")
    (subject,) = binding["subjects"]
    assert subject["kind"] == "Group"
    assert [subject["name"]] == entry["KubernetesGroups"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert {role["metadata"]["namespace"], binding["metadata"]["namespace"]} == {
        metadata["namespace"]
    }


def test_wait_begins_anew_with_every_change(synthesize: Synthesize, prod: Synthesized) -> None:
    """CloudFormation asks a custom resource again only if one of its properties is new."""
    changed = endpoint(synthesize("prod", routingThreshold=1)).properties(READY)
    same = endpoint(synthesize("prod")).properties(READY)
    assert same == endpoint(prod).properties(READY)
    assert changed != same


@pytest.mark.parametrize(("given", "seconds"), [("20m", 1200), ("90s", 90)])
def test_wait_ends_when_the_file_says(synthesize: Synthesize, given: str, seconds: int) -> None:
    """Only the waiter ends it: CloudFormation would end it without words."""
    ready = endpoint(synthesize("prod", f"endpoints.chat.readiness.timeout={given}"))
    assert ready.properties(READY)["TimeoutSeconds"] == str(seconds)
    assert "ServiceTimeout" not in ready.properties(READY)


def test_waiter_ends_the_wait_before_its_provider(prod: Synthesized) -> None:
    """Whose timeout has no words; one look and a round of the state machine fit in between."""
    longest = int(endpoint(prod).properties(READY)["TimeoutSeconds"])
    (machine,) = prod["platform"].of_type("AWS::StepFunctions::StateMachine").values()
    definition = json.loads(text(machine["Properties"]["DefinitionString"]))
    (retry,) = definition["States"]["framework-isComplete-task"]["Retry"]
    rounds_seconds = retry["IntervalSeconds"] * retry["MaxAttempts"]
    assert longest + 60 + retry["IntervalSeconds"] <= rounds_seconds


def test_wait_can_be_switched_off(synthesize: Synthesize, prod: Synthesized) -> None:
    """The look at the weights stays: deleting needs it."""
    made = endpoint(synthesize("prod", "endpoints.chat.readiness.wait=false"))
    assert made.of_type(READY) == {}
    assert made.properties(WEIGHTS) == endpoint(prod).properties(WEIGHTS)


def test_failure_text_names_the_log(prod: Synthesized) -> None:
    """And how to read it."""
    hint = endpoint(prod).properties(READY)["LogHint"]
    assert "kubectl logs -n hyperpod-inference-system" in hint


def test_output_is_the_url(shipped: Synthesized) -> None:
    """Inside the cluster."""
    (config,) = shipped.environment.endpoints
    output = endpoint(shipped).data["Outputs"]["EndpointUrl"]
    assert output["Value"] == endpoint_url(config)


@pytest.fixture(scope="module")
def two(synthesize: Synthesize) -> Synthesized:
    """An environment with a second, colocated endpoint in a namespace of another name."""
    return synthesize("prod", f"endpoints={TWO}")


def test_each_endpoint_has_a_stack_of_its_own(two: Synthesized) -> None:
    """Neither waits for the other."""
    stacks = {f"{two.prefix}-endpoint-{name}" for name in ("chat", "tools")}
    assert {part for part in two.templates if part.startswith("endpoint-")} == {
        "endpoint-chat",
        "endpoint-tools",
    }
    for part in ("endpoint-chat", "endpoint-tools"):
        dependencies = set(two.artifact(part)["dependencies"])
        assert f"{two.prefix}-platform" in dependencies
        assert not dependencies & stacks


def test_each_endpoint_lives_in_its_namespace(two: Synthesized) -> None:
    """The file's, where it names one."""

    def namespaces(template: Template) -> set[str]:
        things = [thing for some in template.manifests().values() for thing in some]
        return {
            thing["metadata"]["name" if thing["kind"] == "Namespace" else "namespace"]
            for thing in things
        }

    assert namespaces(two["endpoint-chat"]) == {"chat"}
    assert namespaces(two["endpoint-tools"]) == {"shared"}


def test_platform_does_not_know_its_endpoints(two: Synthesized, prod: Synthesized) -> None:
    """One more changes no other stack but the instance groups' sizes."""
    assert dump(two["foundation"].data) == dump(prod["foundation"].data)
    assert dump(two["platform"].data) == dump(prod["platform"].data)
    groups: dict[str, Any] = two["cluster"].properties("AWS::SageMaker::Cluster")
    assert [g["InstanceCount"] for g in groups["InstanceGroups"]] == [1, 2]


def dump(data: Any) -> str:
    """Comparable at one glance when a test fails."""
    return json.dumps(data, indent=1, sort_keys=True)


def test_manifests_hold_no_tokens(shipped: Synthesized) -> None:
    """They are what `dist` holds: applied the same with or without the CDK."""
    for resource in endpoint(shipped).of_type("Custom::AWSCDK-EKS-KubernetesResource").values():
        manifest = resource["Properties"]["Manifest"]
        assert isinstance(manifest, str)
        assert "${" not in text(manifest)
