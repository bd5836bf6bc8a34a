"""Context parameters change what they name and nothing else."""

# ruff: noqa: E501 - whole messages are easier to compare on one line

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.config import Environment
from dpd.config.context import KEYS, SHORTCUTS, overridden
from dpd.config.loader import ENVIRONMENTS, environment_from
from dpd.config.source import read_source
from dpd.errors import UserError
from tests.config.conftest import Load, Refusal

Edit = Callable[..., str]


def changes(before: Any, after: Any, path: tuple[Any, ...] = ()) -> dict[str, tuple[Any, Any]]:
    """What differs between two dumps, by dotted path."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        pairs = [(key, before.get(key), after.get(key)) for key in keys]
    elif isinstance(before, list | tuple) and len(before) == len(after):
        pairs = [(i, *pair) for i, pair in enumerate(zip(before, after, strict=True))]
    else:
        return {} if before == after else {".".join(map(str, path)): (before, after)}
    return {k: v for key, a, b in pairs for k, v in changes(a, b, (*path, key)).items()}


def changed(before: Environment, after: Environment) -> dict[str, tuple[Any, Any]]:
    return changes(before.model_dump(by_alias=True), after.model_dump(by_alias=True))


def test_shortcuts_change_exactly_their_fields(
    environment: Environment, load: Load, prod: str
) -> None:
    """The two parameters that a person tries first."""
    after = load(prod, prefillReplicas="2", routingThreshold="8192")
    assert changed(environment, after) == {
        "endpoints.0.prefill.replicas": (1, 2),
        "endpoints.0.routing.thresholdTokens": (4096, 8192),
    }


@pytest.mark.parametrize("key", sorted(SHORTCUTS))
@pytest.mark.parametrize("value", ["3", 3])
def test_every_shortcut_takes_text_and_numbers(
    key: str, value: object, environment: Environment, load: Load, prod: str
) -> None:
    """The command line gives text, cdk.json numbers."""
    path = ".".join(["endpoints.0", *SHORTCUTS[key]])  # type: ignore[list-item]
    after = changed(environment, load(prod, **{key: value}))
    assert {where: new for where, (_, new) in after.items()} == {path: 3}


def test_more_replicas_than_the_group_has_room_for(
    edited: Edit, load: Load, refusal: Refusal
) -> None:
    """A fixed count is refused, a free one grows."""
    text = edited("{name: prefill, instanceType", "{name: prefill, count: 1, instanceType")
    assert load(text)
    (only,) = refusal(text, prefillReplicas="2")
    assert only.startswith(
        "environments/prod.yaml:18: cluster.instanceGroups.prefill.count: given 1"
    )
    assert "need 2 nodes of 8 GPUs" in only
    assert load(text, prefillReplicas="2", set="cluster.instanceGroups.prefill.count=2")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("prefilReplicas", "prefillReplicas"),
        ("PREFILLREPLICAS", "prefillReplicas"),
        ("Env", "env"),
        ("routing-threshold", "routingThreshold"),
        ("endpoints", "endpoint"),
        ("sets", "set"),
    ],
)
def test_misspelt_key_names_the_right_one(
    key: str, meant: str, prod: str, refusal: Refusal
) -> None:
    """One line, with the parameter as its place."""
    expected = f"-c {key}: unknown context key; did you mean {meant!r}?"
    assert refusal(prod, **{key: "2"}) == (expected,)


def test_unlike_keys_list_all_of_ours(prod: str, refusal: Refusal) -> None:
    """Several unknown keys are several lines, in a fixed order."""
    first, second = refusal(prod, zzz="1", qqq="2")
    assert first == f"-c qqq: unknown context key; allowed: {', '.join(sorted(KEYS))}"
    assert second.startswith("-c zzz: ")


@pytest.mark.parametrize(
    "key",
    [
        "@aws-cdk/core:newStyleStackSynthesis",
        "aws:cdk:bundling-stacks",
        "cli-telemetry",
        "availability-zones:account=1:region=us-east-2",
        "acknowledged-issue-numbers",
        "cdk-migrate",
    ],
)
def test_keys_of_the_cdk_are_passed_over(
    key: str, environment: Environment, load: Load, prod: str
) -> None:
    """Feature flags, lookups and what the CLI notes in cdk.context.json are not ours."""
    assert load(prod, **{key: [1]}) == environment


@pytest.mark.parametrize(
    ("assignment", "where", "value"),
    [
        ("cluster.kubernetesVersion=1.34", "cluster.kubernetesVersion", "1.34"),
        ("account=011122223333", "account", "011122223333"),
        ("account='222233334444'", "account", "222233334444"),
        ("models.Llama-3.3-70B-Instruct.dtype=float16", "models.0.dtype", "float16"),
        ("models.0.location=a/b", "models.0.location", "a/b"),
        ("endpoints.chat.kvTransfer.bufferSize=4GiB", "endpoints.0.kvTransfer.bufferSize", 2**32),
        ("endpoints.chat.gpuMemoryUtilization=0.5", "endpoints.0.gpuMemoryUtilization", 0.5),
        ("endpoints.chat.readiness.wait=false", "endpoints.0.readiness.wait", False),
        ("endpoints.chat.args=[--seed, '1']", "endpoints.0.args", ("--seed", "1")),
        ("endpoints.chat.environmentVariables.A=1", "endpoints.0.environmentVariables.A", "1"),
        ("cluster.addonVersions.vpc-cni=v1.20.5-eksbuild.1", "cluster.addonVersions.vpc-cni", "v1.20.5-eksbuild.1"),
        ("cluster.instanceGroups.decode.count=7", "cluster.instanceGroups.1.count", 7),
        ("tags.owner=true", "tags.owner", "true"),
        ("tags.note=a=b", "tags.note", "a=b"),
        ("endpoints.chat.environmentVariables.L=1,2", "endpoints.0.environmentVariables.L", "1,2"),
        ("endpoints.chat.overrides.x.y=2", "endpoints.0.overrides.x", {"y": 2}),
    ],
)  # fmt: skip
def test_set_changes_one_value(
    assignment: str, where: str, value: object, environment: Environment, load: Load, prod: str
) -> None:
    """By name or position; bare words are text where text belongs, since shells eat quotes."""
    after = changed(environment, load(prod, set=assignment))
    assert {path: new for path, (_, new) in after.items()} == {where: value}


def test_set_takes_several_assignments(environment: Environment, load: Load, prod: str) -> None:
    """Commas separate them where an assignment follows; the last one of a kind counts."""
    variables = "endpoints.chat.environmentVariables"
    after = load(prod, set=f"{variables}.A=1,2,tags.b=3,tags.b=4", prefillReplicas="2")
    assert {path: new for path, (_, new) in changed(environment, after).items()} == {
        "endpoints.0.environmentVariables.A": "1,2",
        "endpoints.0.prefill.replicas": 2,
        "tags.b": "4",
    }


def test_null_gives_an_optional_value_back(edited: Edit, load: Load) -> None:
    """An optional text can be unset."""
    text = edited("    model:", "    namespace: other\n    model:")
    assert load(text).endpoints[0].namespace == "other"
    assert load(text, set="endpoints.chat.namespace=null").endpoints[0].namespace is None


def test_keys_with_dots_are_found(prod: str, load: Load) -> None:
    """The longest key that is there wins."""
    text = prod + "tags: {a.b: x, a: y}\n"
    assert load(text, set="tags.a.b=z").tags == {"a.b": "z", "a": "y"}


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"prefillReplicas": ""}, "-c prefillReplicas=: endpoints.chat.prefill.replicas: given nothing; allowed: a whole number"),
        ({"prefillReplicas": "two"}, "-c prefillReplicas=two: endpoints.chat.prefill.replicas: given 'two'; allowed: a whole number"),
        ({"prefillReplicas": "0"}, "-c prefillReplicas=0: endpoints.chat.prefill.replicas: given 0; allowed: 1 or more"),
        ({"prefillReplicas": "["}, "-c prefillReplicas=[: not YAML: did not find expected node content"),
        ({"prefillReplicas": "1\n---\n2"}, "-c prefillReplicas=1\\n---\\n2: 2 YAML documents; allowed: one value"),
        ({"prefillReplicas": {"a": 1}}, "-c prefillReplicas={'a': 1}: endpoints.chat.prefill.replicas: given a mapping; allowed: a whole number"),
        ({"routingThreshold": "4k"}, "-c routingThreshold=4k: endpoints.chat.routing.thresholdTokens: given '4k'; allowed: a whole number"),
        ({"endpoint": "chta"}, "-c endpoint=chta: no endpoint of this name; did you mean 'chat'?"),
        ({"endpoint": 5}, "-c endpoint=5: no endpoint of this name; allowed: chat"),
        ({"endpoint": "x", "decodeReplicas": "2"}, "-c endpoint=x: no endpoint of this name; allowed: chat"),
        ({"set": "a"}, "-c set=a: no assignment; give a dotted path and a value, as in a.b=1"),
        ({"set": "=1"}, "-c set==1: no assignment; give a dotted path and a value, as in a.b=1"),
        ({"set": 5}, "-c set=5: no assignment; give a dotted path and a value, as in a.b=1"),
        ({"set": "acount=1"}, "-c set=acount=1: acount: unknown key; did you mean 'account'?"),
        ({"set": "account.x=1"}, "-c set=account.x=1: account: given a mapping; allowed: text"),
        ({"set": "account=\udcff"}, "-c set=account=\\udcff: not UTF-8 text; save it as UTF-8"),
        ({"set": "endpoints.chat.prefil.replicas=2"}, "-c set=endpoints.chat.prefil.replicas=2: endpoints.chat.prefil: unknown key; did you mean 'prefill'?"),
        ({"set": "endpoints.chta.cpu=2"}, "-c set=endpoints.chta.cpu: 'chta' is not in the list; did you mean 'chat'?"),
        ({"set": "endpoints.1.cpu=2"}, "-c set=endpoints.1.cpu: '1' is not in the list; allowed: 0, chat"),
        ({"set": "endpoints.-1.cpu=2"}, "-c set=endpoints.-1.cpu: '-1' is not in the list; allowed: 0, chat"),
        ({"set": "endpoints.\u00b2.cpu=2"}, "-c set=endpoints.\u00b2.cpu: '\u00b2' is not in the list; allowed: 0, chat"),
        ({"set": "endpoints..cpu=2"}, "-c set=endpoints..cpu: '' is not in the list; allowed: 0, chat"),
        ({"set": "cluster.systemNodes={count: 99}"}, "-c set=cluster.systemNodes={count: 99}: cluster.systemNodes.count: given 99; allowed: 10 or less"),
        ({"set": "endpoints.chat.prefill.instanceGroup=gpu"}, "-c set=endpoints.chat.prefill.instanceGroup=gpu: endpoints.chat.prefill.instanceGroup: given 'gpu', which is no instance group of this environment; allowed: decode, prefill"),
        ({"set": "endpoints=[]", "endpoint": "chat"}, None),
    ],
)  # fmt: skip
def test_mistakes_are_blamed_on_the_parameter(
    context: dict[str, Any], message: str | None, prod: str, load: Load, refusal: Refusal
) -> None:
    """Not on the line of the file that it replaces."""
    if message is None:
        assert load(prod, **context).endpoints == ()
    else:
        assert refusal(prod, **context) == (message,)


def test_replaced_values_are_no_longer_the_files(edited: Edit, refusal: Refusal) -> None:
    """A whole mapping given by parameter: what is wrong inside is the parameter's."""
    text = edited("  instanceGroups:", "  systemNodes: {count: 1}\n  instanceGroups:")
    (only,) = refusal(text, set="cluster.systemNodes={count: 99}")
    assert only.startswith("-c set=cluster.systemNodes={count: 99}: ")


