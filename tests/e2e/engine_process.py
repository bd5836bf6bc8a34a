"""A real vLLM engine on this CPU, started with a worker's own arguments as far as a CPU can."""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpd.config import Environment
from dpd.workload.variables import worker_variables
from dpd.workload.vllm_arguments import vllm_arguments
from tests.e2e.adaptations import adapted_arguments, adapted_variables, arguments, variables
from tests.workload.conftest import free_port

START_SECONDS = 400.0
"""A bound for an engine that will never start; a slow machine takes a quarter of it."""


@dataclass(frozen=True)
class Engine:
    """A running engine."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def is_healthy(self) -> bool:
        """Whether it answers; its log is in the failure if it has ended."""
        if self.process.poll() is not None:
            raise AssertionError(f"engine ended: {self.log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def counter(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as response:
            text = response.read().decode()
        values = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", text, flags=re.MULTILINE)
        assert values, f"no metric {name}"
        return sum(map(float, values))


@contextmanager
def engine(
    python: str, environment: Environment, role: str, *, model: Path, folder: Path
) -> Iterator[Engine]:
    """Start the worker of a role; it need not answer yet."""
    (endpoint,) = environment.endpoints
    port, side_channel = free_port(), free_port()
    words = adapted_arguments(
        vllm_arguments(environment, endpoint, role), arguments(str(model), port)
    )
    scratch = folder / f"{role}-scratch"
    scratch.mkdir()
    values = adapted_variables(
        worker_variables(endpoint, role), variables(side_channel, str(scratch))
    )
    log = folder / f"{role}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "vllm.entrypoints.cli.main", "serve", *words],
            env={**os.environ, **values},
            stdout=output,
            stderr=output,
        )
        try:
            yield Engine(f"http://127.0.0.1:{port}", log, process)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(*engines: Engine) -> None:
    """Wait until all of them answer."""
    end = time.monotonic() + START_SECONDS
    while not all(each.is_healthy() for each in engines):
        if time.monotonic() > end:
            logs = "\n".join(each.log.read_text()[-2000:] for each in engines)
            raise AssertionError(f"engines do not answer: {logs}")
        time.sleep(1)


def complete(url: str, model: str, prompt: str, *, tokens: int = 8) -> Any:
    """Return the completion's tokens, prompt size and log-probabilities."""
    body = {
        "model": model, "prompt": prompt, "max_tokens": tokens, "temperature": 0, "logprobs": 5,
        "ignore_eos": True,
    }  # fmt: skip
    request = urllib.request.Request(
        f"{url}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)
