"""What the models of a file refuse, as findings beside those of the rules."""

from collections.abc import Iterator, Mapping
from typing import Any

from dpd.config.consistency import problems
from dpd.config.environment import Environment, EnvironmentFile
from dpd.config.problem import ConfigError, Kind, Problem
from dpd.config.report import validate
from dpd.config.source import KeyPath, Source
from dpd.errors import UserError, nearest, shown
from dpd.rules import sources
from dpd.rules.finding import Finding, Severity, Violation
from dpd.rules.rule import REGISTRY, Rule, declare

GROUP = "inference.sagemaker.aws.amazon.com"
KIND = "InferenceEndpointConfig"
_ENVIRONMENT_SCHEMA = "environments/environment.schema.json"
_NEWER_FIELDS = {
    "modelCacheConfig": "v3.3",
    "metricsCollectorResources": "v3.4",
    "metricsSidecarResources": "v3.4",
    "s3UploaderResources": "v3.4",
    "inferenceGateway": "add-on v2.0.0",
}
"""Fields that came after the schema that is known, by the operator's version."""
_OTHER_KINDS = {"JumpStartModel", "InferenceGatewayConfig"}
# What the API server writes into an object that is read back from a cluster.
_SERVER_METADATA = {
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
}

OTHER_KIND = declare(
    "DPD100",
    Severity.NOTE,
    title="A document of another kind is passed over",
    source="docs/check.md",
    explanation="Rules are about environments and InferenceEndpointConfigs only.",
)
UNKNOWN_FIELD = declare(
    "DPD101",
    Severity.ERROR,
    title="The field exists",
    source=sources.CRD,
    explanation="A misspelt field is dropped by the API server without a word, or refused by us.",
)
WRONG_VALUE = declare(
    "DPD102",
    Severity.ERROR,
    title="The value is one that the schema allows",
    source=sources.CRD,
    explanation="Types, ranges, patterns and choices of the custom resource or of our own file.",
)
MISSING_FIELD = declare(
    "DPD103",
    Severity.ERROR,
    title="Required fields are there",
    source=sources.CRD,
    explanation="The API server refuses the object, or we the file, without them.",
)
declare(
    "DPD104",
    Severity.ERROR,
    title="Names in an environment file belong to something",
    source=_ENVIRONMENT_SCHEMA,
    explanation="Models, images, add-ons and instance groups are there once under their name.",
)
NEWER_FIELD = declare(
    "DPD117",
    Severity.WARNING,
    title="The field is of the schema that is known",
    source=sources.RELEASE_NOTES,
    explanation="The schema here is operator v3.2's; an older operator drops the field, and what "
    "stands in it is not checked.",
)
declare(
    "DPD201",
    Severity.ERROR,
    title="An instance group has nodes for all of its workers",
    source=sources.INSTANCE_TYPES,
    explanation="Replicas times GPUs, no worker across two nodes; others would stay Pending.",
)
declare(
    "DPD501",
    Severity.ERROR,
    title="Address blocks and zones fit together",
    source=sources.HYPERPOD_PREREQUISITES,
    explanation="Subnets cannot grow later, a P5 node takes 81 addresses, zones go by their id.",
)

_IDS = {
    Kind.UNKNOWN_KEY: UNKNOWN_FIELD,
    Kind.WRONG_VALUE: WRONG_VALUE,
    Kind.MISSING: MISSING_FIELD,
    Kind.UNRESOLVED: "DPD104",
    Kind.INSTANCE_TYPE: "DPD202",
    Kind.TOO_FEW_NODES: "DPD201",
    Kind.NETWORK: "DPD501",
    Kind.TOO_LONG_NAME: "DPD901",
}
NOT_IGNORABLE = {*_IDS.values(), "DPD115"}
"""What the models of an environment file refuse themselves, so that no file can switch it off."""
_UNRESOLVED_KINDS = {Kind.UNRESOLVED, Kind.INSTANCE_TYPE}
"""Mistakes after which an environment cannot be looked at any further."""
_FIXES = {Kind.UNKNOWN_KEY: "remove it", Kind.MISSING: "add it"}


def read_environment(source: Source, *, name: str) -> tuple[Environment | None, list[Finding]]:
    """Return the environment, unless names in it do not resolve, and what its models refuse."""
    places = {**source.places, ("name",): source.name}
    named = Source(name=source.name, data={**source.data, "name": name}, places=places)
    try:
        # Once is enough for a file that is right; only a wrong one is also read as it stands.
        environment = _quickly_read(named) if "name" not in source.data else None
        if environment is None:
            validate(EnvironmentFile, source)
            environment = validate(Environment, named)
    except ConfigError as error:
        return None, [_found(each, source) for each in error.problems]
    found = list(problems(environment))
    is_resolved = not any(each.kind in _UNRESOLVED_KINDS for each in found)
    return environment if is_resolved else None, [_found(each, source) for each in found]


def _quickly_read(source: Source) -> Environment | None:
    try:
        return validate(Environment, source)
    except UserError:
        return None


