"""Every mistake is one line: where, what was given, what is allowed."""

# ruff: noqa: E501 - whole messages are easier to compare on one line

import re
from collections.abc import Callable

import pytest

from dpd.config.loader import ENVIRONMENTS
from dpd.config.problem import Problem
from dpd.config.report import line, readable
from dpd.config.source import Source
from tests.config.conftest import Load, Refusal

Edit = Callable[..., str]
SHIPPED = sorted(path.name for path in ENVIRONMENTS.glob("*.yaml"))


def line_of(text: str, piece: str) -> int:
    assert piece in text
    return text[: text.index(piece)].count("\n") + 1


@pytest.mark.parametrize("name", SHIPPED)
def test_every_misspelt_key_is_one_line(name: str, refusal: Refusal) -> None:
    """Each key of each shipped file, at each level: its line and the right key are named."""
    text = (ENVIRONMENTS / name).read_text(encoding="utf-8")
    keys = [found for found in re.finditer(r"\b([a-zA-Z]{3,}):", text) if not _is_comment(found)]
    assert len(keys) > 25
    for key in keys:
        wrong = key[1][:-1] + "q"
        number = text[: key.start()].count("\n") + 1
        (only,) = refusal(text[: key.start()] + wrong + text[key.end() - 1 :])
        assert only.startswith(f"environments/prod.yaml:{number}: ")
        assert only.endswith(f"{wrong}: unknown key; did you mean {key[1]!r}?")


def _is_comment(found: re.Match[str]) -> bool:
    return "#" in found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]


