"""A real router, started with the arguments that its container would get."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.workload.stand_in_engine import MODEL

PATIENCE_SECONDS = 60.0
"""A bound for a broken program only; nothing is measured."""


@dataclass(frozen=True)
class Answer:
    """What a client got."""

    status: int
    text: str

    @property
    def events(self) -> list[Any]:
        """Return the events of a stream, less its end."""
        lines = [line for line in self.text.splitlines() if line.startswith("data: {")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]


@dataclass(frozen=True)
class RouterProcess:
    """A running router."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def get(self, path: str) -> Answer:
        """Ask for a page."""
        return _fetch(urllib.request.Request(self.url + path))

    def complete(self, *, headers: Mapping[str, str] | None = None, **body: Any) -> Answer:
        """Ask for a completion, as a client does."""
        data = {"model": MODEL, "prompt": "Hello, world", "max_tokens": 8, **body}
        headers = {"Content-Type": "application/json", **(headers or {})}
        url = f"{self.url}/v1/completions"
        return _fetch(urllib.request.Request(url, json.dumps(data).encode(), headers))


def _fetch(request: urllib.request.Request) -> Answer:
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            return Answer(response.status, response.read().decode())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read().decode())


@contextmanager
def running(
    command: Sequence[str], *, port: int, log: Path, variables: Mapping[str, str] | None = None
) -> Iterator[RouterProcess]:
    """Start a router; the block runs once it listens."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(variables or {})}
        )
        router = RouterProcess(f"http://127.0.0.1:{port}", log, process)
        try:
            wait_until(lambda: _listens(router), router)
            yield router
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until(condition: Callable[[], bool], router: RouterProcess) -> None:
    """Wait for something that a router does by itself; its log is in the failure."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        ended = router.process.poll() is not None
        if ended or time.monotonic() > end:
            raise AssertionError(
                f"router {'ended' if ended else 'waits'}: {router.log.read_text()}"
            )
        time.sleep(0.05)


def _listens(router: RouterProcess) -> bool:
    try:
        router.get("/health")
    except (urllib.error.URLError, ConnectionError):
        return False
    return True