def test_a_long_parameter_is_shown_in_part(prod: str, refusal: Refusal) -> None:
    """Thousands of digits, as a position or a value, are one short line."""
    for text in ("endpoints." + "9" * 5000 + "=1", "account=" + "9" * 5000):
        (only,) = refusal(prod, set=text)
        assert len(only) < 400


TWO = """\
  - name: summary
    topology: colocated
    model: Llama-3.3-70B-Instruct
    workers: {instanceGroup: decode}
"""


def test_several_endpoints_need_a_name(prod: str, load: Load, refusal: Refusal) -> None:
    """No guess which one is meant."""
    expected = "-c decodeReplicas: given no endpoint; add -c endpoint=NAME, one of: chat, summary"
    assert refusal(prod + TWO, decodeReplicas="2") == (expected,)
    after = load(prod + TWO, decodeReplicas="2", endpoint="chat")
    assert after.endpoints[0].roles["decode"].replicas == 2


def test_colocated_endpoint_has_no_prefill_workers(prod: str, refusal: Refusal) -> None:
    """The parameter is refused like the key would be."""
    (only,) = refusal(prod + TWO, prefillReplicas="2", endpoint="summary")
    assert only.startswith(
        "-c prefillReplicas=2: endpoints.summary.prefill: no key with topology: colocated; "
        "remove it, or use topology: disaggregated"
    )


