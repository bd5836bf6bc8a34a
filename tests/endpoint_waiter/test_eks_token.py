"""A token is checked here as the control plane checks it (aws-iam-authenticator, token.go)."""

import base64
import hashlib
import hmac
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from botocore.credentials import Credentials

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SESSION = "IQoJb3JpZ2luX2VjE+/session=="
PARAMETERS = {
    "Action",
    "Version",
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
}


@pytest.fixture
def token(waiter: Any) -> str:
    """A token for the cluster `dpd-prod`."""
    credentials = Credentials("AKIDEXAMPLE", SECRET, SESSION)
    made = waiter.eks_token.eks_token("dpd-prod", region="us-east-2", credentials=credentials)
    return str(made)


def _url(token: str) -> str:
    text = token.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def test_token_has_the_form_eks_reads(token: str) -> None:
    """Prefix, base64 for URLs without padding, at most 4 KB."""
    assert token.startswith("k8s-aws-v1.")
    assert "=" not in token
    assert len(token) <= 4096


def test_url_is_one_the_control_plane_calls(token: str) -> None:
    """Regional STS, path /, each allowed parameter once, no more than 15 minutes."""
    url = urlsplit(_url(token))
    pairs = parse_qsl(url.query, strict_parsing=True)
    query = dict(pairs)
    assert (url.scheme, url.netloc, url.path) == ("https", "sts.us-east-2.amazonaws.com", "/")
    assert sorted(name for name, _ in pairs) == sorted(PARAMETERS)
    assert query["Action"] == "GetCallerIdentity"
    assert query["Version"] == "2011-06-15"
    # Authenticators up to 0.3.0 refused more than 60.
    assert 0 < int(query["X-Amz-Expires"]) <= 60
    assert query["X-Amz-SignedHeaders"].split(";") == ["host", "x-k8s-aws-id"]
    assert query["X-Amz-Security-Token"] == SESSION


@pytest.mark.parametrize(("cluster", "valid"), [("dpd-prod", True), ("dpd-dev", False)])
def test_signature_is_good_for_one_cluster(token: str, cluster: str, valid: bool) -> None:
    """Computed again from its definition, with the header the control plane would send."""
    url = urlsplit(_url(token))
    query = dict(parse_qsl(url.query))
    signature = query.pop("X-Amz-Signature")
    canonical_query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(query.items())
    )
    canonical = "\n".join(
        [
            "GET",
            "/",
            canonical_query,
            f"host:{url.netloc}",
            f"x-k8s-aws-id:{cluster}",
            "",
            "host;x-k8s-aws-id",
            hashlib.sha256(b"").hexdigest(),
        ]
    )
    day, *scope = query["X-Amz-Credential"].split("/")[1:]
    assert scope == ["us-east-2", "sts", "aws4_request"]
    to_sign = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            query["X-Amz-Date"],
            "/".join([day, *scope]),
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{SECRET}".encode()
    for part in (day, *scope):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    expected = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    assert (signature == expected) == valid


def test_secret_key_stays_out_of_it(token: str) -> None:
    """Only the signature leaves the function."""
    assert SECRET not in _url(token)
    assert quote(SECRET, safe="") not in _url(token)
