"""LMCache 0.4.3 itself reads what we give it, and every value arrives."""

import logging
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import zmq
from lmcache.v1.config import _CONFIG_DEFINITIONS, LMCacheEngineConfig

from dpd.config import Environment, SelfManagedDisaggregatedEndpoint
from dpd.workload import ports
from dpd.workload.lmcache import NOTICE_READER
from dpd.workload.variables import worker_variables
from tests.workload.conftest import VARIANTS, free_port

WITH_LMCACHE = {name: each for name, each in VARIANTS.items() if "lmcache" in name}
REQUIRED = {
    "sender": {"pd_proxy_host", "pd_proxy_port"},
    "receiver": {"pd_peer_host", "pd_peer_init_port", "pd_peer_alloc_port"},
}
ALLOWED = {
    "pd_role": {"sender", "receiver"},
    "pd_buffer_device": {"cpu", "cuda"},
    "transfer_channel": {"nixl"},
}
BOOLEANS = {"true": True, "false": False}


def load(
    variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Any:
    """Load an environment as LMCache does and refuse what it would let pass silently."""
    given = {k: v.replace("$(POD_IP)", "10.1.2.3") for k, v in variables.items()}
    settings = {k: v for k, v in given.items() if k.startswith("LMCACHE_")}
    for name in [name for name in os.environ if name.startswith("LMCACHE_")]:
        monkeypatch.delenv(name)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    names = {name.removeprefix("LMCACHE_").lower(): value for name, value in settings.items()}
    assert set(names) <= set(_CONFIG_DEFINITIONS), "unknown to LMCache, which would not say so"
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        config = LMCacheEngineConfig.from_env()
        config.validate()
    complaints = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert [line for line in complaints if "save_unfull_chunk" not in line] == []
    for name, text in names.items():
        assert _means(getattr(config, name), text), f"{name}: {text!r} was read as something else"
    for name, allowed in ALLOWED.items():
        assert getattr(config, name) in allowed, name
    missing = {name for name in REQUIRED[config.pd_role] if not getattr(config, name)}
    assert not missing
    return config


def _means(value: Any, text: str) -> bool:
    """Whether LMCache's value is what a person would read in the text."""
    if isinstance(value, bool):
        return BOOLEANS.get(text.lower()) is value
    if isinstance(value, list):
        return [str(item) for item in value] == text.split(",")
    return value is not None and str(value) == text


@pytest.fixture(autouse=True)
def _lmcache_logs_here(caplog: pytest.LogCaptureFixture) -> Any:
    """LMCache's loggers keep their records to themselves."""
    loggers = [logging.getLogger(n) for n in logging.root.manager.loggerDict if "lmcache" in n]
    for logger in loggers:
        logger.addHandler(caplog.handler)
    yield
    for logger in loggers:
        logger.removeHandler(caplog.handler)


def _endpoint(environment: Environment) -> SelfManagedDisaggregatedEndpoint:
    (endpoint,) = environment.endpoints
    assert isinstance(endpoint, SelfManagedDisaggregatedEndpoint)
    return endpoint


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize("variant", WITH_LMCACHE.values(), ids=WITH_LMCACHE)
def test_every_environment_loads(
    variant: Environment,
    role: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As a sender for prefill and a receiver for decode, with a port for each rank."""
    endpoint = _endpoint(variant)
    config = load(worker_variables(endpoint, role), monkeypatch, caplog)
    assert config.enable_pd
    assert config.pd_role == {"prefill": "sender", "decode": "receiver"}[role]
    assert config.pd_buffer_size == 8 * 2**30
    if role == "decode":
        first, second = config.pd_peer_init_port, config.pd_peer_alloc_port
        assert len(first) == len(second) == endpoint.tensor_parallel_size
        used = {*first, *second, ports.HTTP, ports.LMCACHE_NOTICES, ports.NIXL_SIDE_CHANNEL}
        assert len(used) == 2 * endpoint.tensor_parallel_size + 3


@pytest.mark.parametrize(
    "fault",
    [
        {"LMCACHE_PD_BUFFR_SIZE": "1"},
        {"LMCACHE_PD_BUFFER_SIZE": "8GiB"},
        {"LMCACHE_PD_BUFFER_SIZE": None},
        {"LMCACHE_PD_ROLE": "receivr"},
        {"LMCACHE_PD_ROLE": None},
        {"LMCACHE_ENABLE_PD": "maybe"},
        {"LMCACHE_TRANSFER_CHANNEL": "foo"},
        {"LMCACHE_TRANSFER_CHANNEL": None},
        {"LMCACHE_CHUNK_SIZE": "abc"},
        {"LMCACHE_PD_PEER_INIT_PORT": "7300,x"},
        {"LMCACHE_PD_PEER_ALLOC_PORT": None},
        {"LMCACHE_PD_PEER_HOST": None},
        {"LMCACHE_PD_BUFFER_DEVICE": "gpu"},
    ],
    ids=str,
)
def test_faults_do_not_pass(
    fault: dict[str, str | None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What LMCache ignores, guesses or turns into nothing is a failure here."""
    variables = worker_variables(_endpoint(next(iter(WITH_LMCACHE.values()))), "decode")
    changed: dict[str, str | None] = {**variables, **fault}
    kept = {name: value for name, value in changed.items() if value is not None}
    with pytest.raises((AssertionError, KeyError, ValueError)):
        load(kept, monkeypatch, caplog)


def test_a_sender_without_a_proxy_does_not_pass(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """0.4.3 asserts it when the worker starts, which is an hour of GPU later."""
    variables = worker_variables(_endpoint(next(iter(WITH_LMCACHE.values()))), "prefill")
    load(variables, monkeypatch, caplog)
    del variables["LMCACHE_PD_PROXY_PORT"]
    with pytest.raises(AssertionError):
        load(variables, monkeypatch, caplog)


def test_roles_agree_on_what_makes_a_key() -> None:
    """Chunk size, hash seed and channel: unequal, decode finds nothing and says nothing."""
    for variant in WITH_LMCACHE.values():
        both = [worker_variables(_endpoint(variant), role) for role in ("prefill", "decode")]
        for name in ("LMCACHE_CHUNK_SIZE", "PYTHONHASHSEED", "LMCACHE_NIXL_BACKENDS"):
            assert both[0][name] == both[1][name] != ""


def test_notices_are_read_for_ever() -> None:
    """More of them than ZeroMQ would keep for nobody; and the program ends when it is told to."""
    port = free_port()
    program = NOTICE_READER.replace(str(ports.LMCACHE_NOTICES), str(port))
    assert program != NOTICE_READER
    reader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading notices\n"
        with zmq.Context() as context, context.socket(zmq.PUSH) as sender:
            sender.setsockopt(zmq.SNDTIMEO, 10_000)
            sender.setsockopt(zmq.LINGER, 0)
            sender.connect(f"tcp://127.0.0.1:{port}")
            for _ in range(5_000):
                sender.send(b"notice")
        reader.terminate()
        assert reader.wait(30) == 0
    finally:
        reader.kill()
        reader.communicate()
