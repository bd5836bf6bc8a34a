"""Node affinity: which nodes a pod may run on."""

from collections.abc import Sequence
from typing import Any


def on_nodes(label: str, values: Sequence[str]) -> dict[str, Any]:
    """Return the node affinity to nodes whose label has one of the values."""
    expression = {"key": label, "operator": "In", "values": list(values)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}
