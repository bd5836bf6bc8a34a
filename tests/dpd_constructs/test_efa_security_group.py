"""EFA needs every packet between members to pass, in both directions."""

from collections.abc import Iterator
from typing import Any

from tests.synthesized import Synthesized

EVERYTHING = "-1"


def rules(made: Synthesized, group_id: str, direction: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Part and properties of every rule of the GPU nodes' group, wherever it stands."""
    group = made["foundation"].resources[group_id]["Properties"]
    for rule in group.get(f"SecurityGroup{direction}", []):
        yield "foundation", rule
    for part, template in made.templates.items():
        for resource in template.of_type(f"AWS::EC2::SecurityGroup{direction}").values():
            rule = resource["Properties"]
            if made.origin(part, rule["GroupId"]) == ("foundation", group_id):
                yield part, rule


def peers(made: Synthesized, group_id: str, direction: str, key: str) -> set[tuple[str, str]]:
    """Groups that all traffic is allowed from or to."""
    return {
        made.origin(part, rule[key])
        for part, rule in rules(made, group_id, direction)
        if key in rule and rule["IpProtocol"] == EVERYTHING
    }


def test_members_reach_each_other_both_ways(shipped: Synthesized) -> None:
    """All-traffic rules from and to itself; without the second, EFA silently does not work."""
    group_id, _ = shipped["foundation"].only("AWS::EC2::SecurityGroup")
    itself = ("foundation", group_id)
    assert itself in peers(shipped, group_id, "Ingress", "SourceSecurityGroupId")
    assert itself in peers(shipped, group_id, "Egress", "DestinationSecurityGroupId")


def test_members_reach_the_internet(shipped: Synthesized) -> None:
    """Beside the rule to itself, which does not replace it."""
    group_id, _ = shipped["foundation"].only("AWS::EC2::SecurityGroup")
    out = [rule for _, rule in rules(shipped, group_id, "Egress") if "CidrIp" in rule]
    assert [(rule["IpProtocol"], rule["CidrIp"]) for rule in out] == [(EVERYTHING, "0.0.0.0/0")]


def test_nobody_else_reaches_members(shipped: Synthesized) -> None:
    """Only members and the cluster's own group; no address."""
    group_id, _ = shipped["foundation"].only("AWS::EC2::SecurityGroup")
    cluster = ("cluster", shipped["cluster"].only("AWS::EKS::Cluster")[0])
    into = list(rules(shipped, group_id, "Ingress"))
    assert not [rule for _, rule in into if "SourceSecurityGroupId" not in rule]
    assert peers(shipped, group_id, "Ingress", "SourceSecurityGroupId") == {
        ("foundation", group_id),
        cluster,
    }
