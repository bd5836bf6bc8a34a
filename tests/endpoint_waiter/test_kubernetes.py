"""Against a real HTTPS server on this machine."""

import base64
import logging
import socket
import traceback
from typing import Any

import pytest

from tests.endpoint_waiter.conftest import ApiServer, Authority

TOKEN = "k8s-aws-v1.c2VjcmV0"
PATH = "/apis/x/v1/namespaces/a/b/c"


def _api(waiter: Any, endpoint: str, authority: Authority, **options: Any) -> Any:
    return waiter.kubernetes.KubernetesApi(
        endpoint, certificate_authority=authority.base64, token=lambda: TOKEN, **options
    )


def test_server_of_the_cluster_is_asked(
    waiter: Any, api_server: ApiServer, authority: Authority
) -> None:
    """With the token, at the path, and the object comes back."""
    api_server.answer(200, {"kind": "X"})
    answer = _api(waiter, api_server.endpoint, authority).get(PATH)
    assert (answer.status, answer.body) == (200, {"kind": "X"})
    assert api_server.requests == [(PATH, f"Bearer {TOKEN}")]


def test_server_of_another_authority_gets_no_token(
    waiter: Any, api_server: ApiServer, other_authority: Authority
) -> None:
    """No retry mends this, and the token never left."""
    with pytest.raises(waiter.failure.Failure, match="does not prove to be the cluster's"):
        _api(waiter, api_server.endpoint, other_authority).get(PATH)
    assert api_server.requests == []


def test_server_of_another_name_gets_no_token(
    waiter: Any, api_server: ApiServer, authority: Authority
) -> None:
    """The right authority does not excuse the wrong host."""
    endpoint = f"https://127.0.0.1:{api_server.port}"
    with pytest.raises(waiter.failure.Failure, match="does not prove to be the cluster's"):
        _api(waiter, endpoint, authority).get(PATH)
    assert api_server.requests == []


def test_only_the_given_authority_is_trusted(waiter: Any, authority: Authority) -> None:
    """None of the public ones, and never without a certificate and a name."""
    context = _api(waiter, "https://localhost", authority)._tls
    assert context.cert_store_stats() == {"x509": 1, "crl": 0, "x509_ca": 1}
    assert context.verify_mode.name == "CERT_REQUIRED"
    assert context.check_hostname


def test_each_request_gets_a_new_token(
    waiter: Any, api_server: ApiServer, authority: Authority
) -> None:
    """Lambda keeps a process longer than a token lasts."""
    tokens = iter(["first", "second"])
    api = waiter.kubernetes.KubernetesApi(
        api_server.endpoint,
        certificate_authority=authority.base64,
        token=lambda: next(tokens),
    )
    api.get(PATH)
    api.get(PATH)
    assert [header for _, header in api_server.requests] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("status", [403, 404])
def test_refusal_and_absence_are_answers(
    waiter: Any, api_server: ApiServer, authority: Authority, status: int
) -> None:
    """What they mean depends on who asks."""
    api_server.answer(status, {"message": "Status"})
    assert _api(waiter, api_server.endpoint, authority).get(PATH).status == status


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_busy_server_is_asked_again(
    waiter: Any, api_server: ApiServer, authority: Authority, status: int
) -> None:
    """The control plane restarts now and then."""
    api_server.answer(status)
    with pytest.raises(waiter.kubernetes.Unavailable, match=str(status)):
        _api(waiter, api_server.endpoint, authority).get(PATH)


@pytest.mark.parametrize("content", [b"", b"<html>", b"[1]", b'{"kind": '])
def test_nonsense_is_asked_again(
    waiter: Any, api_server: ApiServer, authority: Authority, content: bytes
) -> None:
    """A body that breaks off is no verdict."""
    api_server.content = content
    with pytest.raises(waiter.kubernetes.Unavailable):
        _api(waiter, api_server.endpoint, authority).get(PATH)


def test_unknown_role_fails(waiter: Any, api_server: ApiServer, authority: Authority) -> None:
    """The line says what the cluster lacks."""
    api_server.answer(401)
    with pytest.raises(waiter.failure.Failure, match="access entry"):
        _api(waiter, api_server.endpoint, authority).get(PATH)


def test_redirect_is_not_followed(waiter: Any, api_server: ApiServer, authority: Authority) -> None:
    """The token is for nobody else."""
    api_server.answer(302, None, Location=f"{api_server.endpoint}/elsewhere")
    with pytest.raises(waiter.failure.Failure, match="302"):
        _api(waiter, api_server.endpoint, authority).get(PATH)
    assert len(api_server.requests) == 1


def test_closed_port_is_asked_again(waiter: Any, authority: Authority) -> None:
    """Connection refused."""
    with socket.create_server(("localhost", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(waiter.kubernetes.Unavailable, match="ConnectionRefusedError"):
        _api(waiter, f"https://localhost:{port}", authority).get(PATH)


def test_silent_server_is_asked_again(waiter: Any, authority: Authority) -> None:
    """It accepts the connection and says nothing."""
    with socket.create_server(("localhost", 0)) as silent:
        endpoint = f"https://localhost:{silent.getsockname()[1]}"
        with pytest.raises(waiter.kubernetes.Unavailable, match="TimeoutError"):
            _api(waiter, endpoint, authority, timeout_seconds=0.05).get(PATH)


@pytest.mark.parametrize("endpoint", ["http://localhost", "localhost:443", ""])
def test_endpoint_without_tls_is_refused(waiter: Any, authority: Authority, endpoint: str) -> None:
    """Before any token is made."""
    with pytest.raises(waiter.failure.Failure, match="https://"):
        _api(waiter, endpoint, authority)


@pytest.mark.parametrize("text", ["", "####", "Tm8gY2VydGlmaWNhdGU=", "////"])
def test_unreadable_authority_is_refused(waiter: Any, text: str) -> None:
    """Least of all may nothing at all mean every public authority."""
    with pytest.raises(waiter.failure.Failure, match="CLUSTER_CERTIFICATE_AUTHORITY"):
        waiter.kubernetes.KubernetesApi(
            "https://localhost", certificate_authority=text, token=lambda: TOKEN
        )


@pytest.mark.parametrize("status", [200, 302, 401, 403, 404, 429, 500])
def test_token_is_in_no_log_and_no_error(
    waiter: Any,
    api_server: ApiServer,
    authority: Authority,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    status: int,
) -> None:
    """Whatever the server answers."""
    caplog.set_level(logging.DEBUG)
    api_server.answer(status, {})
    written = ""
    try:
        _api(waiter, api_server.endpoint, authority).get(PATH)
    except (waiter.failure.Failure, waiter.kubernetes.Unavailable):
        written = traceback.format_exc()
    out, err = capfd.readouterr()
    assert api_server.requests
    assert TOKEN not in written + caplog.text + out + err


def test_test_certificates_are_like_those_of_eks(authority: Authority) -> None:
    """Without key identifiers, which Python 3.13 demands unless told otherwise."""
    pem = authority.server_certificate.read_text()
    der = base64.b64decode("".join(pem.splitlines()[1:-1]))
    subject_key, authority_key = bytes.fromhex("0603551d0e"), bytes.fromhex("0603551d23")
    assert subject_key not in der
    assert authority_key not in der
