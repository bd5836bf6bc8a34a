"""Who may do what: no action with a `*`, and every resource `*` with its reason."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.synthesized import Synthesized, text

LISTING = "lists or describes: the action takes no resource in IAM"


STARS: Mapping[str, str] = {
    **dict.fromkeys(
        [
            "acm:ListCertificates",
            "cloudwatch:GetMetricData",
            "cloudwatch:GetMetricStatistics",
            "cloudwatch:ListMetrics",
            "ec2:DescribeAccountAttributes",
            "ec2:DescribeAddresses",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeDhcpOptions",
            "ec2:DescribeInstances",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeInternetGateways",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeTags",
            "ec2:DescribeVpcPeeringConnections",
            "ec2:DescribeVpcs",
            "ecr:GetAuthorizationToken",
            "elasticloadbalancing:DescribeCapacityReservation",
            "elasticloadbalancing:DescribeListenerAttributes",
            "elasticloadbalancing:DescribeListenerCertificates",
            "elasticloadbalancing:DescribeListeners",
            "elasticloadbalancing:DescribeLoadBalancerAttributes",
            "elasticloadbalancing:DescribeLoadBalancers",
            "elasticloadbalancing:DescribeRules",
            "elasticloadbalancing:DescribeSSLPolicies",
            "elasticloadbalancing:DescribeTags",
            "elasticloadbalancing:DescribeTargetGroupAttributes",
            "elasticloadbalancing:DescribeTargetGroups",
            "elasticloadbalancing:DescribeTargetHealth",
            "elasticloadbalancing:DescribeTrustStores",
            "fsx:DescribeFileSystems",
            "iam:ListServerCertificates",
            "shield:GetSubscriptionState",
        ],
        LISTING,
    ),
}
"""Every action that is allowed on `*`, with the reason why."""

Statement = dict[str, Any]


def statements(value: Any) -> Iterator[Statement]:
    """Every policy statement in a template, of whatever kind of policy."""
    if isinstance(value, Mapping):
        if isinstance(value.get("Statement"), list):
            yield from value["Statement"]
        for item in value.values():
            yield from statements(item)
    elif isinstance(value, list):
        for item in value:
            yield from statements(item)


def all_statements(made: Synthesized) -> Iterator[tuple[str, Statement]]:
    """Type of the resource that holds it, and the statement."""
    for template in made.templates.values():
        for resource in template.resources.values():
            for statement in statements(resource):
                yield resource["Type"], statement


def listed(value: Any) -> list[Any]:
    """A list, also of one thing that stands without."""
    return value if isinstance(value, list) else [value]


def is_key_policy_of_the_account(kind: str, statement: Statement) -> bool:
    """What every key must say, or nobody could ever administer it: IAM decides."""
    principal = statement.get("Principal", {})
    return kind == "AWS::KMS::Key" and text(principal.get("AWS", "")).endswith(":root")


def test_statements_are_found(prod: Synthesized) -> None:
    """In roles, policies, bucket policies and keys."""
    kinds = {kind for kind, _ in all_statements(prod)}
    assert kinds >= {
        "AWS::IAM::Role",
        "AWS::IAM::Policy",
        "AWS::S3::BucketPolicy",
        "AWS::KMS::Key",
    }


def test_no_action_has_a_star(shipped: Synthesized) -> None:
    """What is denied may be everything."""
    for kind, statement in all_statements(shipped):
        assert "NotAction" not in statement
        if statement["Effect"] == "Allow" and not is_key_policy_of_the_account(kind, statement):
            assert not [action for action in listed(statement["Action"]) if "*" in action]


def test_nobody_and_everybody_are_not_allowed(shipped: Synthesized) -> None:
    """No policy opens anything to the world."""
    for _, statement in all_statements(shipped):
        if statement["Effect"] == "Allow":
            assert statement.get("Principal") not in ("*", {"AWS": "*"})
            assert "NotPrincipal" not in statement
            assert "NotResource" not in statement


def starred(made: Synthesized) -> Iterator[tuple[str, Statement]]:
    """Every action that is allowed on `*`, and its statement."""
    for kind, statement in all_statements(made):
        is_open = "*" in [text(resource) for resource in listed(statement.get("Resource", []))]
        if is_open and not is_key_policy_of_the_account(kind, statement):
            for action in listed(statement["Action"]):
                yield action, statement


def test_every_star_has_a_reason(shipped: Synthesized) -> None:
    """A new one fails here, and so does a reason for one that is gone."""
    assert {action for action, _ in starred(shipped)} == set(STARS)


def test_reason_is_true(prod: Synthesized) -> None:
    """As far as a template can tell: what only reads."""
    for action, _ in starred(prod):
        verb = action.partition(":")[2]
        assert verb.startswith(("Describe", "List", "Get"))


def test_roles_are_taken_by_services_of_aws_or_by_this_cluster(shipped: Synthesized) -> None:
    """By no other account and by nobody in person."""
    for kind, statement in all_statements(shipped):
        if kind != "AWS::IAM::Role" or "Principal" not in statement:
            continue
        (by,) = statement["Principal"]
        assert by in {"Service", "Federated"}
        if by == "Federated":
            assert statement["Condition"]["StringEquals"]