@pytest.mark.parametrize("key", ["vpc_cidr", "VpcCidr", "vpccidr", "VPC-CIDR"])
def test_keys_are_camel_case_and_nothing_else(key: str, edited: Edit, refusal: Refusal) -> None:
    """The Python name of a field is no key either."""
    (only,) = refusal(edited("vpcCidr", key))
    assert only.endswith(f"network.{key}: unknown key; did you mean 'vpcCidr'?")


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        ('"111122223333"', "111122223333", "account", "given 111122223333; allowed: text; put it in quotes"),
        ('"111122223333"', '"1111"', "account", "given '1111'; allowed: text that matches ^\\d{12}$"),
        ('"111122223333"', "", "account", "given nothing; allowed: text"),
        ('"111122223333"', "[a]", "account", "given a list; allowed: text"),
        ("us-east-2", "Ohio", "region", "given 'Ohio'; allowed: text that matches ^[a-z]{2}(-[a-z]+)+-\\d$"),
        ("8GiB", "8GB", "endpoints.chat.kvTransfer.bufferSize", "given '8GB'; allowed: a number with one of the units KiB, MiB, GiB, TiB, such as 8GiB"),
        ("8GiB", "8589934592", "endpoints.chat.kvTransfer.bufferSize", "given 8589934592; allowed: a number with one of the units KiB, MiB, GiB, TiB, such as 8GiB"),
        ("8GiB", "0GiB", "endpoints.chat.kvTransfer.bufferSize", "given '0GiB'; allowed: 1MiB to 256GiB"),
        ("replicas: 1", "replicas: one", "endpoints.chat.prefill.replicas", "given 'one'; allowed: a whole number"),
        ("replicas: 1", "replicas: 1.5", "endpoints.chat.prefill.replicas", "given 1.5; allowed: a whole number"),
        ("replicas: 1", "replicas: 1.0", "endpoints.chat.prefill.replicas", "given 1.0; allowed: a whole number"),
        ("replicas: 1", "replicas: true", "endpoints.chat.prefill.replicas", "given true; allowed: a whole number"),
        ("replicas: 1", "replicas: ~", "endpoints.chat.prefill.replicas", "given nothing; allowed: a whole number"),
        ("replicas: 1", "replicas: 0", "endpoints.chat.prefill.replicas", "given 0; allowed: 1 or more"),
        ("replicas: 1", "replicas: 54065", "endpoints.chat.prefill.replicas", "given 54065; allowed: 54064 or less"),
        ("thresholdTokens: 4096", "thresholdTokens: -1", "endpoints.chat.routing.thresholdTokens", "given -1; allowed: 0 or more"),
        ("strategy: prefixaware", "strategy: prefix", "endpoints.chat.routing.strategy", "given 'prefix'; allowed: 'prefixaware', 'kvaware', 'session' or 'roundrobin'"),
        ("prefill: {instanceGroup: prefill, replicas: 1}", "prefill: [prefill]", "endpoints.chat.prefill", "given a list; allowed: a mapping of keys to values"),
        ("prefill: {instanceGroup: prefill, replicas: 1}", "prefill:", "endpoints.chat.prefill", "given nothing; allowed: a mapping of keys to values"),
        ("{name: Llama-3.3-70B-Instruct, architecture", "{name: -x, architecture", "models.-x.name", "given '-x'; allowed: text that matches ^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$"),
        ("name: chat", f"name: {'x' * 41}", f"endpoints.{'x' * 41}.name", f"given '{'x' * 41}'; allowed: 40 characters or fewer"),
        ("disaggregated", "disagregated", "endpoints.chat.topology", "given 'disagregated'; allowed: colocated, disaggregated"),
        ("disaggregated", "", "endpoints.chat.topology", "given nothing; allowed: colocated, disaggregated"),
        ("disaggregated", "[colocated]", "endpoints.chat.topology", "given a list; allowed: colocated, disaggregated"),
        ("    topology: disaggregated\n", "", "endpoints.chat.topology", "required, but not given; allowed: colocated, disaggregated"),
        ("topology: d", "topolgy: d", "endpoints.chat.topolgy", "unknown key; did you mean 'topology'?"),
        ("    model: Llama-3.3-70B-Instruct\n", "", "endpoints.chat.model", "required, but not given"),
        ("vpcCidr: 10.192.0.0/16", "vpcCidr: 10.192.0.1/16", "network.vpcCidr", "given '10.192.0.1/16'; allowed: an IPv4 block whose host bits are zero, such as 10.1.0.0/16"),
    ],
)  # fmt: skip
def test_wrong_values(
    old: str, new: str, path: str, message: str, edited: Edit, refusal: Refusal
) -> None:
    """What was given and what is allowed, in a person's words and not in pydantic's."""
    (only,) = refusal(edited(old, new))
    assert re.sub(r"^environments/prod\.yaml:\d+: ", "", only) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("added", "path", "message"),
    [
        ("tensorParallelSize: 3", "tensorParallelSize", "given 3; allowed: 1, 2, 4 or 8"),
        ("tensorParallelSize: '8'", "tensorParallelSize", "given '8'; allowed: 1, 2, 4 or 8"),
        ("tensorParallelSize: true", "tensorParallelSize", "given true; allowed: 1, 2, 4 or 8"),
        ("tensorParallelSize: 8.0", "tensorParallelSize", "given 8.0; allowed: 1, 2, 4 or 8"),
        ("gpuMemoryUtilization: 1", "gpuMemoryUtilization", "given 1; allowed: less than 1"),
        ("gpuMemoryUtilization: 0.0", "gpuMemoryUtilization", "given 0.0; allowed: more than 0"),
        ("sagemakerEndpoint: yes", "sagemakerEndpoint", "given 'yes'; allowed: true or false"),
        ("sagemakerEndpoint: 1", "sagemakerEndpoint", "given 1; allowed: true or false"),
        ("readiness: {timeout: 90}", "readiness.timeout", "given 90; allowed: a number with one of the units ms, s, m, h, such as 45m"),
        ("readiness: {timeout: 2h}", "readiness.timeout", "given '2h'; allowed: 1m to 50m"),
        ("args: --foo", "args", "given '--foo'; allowed: a list"),
        ("args: [1]", "args.0", "given 1; allowed: text; put it in quotes"),
        ("args: {a: b}", "args", "given a mapping; allowed: a list"),
        ("environmentVariables: [A]", "environmentVariables", "given a list; allowed: a mapping of keys to values"),
        ("environmentVariables: {A: 1}", "environmentVariables.A", "given 1; allowed: text; put it in quotes"),
        ("environmentVariables: {1A: b}", "environmentVariables.1A", "given '1A'; allowed: text that matches ^[A-Za-z_][A-Za-z0-9_]*$"),
        ("environmentVariables: {A: {}}", "environmentVariables.A", "given a mapping; allowed: text"),
        ("runtime: self-manged", "runtime", "given 'self-manged'; allowed: operator, self-managed"),
        ("disaggregated: {}", "disaggregated", "unknown key; allowed: "),
        ("workers: {instanceGroup: decode}", "workers", "no key with topology: disaggregated; remove it, or use topology: colocated"),
    ],
)  # fmt: skip
def test_wrong_values_of_what_is_optional(
    added: str, path: str, message: str, edited: Edit, refusal: Refusal
) -> None:
    """The same for keys that the shipped file leaves out; the line is that of the key."""
    text = edited("    model: Llama", f"    {added}\n    model: Llama")
    (only,) = refusal(text)
    number = line_of(text, added)
    assert only.startswith(f"environments/prod.yaml:{number}: endpoints.chat.{path}: {message}")


