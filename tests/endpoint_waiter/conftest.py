"""The function's modules, loaded as Lambda does, and an API server to ask."""

import base64
import http.server
import importlib
import json
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "constructs/dpd_constructs/assets/endpoint_waiter"
MODULES = (
    "failure",
    "deadline",
    "eks_token",
    "kubernetes",
    "endpoint_config",
    "rollout",
    "identity",
    "weights",
    "index",
)


@pytest.fixture(scope="session")
def waiter() -> Any:
    """Every module of the function, by name.

    Lambda puts the folder on sys.path. Here that lasts for the import only: `kubernetes` and
    `index` are names that other tests may want for something else. No bytecode is left behind,
    because the folder's bytes are the asset's hash.
    """
    others = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(FOLDER))
    try:
        return SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    finally:
        sys.path.remove(str(FOLDER))
        sys.dont_write_bytecode = writes
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(others)


@dataclass(frozen=True)
class Authority:
    """A certificate authority and a server certificate of its making."""

    certificate: Path
    server_certificate: Path
    server_key: Path

    @property
    def base64(self) -> str:
        """The certificate as EKS describes a cluster with it."""
        return base64.b64encode(self.certificate.read_bytes()).decode()


def _make_authority(folder: Path) -> Authority:
    """Make one like EKS's: no subject or authority key identifier anywhere."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    folder.mkdir()
    (folder / "config").write_text(
        "[req]\ndistinguished_name = name\n[name]\n"
        "[authority]\nbasicConstraints = critical, CA:TRUE\n"
        "[server]\nsubjectAltName = DNS:localhost\n"
        "subjectKeyIdentifier = none\nauthorityKeyIdentifier = none\n"
    )
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for command in (
        f"req -x509 {key} -subj /CN=kubernetes -config config -extensions authority -days 2"
        " -keyout ca.key -out ca.crt",
        f"req {key} -subj /CN=kube-apiserver -config config -keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -set_serial 2 -days 2"
        " -extfile config -extensions server -out server.crt",
    ):
        subprocess.run([openssl, *command.split()], cwd=folder, check=True, capture_output=True)
    return Authority(folder / "ca.crt", folder / "server.crt", folder / "server.key")


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The cluster's own."""
    return _make_authority(tmp_path_factory.mktemp("tls") / "cluster")


@pytest.fixture(scope="session")
def other_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One with the same name as the cluster's, and another key."""
    return _make_authority(tmp_path_factory.mktemp("tls") / "other")


@dataclass
class ApiServer:
    """A local API server: answers every GET with what the test set."""

    port: int
    status: int = 200
    content: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """URL as EKS describes a cluster with it."""
        return f"https://localhost:{self.port}"

    def answer(self, status: int, body: object = None, **headers: str) -> None:
        """Answer this from now on."""
        self.status, self.content, self.headers = status, json.dumps(body).encode(), headers


@pytest.fixture
def api_server(authority: Authority) -> Iterator[ApiServer]:
    """A server whose certificate the cluster's authority signed."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append((self.path, self.headers["Authorization"]))
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(state.content)))
            self.end_headers()
            self.wfile.write(state.content)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    server = http.server.HTTPServer(("localhost", 0), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority.server_certificate, authority.server_key)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    state = ApiServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()
