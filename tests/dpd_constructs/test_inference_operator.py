"""The inference operator's add-on and its three roles."""

import json
import re
from typing import Any

from tests.dpd_constructs.test_csi_drivers import trusted_accounts
from tests.synthesized import Synthesized, text

ADDON = "amazon-sagemaker-hyperpod-inference"
NAMESPACE = "hyperpod-inference-system"


def configuration(made: Synthesized) -> dict[str, Any]:
    """The add-on's configuration values, what is known at deployment only as `<...>`."""
    addon = made["platform"].properties("AWS::EKS::Addon", AddonName=ADDON)
    found: dict[str, Any] = json.loads(text(addon["ConfigurationValues"]))
    return found


def role(made: Synthesized, arn: str) -> dict[str, Any]:
    """Properties of the role behind `<Role.Arn>`."""
    found: dict[str, Any] = made["platform"].resources[arn.strip("<>").partition(".")[0]]
    assert found["Type"] == "AWS::IAM::Role"
    properties: dict[str, Any] = found["Properties"]
    return properties


def roles(made: Synthesized) -> dict[str, dict[str, Any]]:
    """The operator's own, the load balancer controller's and KEDA's."""
    values = configuration(made)
    return {
        "operator": role(made, values["executionRoleArn"]),
        "alb": role(made, values["alb"]["serviceAccount"]["roleArn"]),
        "keda": role(made, values["keda"]["auth"]["aws"]["irsa"]["roleArn"]),
    }


def test_version_is_pinned_and_disaggregates(shipped: Synthesized) -> None:
    """1.3 is the first that does; 2 has another configuration."""
    addon = shipped["platform"].properties("AWS::EKS::Addon", AddonName=ADDON)
    match = re.fullmatch(r"v1\.(\d+)\.\d+-eksbuild\.\d+", addon["AddonVersion"])
    assert match
    assert int(match[1]) >= 3
    assert addon["ResolveConflicts"] == "OVERWRITE"


def test_configuration_is_all_that_the_chart_demands(shipped: Synthesized) -> None:
    """Nothing besides: the add-on refuses keys that it does not know."""
    values = configuration(shipped)
    assert set(values) == {
        "alb",
        "executionRoleArn",
        "hyperpodClusterArn",
        "keda",
        "tlsCertificateS3Bucket",
    }
    assert values["alb"]["enabled"] is True
    assert values["alb"]["serviceAccount"]["create"] is True
    assert values["keda"]["enabled"] is True
    assert values["keda"]["auth"]["aws"]["irsa"]["enabled"] is True


def test_configuration_names_the_environments_own_things(shipped: Synthesized) -> None:
    """Its HyperPod cluster and its bucket for certificates."""
    values = configuration(shipped)
    arn = {"Fn::ImportValue": values["hyperpodClusterArn"].strip("<>")}
    assert shipped.resource("platform", arn)["Type"] == "AWS::SageMaker::Cluster"
    name = shipped.bucket_name("platform", values["tlsCertificateS3Bucket"])
    assert name.startswith("hyperpod-tls-")
    assert shipped["foundation"].of_type("AWS::S3::Bucket", BucketName=name)


def test_three_different_roles(prod: Synthesized) -> None:
    """None of which may do what another may."""
    assert len({json.dumps(made) for made in roles(prod).values()}) == 3


def test_roles_are_for_the_operators_service_accounts(prod: Synthesized) -> None:
    """Each for one."""
    accounts = {name: trusted_accounts(prod, made) for name, made in roles(prod).items()}
    assert accounts == {
        "operator": {f"{NAMESPACE}:hyperpod-inference-controller-manager"},
        "alb": {f"{NAMESPACE}:aws-load-balancer-controller"},
        "keda": {f"{NAMESPACE}:keda-operator"},
    }


def test_operators_role_is_what_its_policies_expect(shipped: Synthesized) -> None:
    """The chart refuses another beginning; 64 characters are IAM's limit."""
    operator = roles(shipped)["operator"]
    assert operator["RoleName"].startswith("SageMakerHyperPodInference")
    assert len(operator["RoleName"]) <= 64
    assert [text(arn) for arn in operator["ManagedPolicyArns"]] == [
        "arn:<AWS::Partition>:iam::aws:policy/AmazonSageMakerHyperPodInferenceAccess"
    ]
    principals = [s["Principal"] for s in operator["AssumeRolePolicyDocument"]["Statement"]]
    assert {"Service": "sagemaker.amazonaws.com"} in principals


def test_keda_reads_metrics_and_only_reads(prod: Synthesized) -> None:
    """CloudWatch and Prometheus."""
    (policy,) = roles(prod)["keda"]["Policies"]
    actions = [a for s in policy["PolicyDocument"]["Statement"] for a in s["Action"]]
    assert actions
    assert all(re.fullmatch(r"(cloudwatch|aps):(Get|List|Query)\w+", action) for action in actions)


def test_load_balancer_controller_stays_in_its_account(prod: Synthesized) -> None:
    """Whatever ARN its policy names is of this region and account."""
    (policy,) = roles(prod)["alb"]["Policies"]
    arns = [
        text(resource)
        for statement in policy["PolicyDocument"]["Statement"]
        for resource in (
            statement["Resource"]
            if isinstance(statement["Resource"], list)
            else [statement["Resource"]]
        )
        if resource != "*"
    ]
    account, region = prod.environment.account, prod.environment.region
    assert arns
    for arn in arns:
        *_, service, place, owner, _ = arn.replace("AWS::Partition", "aws").split(":", 5)
        assert owner == account
        assert place == ("" if service in {"iam", "shield"} else region)
