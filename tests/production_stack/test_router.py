r"""Production Stack's real router with the arguments of its container: opt-in.

It is in no registry under a name of its own, so a checkout of it and a Python with its
requirements are asked for:

    DPD_PRODUCTION_STACK=checkout/src DPD_PRODUCTION_STACK_PYTHON=venv/bin/python \
        python -m pytest tests/production_stack
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpd.catalog import routers
from dpd.config import SelfManagedEndpoint
from dpd.workload.router_arguments import router_arguments
from tests.workload.conftest import build, colocated, free_port
from tests.workload.pods import Pods, needs_loopback, pods
from tests.workload.router_process import RouterProcess, running, wait_until
from tests.workload.rust_router import with_ports
from tests.workload.stand_in_engine import WORDS

pytestmark = [
    needs_loopback,
    pytest.mark.skipif(
        "DPD_PRODUCTION_STACK" not in os.environ,
        reason="DPD_PRODUCTION_STACK names no checkout of vllm-project/production-stack",
    ),
]
ROUTER = routers()["production-stack"]


@contextmanager
def discovered(
    given: SelfManagedEndpoint, counts: dict[str, int], log: Path
) -> Iterator[tuple[RouterProcess, Pods]]:
    """The router in front of pods; of its arguments only ports are changed."""
    port = free_port()
    with pods(given, counts) as found:
        words = with_ports(router_arguments(given), port=port, k8s_port=found.port)
        program = os.environ["DPD_PRODUCTION_STACK_PYTHON"]
        variables = {
            "KUBECONFIG": str(found.api.kubeconfig(log.parent)),
            "PYTHONPATH": os.environ["DPD_PRODUCTION_STACK"],
        }
        start = [program, "-m", "vllm_router.app", *words]
        with running(start, port=port, log=log, variables=variables) as router:
            wait_until(lambda: router.get(ROUTER.readiness).status == 200, router)
            wait_until(lambda: router.complete().status == 200, router)
            yield router, found


def test_prefill_first_decode_second(tmp_path: Path) -> None:
    """By turns over prefill workers; KV parameters are handed on; no other pod is asked."""
    (given,) = build().endpoints
    with discovered(given, {"prefill": 2, "decode": 1}, tmp_path / "log") as (router, found):
        started = found.engines

        def both_prefill() -> bool:
            return router.complete().status == 200 and {"prefill-0", "prefill-1"} < {
                *started.names()
            }

        wait_until(both_prefill, router)
        started.requests.clear()
        assert [router.complete().status for _ in range(6)] == [200] * 6
        names = started.names()
        prefill, decode = started.requests[:2]
        assert {verb for verb, _ in found.api.asked} <= set(ROUTER.pod_verbs)
    assert names[1::2] == ["decode-0"] * 6
    assert sorted(names[::2]) == ["prefill-0"] * 3 + ["prefill-1"] * 3
    assert prefill.kv_transfer_params["do_remote_decode"] is True
    assert decode.kv_transfer_params["remote_block_ids"] == [1, 2, 3]
    assert decode.kv_transfer_params["remote_engine_id"] == f"engine-of-{prefill.engine}"


def test_streams_arrive_whole(tmp_path: Path) -> None:
    """Word by word, with their end."""
    (given,) = build().endpoints
    with discovered(given, {"prefill": 1, "decode": 1}, tmp_path / "log") as (router, _):
        answer = router.complete(stream=True)
    assert tuple(event["choices"][0]["text"] for event in answer.events) == WORDS
    assert answer.text.rstrip().endswith("data: [DONE]")


def test_a_session_stays_with_its_worker(tmp_path: Path) -> None:
    """Of colocated workers: the header that the endpoint names decides."""
    routing = {"router": "production-stack", "strategy": "session", "sessionHeader": "X-User"}
    (given,) = colocated(routing=routing).endpoints
    with discovered(given, {"workers": 2}, tmp_path / "log") as (router, found):
        workers = set()
        for user in map(str, range(12)):
            found.engines.requests.clear()
            for _ in range(3):
                assert router.complete(headers={"X-User": user}).status == 200
            (worker,) = set(found.engines.names())
            workers.add(worker)
    assert workers == {"workers-0", "workers-1"}