@pytest.mark.parametrize("version", ["1.34", "1.99"])
def test_bare_version_number_gets_the_advice_that_helps(
    version: str, edited: Edit, refusal: Refusal
) -> None:
    """Quotes help 1.34; nothing helps 1.99."""
    (only,) = refusal(
        edited("  instanceGroups:", f"  kubernetesVersion: {version}\n  instanceGroups:")
    )
    assert f"given {version}; allowed: '1.33', '1.34' or '1.35'" in only
    assert only.endswith("put it in quotes") == (version == "1.34")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("- a\n", "a list"),
        ("words", "'words'"),
        ("5", "5"),
        ("---\n", "nothing"),
        ("null", "nothing"),
    ],
)
def test_file_is_a_mapping(text: str, given: str, refusal: Refusal) -> None:
    """A list, a word or nothing is refused as a whole."""
    (only,) = refusal(text)
    assert re.fullmatch(
        rf"environments/prod\.yaml:\d: file: given {given}; allowed: a mapping of keys to values",
        only,
    )


def test_items_that_are_no_endpoints(prod: str, refusal: Refusal) -> None:
    """Each is a mistake of its own, by position."""
    text = prod[: prod.index("endpoints:")] + "endpoints:\n  - 5\n  -\n  - chat\n  - {}\n"
    where = prod[: prod.index("endpoints:")].count("\n") + 2
    paths = ["endpoints.0", "endpoints.1", "endpoints.2", "endpoints.3.topology"]
    lines = refusal(text)
    for position, (path, each) in enumerate(zip(paths, lines, strict=True)):
        assert each.startswith(f"environments/prod.yaml:{where + position}: {path}: ")


def test_number_of_items_is_checked(edited: Edit, refusal: Refusal) -> None:
    """EKS wants two subnets; here is one."""
    (only,) = refusal(edited("    - {availabilityZoneId: use2-az2, cidr: 10.192.32.0/20}\n", ""))
    assert only.endswith("network.systemSubnets: given 1 of them; allowed: 2 or more")


def test_all_mistakes_come_at_once_in_order(edited: Edit, refusal: Refusal) -> None:
    """A person mends them in one go."""
    text = edited("replicas: 1", "replicas: 0").replace("8GiB", "8GB").replace("us-east-2", "x")
    lines = refusal(text)
    assert [each.split(": ")[1] for each in lines] == [
        "region",
        "endpoints.chat.prefill.replicas",
        "endpoints.chat.kvTransfer.bufferSize",
    ]


def test_hundreds_of_mistakes_are_not_all_shown(prod: str, refusal: Refusal) -> None:
    """The wrong file should not fill the screen."""
    lines = refusal(prod + "".join(f"key{i}: 1\n" for i in range(300)))
    assert len(lines) == 21
    assert lines[-1] == "environments/prod.yaml: 280 more mistakes"


def test_values_are_shown_in_part_and_on_one_line(edited: Edit, refusal: Refusal) -> None:
    """A pasted document does not flood the message, and no control character reaches a terminal."""
    (only,) = refusal(edited("8GiB", '"' + "x\\n\\e[31m" * 1000 + '"'))
    assert len(only) < 300
    assert only.isprintable()
    (only,) = refusal(edited("vpcCidr", '"\\e[31mvpc\\nCidr"'))[:1]
    assert only.isprintable()


def test_list_items_go_by_their_names() -> None:
    """Positions are for items without a usable name."""
    data = {"a": [{"name": "x", "b": 1}, {"name": 5}, {"name": ""}, "text"]}
    assert readable(("a", 0, "b"), data) == "a.x.b"
    assert [readable(("a", i), data) for i in (1, 2, 3, 9)] == ["a.1", "a.2", "a.3", "a.9"]
    assert readable((), data) == "file"
    source = Source(name="f", data=data, places={("a",): "f:3"})
    problem = Problem(("a", 0, "b"), "given 1", "2", "write 2")
    assert line(source, problem) == "f:3: a.x.b: given 1; allowed: 2; write 2"


def test_a_group_called_name_is_no_riddle(edited: Edit, load: Load, refusal: Refusal) -> None:
    """A value that equals its key or a topology does not confuse the path."""
    text = edited("{name: prefill,", "{name: name,").replace(
        "instanceGroup: prefill", "instanceGroup: name"
    )
    assert load(text).cluster.instance_groups[0].name == "name"
    (only,) = refusal(
        text.replace("{name: name, instanceType", "{name: name, count: x, instanceType")
    )
    assert "cluster.instanceGroups.name.count: given 'x'" in only