def manifest_problems(document: Mapping[str, Any]) -> Iterator[tuple[Rule, Violation]]:
    """Yield what the custom resource's schema refuses in a document."""
    from pydantic import ValidationError

    from dpd.manifest.endpoint_config import API_VERSION, InferenceEndpointConfig
    from dpd.manifest.v1alpha1 import API_VERSION_V1ALPHA1, upgrade_v1alpha1

    document = _as_written(document)
    errors: list[Any] = []
    if document.get("apiVersion") == API_VERSION_V1ALPHA1:
        try:
            upgrade_v1alpha1(document)
        except ValidationError as error:
            errors += error.errors(include_url=False)
        document = {**document, "apiVersion": API_VERSION}
    try:
        InferenceEndpointConfig.from_manifest(document)
    except ValidationError as error:
        errors += error.errors(include_url=False)
    for details in errors:
        path = details["loc"]
        version = _NEWER_FIELDS.get(str(path[-1])) if path else None
        if version and details["type"] == "unknown_field":
            given = f"given {path[-1]}, which came with {version}"
            allowed, fix = "operator v3.2 and its fields", "be sure of the operator's version"
            yield REGISTRY[NEWER_FIELD], Violation(path, given, allowed, fix)
        else:
            yield _schema_problem(path, details)


def override_problems(environment: Environment, index: int) -> Iterator[tuple[Rule, Violation]]:
    """Yield what the custom resource's schema refuses in an endpoint's `overrides`."""
    endpoint = environment.endpoints[index]
    if endpoint.runtime != "operator" or not endpoint.overrides:
        return
    from pydantic import ValidationError

    from dpd.manifest.from_environment import endpoint_config
    from dpd.manifest.overrides import override_spec

    plain = endpoint_config(environment, endpoint.model_copy(update={"overrides": {}}))
    try:
        override_spec(plain.spec, endpoint.overrides)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            path = ("endpoints", index, "overrides", *details["loc"])
            yield _schema_problem(path, details)


def misspelt_kind(document: Mapping[str, Any]) -> str | None:
    """Return the kind that a document was probably meant to be, where it is not spelt so."""
    kind = document.get("kind") or ""
    if not isinstance(kind, str) or kind == KIND or kind in _OTHER_KINDS:
        return None
    is_of_group = str(document.get("apiVersion")).startswith(f"{GROUP}/")
    is_near = not kind or nearest(kind, [KIND])
    is_almost = kind.casefold() in (KIND.casefold(), f"{KIND}s".casefold())
    return KIND if is_almost or (is_of_group and is_near) else None


def finding_of(rule: Rule, violation: Violation, source: Source) -> Finding:
    """Return a violation as a finding, its path resolved in `source`."""
    from dpd.config.report import readable

    file, line = _place(source.place(violation.path), source.name)
    message = "; ".join(
        filter(None, (violation.given, violation.allowed and f"allowed: {violation.allowed}"))
    )
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        file=file,
        line=line,
        path=readable(violation.path, source.data),
        message=message,
        fix=violation.fix,
        source=rule.source,
    )


def _schema_problem(path: KeyPath, details: Mapping[str, Any]) -> tuple[Rule, Violation]:
    text, given = str(details["msg"]), details["input"]
    if details["type"] == "unknown_field":
        message, _, hint = text.partition("; ")
        return REGISTRY[UNKNOWN_FIELD], Violation(path, _lowered(message), "", hint or "remove it")
    if details["type"] == "missing":
        message, _, hint = text.partition("; ")
        fix = hint or "add it"
        return REGISTRY[MISSING_FIELD], Violation(path, "required, but not given", "", fix)
    allowed = _lowered(text.removeprefix("Input should be ").removeprefix("Value error, "))
    is_bare = details["type"] == "string_type" and isinstance(given, bool | int | float)
    fix = "put it in quotes" if is_bare else "correct it"
    return REGISTRY[WRONG_VALUE], Violation(path, f"given {shown(given)}", allowed, fix)


def _found(problem: Problem, source: Source) -> Finding:
    """Return what a file's models refuse as a finding."""
    fix = problem.fix or _FIXES.get(problem.kind, "correct it")
    if problem.path == ("name",):  # Which is not in the file.
        fix = "rename the file"
        source = Source(name=source.name, data=source.data)
    violation = Violation(problem.path, problem.given, problem.allowed, fix)
    rule = REGISTRY[_IDS[problem.kind]]
    is_of_schema = rule.source == sources.CRD and problem.kind is not Kind.TOO_LONG_NAME
    return finding_of(
        rule._replace(source=_ENVIRONMENT_SCHEMA) if is_of_schema else rule, violation, source
    )


def _as_written(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without what only the API server writes."""
    written = {key: value for key, value in document.items() if key != "status"}
    metadata = written.get("metadata")
    if isinstance(metadata, Mapping):
        written["metadata"] = {
            key: value for key, value in metadata.items() if key not in _SERVER_METADATA
        }
    return written


def _place(place: str, name: str) -> tuple[str, int | None]:
    line = place.removeprefix(f"{name}:")
    return (name, int(line)) if line != place and line.isdecimal() else (place, None)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
