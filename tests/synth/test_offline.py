"""No test can reach anybody's account."""

import os

import boto3  # type: ignore[import-untyped]


def test_credentials_open_nothing() -> None:
    """Whatever the person who runs the tests has configured."""
    credentials = boto3.Session().get_credentials()
    assert credentials.access_key == "testing"
    assert "AWS_PROFILE" not in os.environ
