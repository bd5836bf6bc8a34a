"""The real vllm-router 0.1.17 with the arguments of its container, in front of stand-in engines."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dpd.catalog import routers
from dpd.config import SelfManagedEndpoint
from dpd.workload import ports
from dpd.workload.router_arguments import router_arguments
from tests.workload.conftest import build, colocated, free_port
from tests.workload.pods import Pods, needs_loopback, pods
from tests.workload.router_process import RouterProcess, running, wait_until
from tests.workload.rust_router import command, with_addresses
from tests.workload.stand_in_engine import WORDS, Engines, engines


def endpoint(**routing: Any) -> SelfManagedEndpoint:
    """A disaggregated endpoint behind this router."""
    choice = {"router": "vllm-router", "image": "registry/router:1", **routing}
    return build(routing=choice).endpoints[0]


Start = Callable[..., AbstractContextManager[tuple[RouterProcess, Engines]]]


@pytest.fixture
def by_address(tmp_path: Path) -> Start:
    """A router that is told the addresses of its engines."""

    @contextmanager
    def start(
        prefill: int = 2, decode: int = 1, **routing: Any
    ) -> Iterator[tuple[RouterProcess, Engines]]:
        arguments = router_arguments(endpoint(**routing))
        with engines() as started:
            arguments = with_addresses(
                arguments,
                [started.add(f"prefill-{index}") for index in range(prefill)],
                [started.add(f"decode-{index}") for index in range(decode)],
            )
            # How often it looks for engines that start is no option of ours; here they are there.
            arguments += ["--worker-startup-check-interval", "1"]
            port, metrics = free_port(), free_port()
            words = command(arguments, port=port, prometheus_port=metrics)
            with running(words, port=port, log=tmp_path / "router.log") as router:
                yield router, started

    return start


def test_prefill_first_decode_second(by_address: Start) -> None:
    """Prefill computes one token for a remote decode, and what it answers goes to decode."""
    with by_address(prefill=1) as (router, started):
        answer = router.complete(max_tokens=8)
        assert answer.status == 200
        assert '"id": "from-decode-0"' in answer.text
        prefill, decode = started.requests
    assert (prefill.engine, decode.engine) == ("prefill-0", "decode-0")
    assert prefill.body["max_tokens"] == 1
    assert prefill.kv_transfer_params["do_remote_decode"] is True
    assert decode.body["max_tokens"] == 8
    assert decode.kv_transfer_params["do_remote_prefill"] is True
    assert decode.kv_transfer_params["remote_engine_id"] == "engine-of-prefill-0"
    assert decode.kv_transfer_params["remote_block_ids"] == [1, 2, 3]


def test_prefill_workers_take_turns(by_address: Start) -> None:
    """Each gets every second prompt."""
    with by_address(prefill=2) as (router, started):
        assert [router.complete().status for _ in range(6)] == [200] * 6
        prefill = [name for name in started.names() if name.startswith("prefill")]
    assert prefill in (["prefill-0", "prefill-1"] * 3, ["prefill-1", "prefill-0"] * 3)


def test_streams_arrive_whole(by_address: Start) -> None:
    """Word by word, from decode, with its end."""
    with by_address() as (router, started):
        answer = router.complete(stream=True)
        assert [request.body.get("stream") for request in started.requests] == [False, True]
    assert tuple(event["choices"][0]["text"] for event in answer.events) == WORDS
    assert {event["id"] for event in answer.events} == {"from-decode-0"}
    assert answer.text.rstrip().endswith("data: [DONE]")


def test_a_dead_prefill_worker_is_survived(by_address: Start) -> None:
    """It is found by health checks; from then on the others take all prompts."""
    with by_address() as (router, started):
        assert router.complete().status == 200
        started.stop("prefill-0")
        wait_until(lambda: [router.complete().status for _ in range(4)] == [200] * 4, router)
        started.requests.clear()
        assert [router.complete().status for _ in range(6)] == [200] * 6
        assert set(started.names()) == {"prefill-1", "decode-0"}


def test_one_dead_worker_does_not_end_the_router(by_address: Start) -> None:
    """What its probes ask keeps answering; /health, which they do not ask, does not."""
    with by_address() as (router, started):
        started.stop("prefill-0")
        wait_until(lambda: router.get("/health").status == 503, router)
        liveness, readiness = routers()["vllm-router"].liveness, routers()["vllm-router"].readiness
        assert router.get(liveness).status == router.get(readiness).status == 200
        started.stop("decode-0")
        wait_until(lambda: router.get(readiness).status == 503, router)
        assert router.get(liveness).status == 200


def test_a_session_stays_with_its_workers(by_address: Start) -> None:
    """Strategy session: the header decides, and different sessions use different workers."""
    with by_address(prefill=2, decode=2, strategy="session") as (router, started):
        pairs = set()
        for session in map(str, range(16)):
            started.requests.clear()
            for _ in range(3):
                assert router.complete(headers={"X-Session-ID": session}).status == 200
            names = started.names()
            assert names == names[:2] * 3
            pairs.add(tuple(names[:2]))
        assert len(pairs) > 1


def test_a_prefix_stays_with_its_workers(by_address: Start) -> None:
    """Strategy prefixaware: a prompt that begins like an earlier one goes where that one went."""
    with by_address(prefill=2, decode=2, strategy="prefixaware") as (router, started):
        beginning = "In the beginning there was a long prompt. " * 50
        for index in range(4):
            assert router.complete(prompt=f"{beginning}{index}").status == 200
        prefill = {name for name in started.names() if name.startswith("prefill")}
    assert len(prefill) == 1


@contextmanager
def discovered(
    given: SelfManagedEndpoint, counts: dict[str, int], log: Path
) -> Iterator[tuple[RouterProcess, Pods]]:
    """A router that finds its engines by the labels of our pods, as it does in the cluster."""
    port = free_port()
    with pods(given, counts) as found:
        words = command(
            router_arguments(given),
            port=port,
            prometheus_port=free_port(),
            service_discovery_port=found.port,
        )
        variables = {"KUBECONFIG": str(found.api.kubeconfig(log.parent))}
        with running(words, port=port, log=log, variables=variables) as router:
            yield router, found


@needs_loopback
def test_workers_are_found_by_our_labels(tmp_path: Path) -> None:
    """Both roles, no router and no other endpoint's pods; it needs to list and watch pods only."""
    given = endpoint()
    all_there = '"prefill":{"healthy":2,"total":2},"decode":{"healthy":2,"total":2}'
    with discovered(given, {"prefill": 2, "decode": 2}, tmp_path / "log") as (router, found):
        wait_until(lambda: all_there in router.get("/readiness").text, router)
        assert [router.complete().status for _ in range(8)] == [200] * 8
        names = found.engines.names()
        path = f"/api/v1/namespaces/{given.resolved_namespace}/pods"
        verbs = routers()["vllm-router"].pod_verbs
        assert set(found.api.asked) == {(verb, path) for verb in verbs}
    assert {name.rpartition("-")[0] for name in names[::2]} == {"prefill"}
    assert {name.rpartition("-")[0] for name in names[1::2]} == {"decode"}
    assert {"prefill-0", "prefill-1", "decode-0", "decode-1"} == set(names)


