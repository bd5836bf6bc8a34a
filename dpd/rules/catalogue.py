"""All rules, in order."""

import dpd.rules.check  # noqa: F401 - importing it registers every rule
from dpd.rules.rule import REGISTRY, Rule


def all_rules() -> list[Rule]:
    """Return every rule, by id; the worthwhile ones last, where they belong."""
    return sorted(REGISTRY.values(), key=lambda rule: (rule.family == "worthwhile", rule.id))
