"""Accounts that hold HyperPod's regional images."""

from collections.abc import Mapping
from functools import cache

from dpd.catalog.data import read


@cache
def health_monitoring_agent_accounts() -> Mapping[str, str]:
    """Return, by region, the account whose registry holds the health monitoring agent."""
    accounts: Mapping[str, str] = read("regions")["healthMonitoringAgent"]
    return accounts
