"""Accounts of HyperPod's regional images."""

import re
from pathlib import Path

import pytest
import yaml

from dpd.catalog import health_monitoring_agent_accounts

SHARED = Path(__file__).parents[3] / "shared" / "data" / "regions.yaml"


def test_accounts_are_text_of_twelve_digits() -> None:
    """Two begin with a zero, which a number would lose."""
    accounts = health_monitoring_agent_accounts()
    assert all(re.fullmatch(r"\d{12}", account) for account in accounts.values())
    assert any(account.startswith("0") for account in accounts.values())
    assert all(re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region) for region in accounts)


@pytest.mark.skipif(not SHARED.exists(), reason="the collected data are not beside the repository")
def test_accounts_are_those_that_were_collected() -> None:
    """Region by region."""
    collected = yaml.safe_load(SHARED.read_text(encoding="utf-8"))["healthMonitoringAgent"]
    assert health_monitoring_agent_accounts() == collected
