"""The waiter's functions: they look, and can do nothing else."""

import json
from typing import Any

from dpd.config.naming import WAITER_GROUP
from tests.synthesized import Synthesized, text


def functions(made: Synthesized) -> dict[str, dict[str, Any]]:
    """Our own two functions, by handler."""
    found = made["platform"].of_type("AWS::Lambda::Function").values()
    return {
        function["Properties"]["Handler"]: function["Properties"]
        for function in found
        if function["Properties"]["Handler"].startswith("index.")
    }


def role_id(made: Synthesized) -> str:
    """Logical id of the role of both."""
    ((part, logical_id),) = {
        made.origin("platform", function["Role"]) for function in functions(made).values()
    }
    assert part == "platform"
    return logical_id


def test_functions_are_the_two_handlers(shipped: Synthesized) -> None:
    """As the provider calls them."""
    assert set(functions(shipped)) == {"index.on_event", "index.is_complete"}


def test_access_entry_gives_a_group_and_no_policy(shipped: Synthesized) -> None:
    """The group may read what an endpoint's own Role names, and nothing else."""
    template, waiter = shipped["platform"], role_id(shipped)
    entry = template.properties("AWS::EKS::AccessEntry")
    assert entry["PrincipalArn"] == {"Fn::GetAtt": [waiter, "Arn"]}
    assert entry["KubernetesGroups"] == [WAITER_GROUP]
    assert entry["Type"] == "STANDARD"
    assert "AccessPolicies" not in entry
    assert (
        entry["ClusterName"]
        == template.properties("AWS::EKS::Addon", AddonName="cert-manager")["ClusterName"]
    )


def test_role_lists_the_weights_and_reads_none(prod: Synthesized) -> None:
    """Whether files are there is all that it looks at."""
    template, waiter = prod["platform"], role_id(prod)
    role = template.resources[waiter]["Properties"]
    assert [text(arn).rpartition("/")[2] for arn in role["ManagedPolicyArns"]] == [
        "AWSLambdaVPCAccessExecutionRole"
    ]
    assert "Policies" not in role
    statements = [
        statement
        for policy in template.of_type("AWS::IAM::Policy").values()
        if {"Ref": waiter} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    assert [(s["Effect"], s["Action"], text(s["Resource"])) for s in statements] == [
        (
            "Allow",
            "s3:ListBucket",
            "arn:<AWS::Partition>:s3:::dpd-prod-models-111122223333-us-east-2",
        )
    ]


def test_functions_reach_the_api_and_s3_over_tls_only(prod: Synthesized) -> None:
    """From the system subnets; the cluster lets them in on 443 and nothing lets anybody in."""
    template = prod["platform"]
    group_id, group = template.only("AWS::EC2::SecurityGroup")
    assert [
        (r["IpProtocol"], r["FromPort"], r["ToPort"]) for r in group["SecurityGroupEgress"]
    ] == [("tcp", 443, 443)]
    assert "SecurityGroupIngress" not in group
    door = template.properties("AWS::EC2::SecurityGroupIngress")
    assert prod.resource("platform", door["GroupId"])["Type"] == "AWS::EKS::Cluster"
    assert prod.origin("platform", door["SourceSecurityGroupId"]) == ("platform", group_id)
    assert (door["IpProtocol"], door["FromPort"], door["ToPort"]) == ("tcp", 443, 443)
    for function in functions(prod).values():
        vpc_config = function["VpcConfig"]
        subnets = [prod.resource("platform", s)["Properties"] for s in vpc_config["SubnetIds"]]
        assert [s["CidrBlock"] for s in subnets] == [
            str(s.cidr) for s in prod.environment.network.system_subnets
        ]
        assert [prod.origin("platform", g) for g in vpc_config["SecurityGroupIds"]] == [
            ("platform", group_id)
        ]


def test_functions_are_told_which_cluster(prod: Synthesized) -> None:
    """Name, endpoint and certificate authority, all of this one."""
    for function in functions(prod).values():
        variables = function["Environment"]["Variables"]
        assert set(variables) == {
            "CLUSTER_NAME",
            "CLUSTER_ENDPOINT",
            "CLUSTER_CERTIFICATE_AUTHORITY",
        }
        for value in variables.values():
            assert prod.resource("platform", value)["Type"] == "AWS::EKS::Cluster"


def test_waiting_ends_before_cloudformation_does(prod: Synthesized) -> None:
    """So that what failed is said, and not only how long it took."""
    machine = prod["platform"].properties("AWS::StepFunctions::StateMachine")
    definition = json.loads(text(machine["DefinitionString"]))
    (retry,) = definition["States"][definition["StartAt"]]["Retry"]
    assert retry["BackoffRate"] == 1
    assert 1800 < retry["IntervalSeconds"] * retry["MaxAttempts"] < 3600
