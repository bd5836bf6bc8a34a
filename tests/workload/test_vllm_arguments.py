"""Every argument list is one that vLLM takes, and says what the endpoint says."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import dpd.catalog
from dpd.config import Environment, SelfManagedDisaggregatedEndpoint, SelfManagedEndpoint
from dpd.config.self_managed_consistency import OWNED_FLAGS
from dpd.workload.vllm_arguments import MODEL_PATH, vllm_arguments
from tests.workload.conftest import build, colocated, every_variant

FLAG_TABLE = Path(dpd.catalog.__file__).with_name("vllm_flags.json")


@pytest.fixture(scope="session")
def flags() -> dict[str, Any]:
    """The flags of vLLM 0.19.0 by name."""
    if not FLAG_TABLE.is_file():
        pytest.skip("the flag table dpd/catalog/vllm_flags.json is not here")
    table: dict[str, Any] = json.loads(FLAG_TABLE.read_text())["flags"]
    return table


def argument_lists(environment: Environment) -> dict[str, list[str]]:
    """The arguments of the only endpoint's workers by role."""
    (endpoint,) = environment.endpoints
    assert endpoint.runtime == "self-managed"
    return {role: vllm_arguments(environment, endpoint, role) for role in endpoint.roles}


def options(arguments: list[str]) -> dict[str, list[str]]:
    """The values behind each flag; every flag is there once."""
    assert arguments[0] == MODEL_PATH
    found: dict[str, list[str]] = {}
    for word in arguments[1:]:
        if word.startswith("--"):
            assert word not in found
            found[word] = []
        else:
            list(found.values())[-1].append(word)
    return found


@every_variant()
def test_the_flag_table_knows_all(variant: Environment, flags: dict[str, Any]) -> None:
    """Name, number of values, choices and kind of number."""
    for arguments in argument_lists(variant).values():
        for word, values in options(arguments).items():
            name = word.removeprefix("--")
            flag = flags.get(name) or flags[name.removeprefix("no-")]
            takes_nothing = flag["takes"] in ("nothing", "negatable")
            assert len(values) == (0 if takes_nothing else 1), word
            if "choices" in flag:
                assert set(values) <= set(flag["choices"]), word
            if flag.get("type") == "whole number":
                assert values[0].isdecimal(), word
            if flag.get("type") == "JSON":
                json.loads(values[0])


def test_a_fault_would_be_found(flags: dict[str, Any]) -> None:
    """The table does not hold everything."""
    words = argument_lists(build(args=["--tensor-paralel-size", "8"]))["prefill"]
    assert {name.removeprefix("--") for name in options(words)} - flags.keys() == {
        "tensor-paralel-size"
    }


@every_variant()
def test_roles_agree_on_what_they_exchange(variant: Environment) -> None:
    """Unequal values of these mean no transfer, or a handshake that fails."""
    lists = [options(arguments) for arguments in argument_lists(variant).values()]
    for flag in ("--tensor-parallel-size", "--dtype", "--max-model-len", "--block-size", "--port"):
        assert len({str(each.get(flag)) for each in lists}) == 1


@every_variant()
def test_connector_and_roles(variant: Environment) -> None:
    """NIXL over LIBFABRIC on both sides, or LMCache from producer to consumer."""
    (endpoint,) = variant.endpoints
    configs = {
        role: json.loads(value[0]) if (value := options(words).get("--kv-transfer-config")) else {}
        for role, words in argument_lists(variant).items()
    }
    if not isinstance(endpoint, SelfManagedDisaggregatedEndpoint):
        assert configs == {"workers": {}}
        return
    roles = {role: config["kv_role"] for role, config in configs.items()}
    extra = [config["kv_connector_extra_config"] for config in configs.values()]
    if endpoint.kv_transfer.connector == "nixl":
        assert set(roles.values()) == {"kv_both"}
        assert all(config["backends"] == ["LIBFABRIC"] for config in extra)
    else:
        assert roles == {"prefill": "kv_producer", "decode": "kv_consumer"}
        assert all(config["discard_partial_chunks"] is False for config in extra)


def test_arguments_of_a_role_win() -> None:
    """Over the endpoint's, which win over ours; each flag stays once, in either spelling."""
    environment = build(
        args=["--max-num-seqs=64", "--no-enforce-eager", "--seed", "7", "-cc", "{}"],
        decode={"instanceGroup": "decode", "args": ["--seed", "9", "--block_size", "64"]},
    )
    prefill, decode = argument_lists(environment).values()
    assert [word for word in prefill if "seqs" in word] == ["--max-num-seqs=64"]
    assert [word for word in prefill if "eager" in word] == ["--no-enforce-eager"]
    assert ("--seed", "7") in pairwise(prefill)
    assert ("--seed", "9") in pairwise(decode)
    assert "7" not in decode
    assert [word for word in decode if "block" in word] == ["--block_size"]
    assert ("-cc", "{}") in pairwise(prefill)


def test_negative_values_are_no_flags() -> None:
    """A number below zero belongs to the flag before it."""
    (arguments,) = argument_lists(colocated(args=["--seed", "-1"])).values()
    assert arguments[-2:] == ["--seed", "-1"]


def test_flags_that_are_ours_alone_are_all_set() -> None:
    """What a person may not set is set here, in one of its spellings."""
    endpoint: SelfManagedEndpoint = build().endpoints[0]
    words = set(vllm_arguments(build(), endpoint, "decode"))
    assert OWNED_FLAGS - words == {"--model", "-tp"}
