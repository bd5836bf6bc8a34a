"""One verified HTTPS GET at a time from the cluster's API server."""

import base64
import http.client
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from failure import Failure, NotYet

_TIMEOUT_SECONDS = 10.0


class Unavailable(NotYet):
    """The API server cannot answer at the moment; asking again later may help."""


@dataclass(frozen=True)
class Answer:
    """Status and, where it is 200, the object that was asked for."""

    status: int
    body: Mapping[str, Any]


class KubernetesApi:
    """The API server of one cluster."""

    def __init__(
        self,
        endpoint: str,
        *,
        certificate_authority: str,
        token: Callable[[], str],
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        """Remember how to reach it; nothing is sent yet.

        Args:
            endpoint: `https://...` as EKS describes the cluster.
            certificate_authority: Base64 of the PEM file, likewise.
            token: Makes a bearer token; called for every request, because tokens expire.
            timeout_seconds: For connecting, and for each wait for data.

        Raises:
            Failure: The endpoint is not HTTPS or the certificate cannot be read.
        """
        url = urlsplit(endpoint)
        if url.scheme != "https" or not url.hostname:
            raise Failure(f"CLUSTER_ENDPOINT is {endpoint!r}", remedy="it must be an https:// URL")
        self._host, self._port = url.hostname, url.port
        self._tls = _trust_only(certificate_authority)
        self._token = token
        self._timeout_seconds = timeout_seconds

    def get(self, path: str) -> Answer:
        """Read one object; 200, 403 and 404 are answers.

        Raises:
            Unavailable: No connection, 429 or 5xx.
            Failure: The server is not the cluster's, does not know us, or answers nonsense.
        """
        # http.client, because urllib would follow a redirect and hand the token on.
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout_seconds, context=self._tls
        )
        try:
            connection.request("GET", path, headers=self._headers())
            response = connection.getresponse()
            status, content = response.status, response.read()
        except ssl.SSLCertVerificationError as error:
            raise Failure(
                f"{self._host} does not prove to be the cluster's API server: "
                f"{error.verify_message}",
                remedy="check CLUSTER_ENDPOINT and CLUSTER_CERTIFICATE_AUTHORITY",
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"no answer from {self._host}: {type(error).__name__}") from None
        finally:
            connection.close()
        return _judge(status, content)

    def _headers(self) -> dict[str, str]:
        return {"Accept": "application/json", "Authorization": f"Bearer {self._token()}"}


def _trust_only(certificate_authority: str) -> ssl.SSLContext:
    """Return a context that accepts servers of this authority and no other."""
    # Not create_default_context: without any certificate it trusts every public authority, and
    # from Python 3.13 it demands an authority key identifier, which EKS's certificates lack.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        pem = base64.b64decode(certificate_authority, validate=True).decode("ascii")
        context.load_verify_locations(cadata=pem)
    except (ValueError, ssl.SSLError):
        raise Failure(
            "CLUSTER_CERTIFICATE_AUTHORITY holds no certificate",
            remedy="it must be the base64 text that EKS describes the cluster with",
        ) from None
    return context


def _judge(status: int, content: bytes) -> Answer:
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Unavailable(f"the API server answered {status}")
    if status == HTTPStatus.UNAUTHORIZED:
        raise Failure(
            "the API server does not know this function's role (401)",
            remedy="the cluster needs an access entry for it",
        )
    if status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
        return Answer(status, {})
    try:
        if status == HTTPStatus.OK:
            return Answer(status, dict(json.loads(content)))
    except (TypeError, ValueError):
        raise Unavailable("the API server's answer is no JSON object") from None
    raise Failure(f"the API server answered {status}", remedy="check CLUSTER_ENDPOINT")