@pytest.mark.parametrize(
    "endpoints", ["", "endpoints: []\n", "endpoints: {a: 1}\n", "endpoints: [5]\n"]
)
def test_environment_without_endpoints(endpoints: str, prod: str, refusal: Refusal) -> None:
    """Nothing to set replicas of."""
    text = prod[: prod.index("endpoints:")] + endpoints
    (only,) = refusal(text, prefillReplicas="2")
    assert (
        only
        == "-c prefillReplicas: the environment has no endpoints; add one to environments/prod.yaml"
    )


def test_endpoint_is_found_behind_an_item_without_a_name(edited: Edit, refusal: Refusal) -> None:
    """Positions are those of the list, not of its named items."""
    text = edited("endpoints:\n", "endpoints:\n  - 5\n")
    lines = refusal(text, prefillReplicas="0", endpoint="chat")
    assert [each.split(": ")[1] for each in lines] == [
        "endpoints.0",
        "endpoints.chat.prefill.replicas",
    ]


PATHS = st.lists(
    st.sampled_from(["endpoints", "chat", "0", "prefill", "cluster", "tags", "", "x", "-1", "name"])
    | st.text(max_size=4),
    min_size=1,
    max_size=5,
).map(".".join)
VALUES = st.text(max_size=8) | st.sampled_from(["null", "[]", "{}", "true", "0", "1.35", "{a: b}"])


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(PATHS, VALUES, st.sampled_from(["set", "endpoint", *SHORTCUTS]) | st.text(max_size=8))
def test_any_parameter_is_taken_or_refused(path: str, value: str, key: str) -> None:
    """Nothing but a `UserError` comes out; the place is a parameter or a line."""
    source = read_source(ENVIRONMENTS / "prod.yaml", name="prod.yaml")
    context = {key: f"{path}={value}" if key == "set" else value}
    lines: tuple[str, ...] | None = None
    try:
        environment_from(overridden(source, context), name="prod")
    except UserError as error:
        lines = error.lines
    assert lines != ()
    assert all(line.startswith(("-c ", "prod.yaml:")) for line in lines or ())
    assert all(line.isprintable() for line in lines or ())
