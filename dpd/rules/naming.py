"""Naming: names that the operator derives, and names that must differ."""

from collections.abc import Iterator

from dpd.errors import shown
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView, ManifestFile, Written

_LABEL_LENGTH = 63
"""Most characters of a Service's or container's name."""


@rule(
    "DPD901",
    Severity.ERROR,
    title="Names that the operator derives are within their limits",
    source=sources.KUBERNETES_NAMES,
)
def derived_names_fit(endpoint: EndpointView) -> Iterator[Violation]:
    """It makes a Service `<name>-<namespace>-routing-service` and containers `prefill-<name>`.

    The API server refuses those above 63 characters, and the endpoint never becomes ready.
    """
    if endpoint.is_environment:
        return  # The loader has seen to it.
    name, namespace = endpoint.name.value, endpoint.namespace.value
    has_router = endpoint.written("intelligentRoutingSpec", "enabled").value is True
    derived = {}
    if has_router or endpoint.is_disaggregated:
        derived[f"{name}-{namespace}-routing-service"] = "Service"
    if endpoint.is_disaggregated:
        derived[f"prefill-{name}"] = "container"
    for text, kind in derived.items():
        if (excess := len(text) - _LABEL_LENGTH) > 0:
            yield Violation(
                endpoint.name.path,
                f"given {shown(name)}, which makes the {kind} {text} of {len(text)} characters",
                f"{_LABEL_LENGTH} characters",
                f"shorten {'name or namespace' if kind == 'Service' else 'name'} by {excess}",
            )
            return


@rule(
    "DPD902",
    Severity.ERROR,
    title="Names that the operator derives are well formed",
    source=sources.KUBERNETES_NAMES,
)
def derived_names_are_well_formed(endpoint: EndpointView) -> Iterator[Violation]:
    """A resource may be called `7b.chat`, but the Service made from it may not."""
    name = endpoint.name.value
    if name and (name[0].isdigit() or "." in name):
        yield Violation(
            endpoint.name.path,
            f"given {shown(name)}, from which a Service gets its name",
            "a letter first, then letters, digits and hyphens",
            "rename it",
        )


@rule(
    "DPD903",
    Severity.ERROR,
    title="No endpoint is in a file twice",
    source=sources.KUBERNETES_NAMES,
)
def endpoints_differ(file: ManifestFile) -> Iterator[Violation]:
    """Of two with one name and namespace the second replaces the first."""
    names = [
        Written(f"{view.name.value} of {view.namespace.value}", (index, *view.name.path))
        for index, view in file.views
        if view.name.value
    ]
    yield from _repeated(names, "an endpoint")


@rule(
    "DPD904",
    Severity.ERROR,
    title="No SageMaker endpoint is in a file twice",
    source=sources.CRD,
)
def sagemaker_endpoints_differ(file: ManifestFile) -> Iterator[Violation]:
    """A SageMaker endpoint's name is unique in an account and region."""
    names = []
    for index, view in file.views:
        written = view.written("endpointName")
        if isinstance(written.value, str) and written.value:
            names.append(Written(written.value, (index, *written.path)))
    yield from _repeated(names, "a SageMaker endpoint")


def _repeated(names: list[Written[str]], what: str) -> Iterator[Violation]:
    seen = set()
    for written in names:
        if written.value in seen:
            yield Violation(
                written.path,
                f"given {shown(written.value)} a second time",
                f"{what} once in a file",
                "rename or remove one",
            )
        seen.add(written.value)
