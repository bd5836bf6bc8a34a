"""The schema that an editor reads agrees with what the loader takes."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from dpd.catalog import health_monitoring_agent_accounts, instance_types, model_architectures
from dpd.config.loader import ENVIRONMENTS
from dpd.config.schema import SCHEMA_FILE, rendered, schema

Edit = Callable[..., str]
VALIDATOR = Draft202012Validator(schema())


def faults(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))]


def test_file_is_up_to_date() -> None:
    """`python -m dpd.config.schema` writes it."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == rendered()


def test_schema_is_a_schema() -> None:
    """By the draft that it names."""
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", [path.name for path in sorted(ENVIRONMENTS.glob("*.yaml"))])
def test_shipped_environments_are_valid(name: str) -> None:
    """No red line in the editor."""
    assert faults((ENVIRONMENTS / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vpcCidr", "vpcCdr"), ("vpcCidr", "vpc_cidr"), ('"111122223333"', "111122223333"),
        ("10.192.0.0/16", "10.192.0.0"), ("use2-az1", "us-east-2a"), ("us-east-2", "us-east-9"),
        ("instanceType: ml.p5", "instanceType: p5"), ("architecture: llama", "architecture: lama"),
        ("topology: disaggregated", "topology: split"), ("8GiB", "8GB"), ("8GiB", "8589934592"),
        ("replicas: 1", "replicas: 0"), ("replicas: 1", "replicas: one"), ("prefixaware", "prefix"),
        ("strategy", "stratgy"), ("name: chat", "name: Chat"), ("    model:", "    modle:"),
        ("    model:", "    tensorParallelSize: 3\n    model:"),
        ("    model:", "    environmentVariables: {1A: b}\n    model:"),
        ("    model:", "    environmentVariables: {A: 1}\n    model:"),
        ("    model:", "    workers: {instanceGroup: decode}\n    model:"),
        ("  instanceGroups:", "  kubernetesVersion: 1.34\n  instanceGroups:"),
        ("  instanceGroups:", "  addonVersions: {vpc_cni: v1.2.3-eksbuild.1}\n  instanceGroups:"),
        ("account:", "tags: {a#b: c}\naccount:"), ("endpoints:\n  - name", "endpoints:\n    name"),
    ],
)  # fmt: skip
def test_typical_mistakes_are_seen_in_the_editor(old: str, new: str, edited: Edit) -> None:
    """Before anything is run."""
    assert faults(edited(old, new))


def nodes(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield path, node
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from nodes(value, f"{path}/{key}")


def test_defaults_are_values_that_may_be_written() -> None:
    """A default that an editor inserts is valid: `8GiB`, not 8589934592."""
    root = schema()
    checked = 0
    for path, node in nodes(root):
        if "default" in node and not path.endswith("/properties"):
            validator = Draft202012Validator({**node, "$defs": root["$defs"]})
            assert list(validator.iter_errors(node["default"])) == [], path
            checked += 1
    assert checked > 20


def test_every_mapping_is_closed_or_described() -> None:
    """Only raw overrides take any key."""
    open_mappings = [
        path
        for path, node in nodes(schema())
        if node.get("type") == "object" and node.get("additionalProperties", True) is True
    ]
    assert {path.rsplit("/", 1)[1] for path in open_mappings} == {"overrides"}


def test_choices_come_from_the_catalog() -> None:
    """An editor offers them."""
    parts = schema()["$defs"]
    assert parts["InstanceGroup"]["properties"]["instanceType"]["enum"] == sorted(instance_types())
    assert parts["Model"]["properties"]["architecture"]["enum"] == sorted(model_architectures())
    assert schema()["properties"]["region"]["enum"] == sorted(health_monitoring_agent_accounts())


def test_keys_are_described() -> None:
    """Most keys say more than their name; a unit is in the name or in the value."""
    properties = [
        (path, key, value)
        for path, node in nodes(schema())
        for key, value in node.get("properties", {}).items()
        if isinstance(value, dict) and not path.endswith("/properties")
    ]
    described = [key for _, key, value in properties if "description" in value or "$ref" in value]
    assert len(described) > len(properties) / 2
    assert not [key for _, key, _ in properties if re.search(r"_|Gi?[bB]$|Bytes$", key)]


def test_patterns_mean_the_same_in_an_editor() -> None:
    """No construct that JavaScript and Rust read differently."""
    patterns = [
        node["pattern"] for _, node in nodes(schema()) if isinstance(node.get("pattern"), str)
    ]
    assert len(patterns) > 10
    for pattern in patterns:
        assert pattern.startswith("^")
        assert pattern.endswith("$")
        assert not re.search(r"\(\?|\\[AzZpPhH]", pattern)
