"""A Kubernetes API that knows pods, lists and watches them, and nothing else."""

import http.server
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Kubernetes:
    """The pods of one namespace, and what was asked about them."""

    namespace: str
    pods: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Verb and path of every request, in Kubernetes' words: list, watch, get, or an HTTP method."""
    url: str = ""

    def add_pod(self, name: str, *, labels: Mapping[str, str], address: str) -> None:
        """Let a pod be there, running and ready, before anybody asks."""
        ready = {"type": "Ready", "status": "True"}
        self.pods.append(
            {
                "metadata": {
                    "name": name,
                    "namespace": self.namespace,
                    "uid": name,
                    "resourceVersion": str(len(self.pods) + 1),
                    "labels": dict(labels),
                },
                "spec": {"containers": [{"name": "vllm"}]},
                "status": {
                    "phase": "Running",
                    "podIP": address,
                    "conditions": [ready],
                    "containerStatuses": [
                        {
                            "name": "vllm",
                            "ready": True,
                            "restartCount": 0,
                            "image": "vllm",
                            "imageID": "vllm",
                        }
                    ],
                },
            }
        )

    def selected(self, query: str) -> list[dict[str, Any]]:
        """Return the pods that a label query of `key=value` and `key in (a,b)` selects."""
        wanted = {
            key: set((values or value).split(","))
            for key, value, values in re.findall(r"([^,=\s]+)(?:=([^,]*)| in \(([^)]*)\))", query)
        }
        return [
            pod
            for pod in self.pods
            if all(pod["metadata"]["labels"].get(key) in values for key, values in wanted.items())
        ]

    def kubeconfig(self, folder: Path) -> Path:
        """Write what a client needs to find it."""
        path = folder / "kubeconfig"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.url}}],
            "users": [{"name": "test", "user": {"token": "none"}}],
        }
        path.write_text(json.dumps(config))
        return path


@contextmanager
def kubernetes(namespace: str) -> Iterator[Kubernetes]:
    """An API server that is gone afterwards."""
    state, over = Kubernetes(namespace), threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(state, over))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        over.set()
        server.shutdown()
        server.server_close()


def _handler(state: Kubernetes, over: threading.Event) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            watches = query.get("watch", "").lower() in ("true", "1")
            pods_path = f"/api/v1/namespaces/{state.namespace}/pods"
            if url.path != pods_path:
                state.asked.append(("get", url.path.rpartition("/")[0]))
                return self._one(url.path.removeprefix(f"{pods_path}/"))
            state.asked.append(("watch" if watches else "list", url.path))
            pods = state.selected(query.get("labelSelector", ""))
            if watches:
                # Without a version to start from, a watch begins with everything there is.
                return self._watch([] if query.get("resourceVersion") else pods)
            listed = {"resourceVersion": str(len(state.pods) + 1)}
            body = {"kind": "PodList", "apiVersion": "v1", "metadata": listed, "items": pods}
            return self._answer(200, body)

        def _one(self, name: str) -> None:
            for pod in state.pods:
                if pod["metadata"]["name"] == name:
                    return self._answer(200, {"kind": "Pod", "apiVersion": "v1", **pod})
            return self._answer(404, {"kind": "Status", "status": "Failure", "code": 404})

        def _watch(self, pods: list[dict[str, Any]]) -> None:
            """Tell of pods, and then of nothing more until the end."""
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for pod in pods:
                line = {"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1", **pod}}
                content = json.dumps(line).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            over.wait()

        def _answer(self, status: int, body: object) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _refuse(self) -> None:
            state.asked.append((self.command, self.path))
            self._answer(403, {"kind": "Status", "status": "Failure", "code": 403})

        do_POST = do_PUT = do_PATCH = do_DELETE = _refuse  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Handler
