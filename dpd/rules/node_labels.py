"""Operator: labels by which workers find their nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpd.config.source import KeyPath
from dpd.errors import nearest, shown
from dpd.manifest.endpoint_spec import INSTANCE_GROUP_LABEL
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.manifest_view import INSTANCE_TYPE_LABEL
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, Written

_LABELS = {
    "sagemaker.amazonaws.com/deep-health-check-status": {"Passed"},
    "sagemaker.amazonaws.com/node-health-status": {"Schedulable"},
    INSTANCE_GROUP_LABEL: None,
    "sagemaker.amazonaws.com/cluster-name": None,
    INSTANCE_TYPE_LABEL: None,
}
"""Values that workers may ask for, by label; None for any."""


@rule(
    "DPD608",
    Severity.ERROR,
    title="Node labels are spelled as HyperPod spells them",
    source=sources.HYPERPOD_LABELS,
)
def labels_exist(endpoint: EndpointView) -> Iterator[Violation]:
    """A selector that no node matches leaves the pod Pending; types have the prefix `ml.` there."""
    for key, written in _asked_labels(endpoint):
        if key in _LABELS:
            allowed = _LABELS[key]
            if allowed and written.value not in allowed:
                yield _wrong_label(written, key, f"{', '.join(allowed)}")
            elif key == INSTANCE_TYPE_LABEL and not written.value.startswith("ml."):
                yield _wrong_label(written, key, f"ml.{written.value}")
        elif key.startswith("sagemaker.amazonaws.com/") and (near := nearest(key, _LABELS)):
            yield Violation(written.path, f"given the label {shown(key)}", near, f"write {near}")


def _asked_labels(endpoint: EndpointView) -> Iterator[tuple[str, Written[str]]]:
    """Yield each label and each value that workers ask for, by selector or by affinity."""
    for role in endpoint.roles:
        yield from role.node_selector.items()
    affinity = endpoint.written("nodeAffinity")
    for path, term in _terms(affinity.value, affinity.path):
        key, values = term.get("key"), term.get("values")
        if not isinstance(key, str):
            continue
        asked = values if isinstance(values, list) and term.get("operator") == "In" else []
        if not asked and key not in _LABELS:
            yield key, Written("", (*path, "key"))
        for index, value in enumerate(asked):
            if isinstance(value, str):
                yield key, Written(value, (*path, "values", index))


def _terms(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield the expressions about labels anywhere in an affinity."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "matchExpressions" and isinstance(item, list):
                for index, term in enumerate(item):
                    if isinstance(term, Mapping):
                        yield (*path, key, index), term
            else:
                yield from _terms(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _terms(item, (*path, index))


@rule(
    "DPD609",
    Severity.ERROR,
    title="A role selects nodes of the endpoint's instance type",
    source=sources.CRD,
)
def selector_agrees(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator adds `instanceType` to the selector; no node is of two types."""
    one = endpoint.written("instanceType").value
    several = endpoint.written("instanceTypes").value
    allowed = [one] if isinstance(one, str) else several if isinstance(several, list) else []
    for role in endpoint.roles if allowed else ():
        written = role.node_selector.get(INSTANCE_TYPE_LABEL)
        if written and written.value.startswith("ml.") and written.value not in allowed:
            yield Violation(
                written.path,
                f"given {written.value} for {role.name}",
                ", ".join(map(str, allowed)),
                "make it the endpoint's instance type or add it to instanceTypes",
            )


def _wrong_label(written: Written[str], key: str, allowed: str) -> Violation:
    return Violation(
        written.path, f"given {key}={shown(written.value)}", allowed, "correct the selector"
    )
