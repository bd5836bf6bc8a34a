"""What holds for every template of every environment."""

import re
from itertools import pairwise

from k8s.__main__ import manifests
from tests.conftest import Synthesize
from tests.synthesized import Synthesized, strings

ZONE_NAME = re.compile(r"\b(af|ap|ca|cn|eu|il|me|mx|sa|us)(-[a-z]+)+-\d[a-z]\b")
ZONE_ID = re.compile(r"\b[a-z]{3,4}\d-az\d\b")
SECRETS = {
    "access key id": re.compile(r"\b(AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b"),
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "token of a code host or a model hub": re.compile(r"\b(ghp|gho|ghs|hf|glpat)[_-]\w{20,}"),
    "password or token with a value": re.compile(
        r"(?i)(password|passwd|secret|api[_-]?key|[_-]token)\W{0,3}[=:]\W{0,3}\w{8,}"
    ),
}


def test_stacks_are_named_after_the_environment(shipped: Synthesized) -> None:
    """Foundation, cluster, platform, and one for each endpoint."""
    assert set(shipped.templates) == {
        "foundation",
        "cluster",
        "platform",
        *(f"endpoint-{endpoint.name}" for endpoint in shipped.environment.endpoints),
    }


def test_stacks_stand_on_the_ones_before_them(shipped: Synthesized) -> None:
    """Each depends on the one before, so that deletion runs backwards."""
    order = ["foundation", "cluster", "platform", "endpoint-chat"]
    for before, after in pairwise(order):
        assert f"{shipped.prefix}-{before}" in shipped.artifact(after)["dependencies"]


def test_stacks_are_bound_to_account_and_region(shipped: Synthesized) -> None:
    """Of the file, whoever deploys."""
    config = shipped.environment
    for part in shipped.templates:
        assert shipped.artifact(part)["environment"] == f"aws://{config.account}/{config.region}"


def test_stacks_carry_the_environments_tags(synthesize: Synthesize) -> None:
    """On the stack, from where CloudFormation puts them on everything in it."""
    made = synthesize("prod", "tags={team: inference, costCenter: '4711'}")
    for part in made.templates:
        assert made.artifact(part)["properties"]["tags"] == {
            "dpd:environment": "prod",
            "team": "inference",
            "costCenter": "4711",
        }


def test_nothing_is_looked_up(shipped: Synthesized) -> None:
    """A lookup would ask AWS at synth, with credentials, and answer differently tomorrow."""
    assert not shipped.manifest.get("missing")
    for template in shipped.templates.values():
        assert "Fn::GetAZs" not in set(strings(template.data))
        assert "dummy" not in " ".join(strings(template.data)).casefold()


def test_zones_are_ids(shipped: Synthesized) -> None:
    """The letter in a zone's name means another zone in every account."""
    written = [s for template in shipped.templates.values() for s in strings(template.data)]
    assert not [s for s in written if ZONE_NAME.search(s)]
    assert [s for s in written if ZONE_ID.search(s)]


def test_the_patterns_find_what_they_are_for() -> None:
    """A pattern that finds nothing proves nothing."""
    assert ZONE_NAME.search("us-east-2a")
    assert ZONE_NAME.search("arn:ap-northeast-1c/x")
    assert not ZONE_NAME.search("us-east-2")
    for name, given in (
        ("access key id", "AKIAIOSFODNN7EXAMPLE"),
        ("private key", "-----BEGIN RSA PRIVATE KEY-----"),
        ("token of a code host or a model hub", "hf_abcdefghijklmnopqrstuvwx"),
        ("password or token with a value", "HF_TOKEN=abcdefgh12345"),
    ):
        assert SECRETS[name].search(given), name


def test_no_secret_stands_in_a_template(shipped: Synthesized) -> None:
    """Everybody who may describe a stack reads its template."""
    for template in shipped.templates.values():
        for written in strings(template.data):
            assert not [name for name, pattern in SECRETS.items() if pattern.search(written)]


def test_assets_hold_no_bytecode(shipped: Synthesized) -> None:
    """Their hashes would hang on who ran what before."""
    assert any("EndpointWaiter" in name for name in shipped.assets)
    for name, files in shipped.assets.items():
        assert files, name
        assert not [f for f in files if f.name == "__pycache__" or f.suffix == ".pyc"], name


def test_templates_fit_into_cloudformation(shipped: Synthesized) -> None:
    """500 resources, 200 outputs, descriptions for people."""
    for template in shipped.templates.values():
        assert len(template.resources) <= 500
        assert len(template.data.get("Outputs", {})) <= 200
        assert template.data["Description"].startswith("hyperpod-dpd: ")


def test_manifests_are_those_of_dist(shipped: Synthesized) -> None:
    """Whoever reads the files sees what the CDK applies."""
    files = manifests(shipped.environment)
    applied = [thing for some in shipped["cluster"].manifests().values() for thing in some]
    assert applied == files["00-hyperpod-dependencies.yaml"]
    applied = [thing for some in shipped["endpoint-chat"].manifests().values() for thing in some]
    assert [thing for thing in files["10-endpoint-chat.yaml"] if thing not in applied] == []