@needs_loopback
def test_colocated_workers_are_found_too(tmp_path: Path) -> None:
    """One request each, and nothing about transfer in it."""
    routing = {"router": "vllm-router", "image": "registry/router:1"}
    (given,) = colocated(routing=routing).endpoints
    with discovered(given, {"workers": 2}, tmp_path / "log") as (router, found):
        started = found.engines

        def both_serve() -> bool:
            return router.complete().status == 200 and len(set(started.names())) == 2

        wait_until(both_serve, router)
        assert all(not request.kv_transfer_params for request in started.requests)
        assert all(name.startswith("workers-") for name in started.names())


@needs_loopback
def test_a_router_lives_before_its_workers(tmp_path: Path) -> None:
    """It waits for minutes while they load; its liveness must not fail meanwhile."""
    with discovered(endpoint(), {}, tmp_path / "log") as (router, _):
        assert router.get(routers()["vllm-router"].liveness).status == 200
        assert router.get(routers()["vllm-router"].readiness).status == 503


def test_metrics_are_where_the_service_says(by_address: Start, tmp_path: Path) -> None:
    """On all addresses of the pod, not on localhost only as by default."""
    arguments = router_arguments(endpoint())
    where = dict(pairwise(arguments))
    assert where["--prometheus-host"] == "0.0.0.0"
    assert where["--prometheus-port"] == str(ports.ROUTER_METRICS)
    with by_address() as (router, _):
        assert router.complete().status == 200
        port = router.process.args[router.process.args.index("--prometheus-port") + 1]
        text = RouterProcess(f"http://127.0.0.1:{port}", router.log, router.process).get("/metrics")
    assert "vllm_router_pd_requests_total" in text.text


def test_a_wrong_argument_would_end_it(tmp_path: Path) -> None:
    """So a router that runs has understood every one of ours."""
    words = [*router_arguments(endpoint()), "--kv-conector", "nixl"]
    started = running(command(words), port=free_port(), log=tmp_path / "log")
    with pytest.raises(AssertionError, match="unrecognized arguments"), started:
        pass
