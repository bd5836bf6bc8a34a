"""Engines that answer as vLLM does, without computing anything: for tests of real routers."""

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

MODEL = "Llama-3.3-70B-Instruct"
WORDS = ("one", "two", "three")
GENERATIONS = ("/v1/completions", "/v1/chat/completions")


@dataclass(frozen=True)
class Request:
    """One request for tokens, as it reached an engine."""

    engine: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def kv_transfer_params(self) -> dict[str, Any]:
        """What the request says about the transfer of KV cache."""
        return self.body.get("kv_transfer_params") or {}


@dataclass
class Engines:
    """All engines of one test, and what reached them in what order."""

    requests: list[Request] = field(default_factory=list)
    servers: dict[str, http.server.ThreadingHTTPServer] = field(default_factory=dict)
    connections: dict[str, list[socket.socket]] = field(default_factory=dict)
    gate: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, *, address: str = "127.0.0.1", port: int = 0) -> str:
        """Start an engine and return its URL."""
        server = http.server.ThreadingHTTPServer((address, port), _handler(self, name))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.servers[name], self.connections[name] = server, []
        return f"http://{address}:{server.server_address[1]}"

    def stop(self, name: str) -> None:
        """End an engine as a crash would: open connections break, its port refuses new ones."""
        server = self.servers.pop(name)
        server.shutdown()
        server.server_close()
        for connection in self.connections.pop(name):
            with suppress(OSError):  # The router may have closed it before.
                connection.shutdown(socket.SHUT_RDWR)

    def names(self) -> list[str]:
        """Return which engines got requests, in order."""
        return [request.engine for request in self.requests]


@contextmanager
def engines() -> Iterator[Engines]:
    """Engines that are gone afterwards."""
    running = Engines()
    try:
        yield running
    finally:
        for name in list(running.servers):
            running.stop(name)


def _handler(engines: Engines, name: str) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            engines.connections[name].append(self.connection)

        def do_GET(self) -> None:
            known = {
                "/health": {},
                "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model"}]},
                "/metrics": {},
            }
            self._answer(200 if self.path in known else 404, known.get(self.path, {}))

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            if self.path not in GENERATIONS:
                return self._answer(404, {})
            with engines.gate:
                engines.requests.append(Request(name, body, dict(self.headers.items())))
            if body.get("stream"):
                return self._stream()
            return self._answer(200, self._completion(body))

        def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
            answer: dict[str, Any] = {
                "id": f"from-{name}",
                "object": "text_completion",
                "model": MODEL,
                "choices": [{"index": 0, "text": " ".join(WORDS), "finish_reason": "stop"}],
            }
            if (body.get("kv_transfer_params") or {}).get("do_remote_decode"):
                answer["kv_transfer_params"] = {
                    "do_remote_prefill": True,
                    "do_remote_decode": False,
                    "remote_engine_id": f"engine-of-{name}",
                    "remote_block_ids": [1, 2, 3],
                    "remote_host": "127.0.0.1",
                    "remote_port": 5600,
                }
            return answer

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for word in WORDS:
                choice = {"index": 0, "text": word, "finish_reason": None}
                event = {"id": f"from-{name}", "model": MODEL, "choices": [choice]}
                self._chunk(f"data: {json.dumps(event)}\n\n")
            self._chunk("data: [DONE]\n\n")
            self._chunk("")

        def _chunk(self, text: str) -> None:
            content = text.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

        def _answer(self, status: int, body: object) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Handler
