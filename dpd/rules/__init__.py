"""Rules over environments and over manifests: one rule, one function, one id."""

from dpd.rules.check import check_environment, check_file, check_text
from dpd.rules.finding import Finding, Severity

__all__ = ["Finding", "Severity", "check_environment", "check_file", "check_text"]
