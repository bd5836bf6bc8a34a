"""Config: fields of the custom resource and vLLM arguments that cannot stand as they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from dpd.catalog.vllm_flags import MODEL_TAG
from dpd.config.source import KeyPath, Source
from dpd.errors import shown
from dpd.manifest.endpoint_spec import MODEL_PATH
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView

_VARIABLE = r"\$\{?[A-Z_][A-Z0-9_]*\}?|<[A-Z][A-Z0-9_ -]*>"
_PLACEHOLDER = re.compile(
    rf"{_VARIABLE}|\{{\{{.*?\}}\}}|\b(?:CHANGE_?ME|REPLACE_?ME|YOUR_[A-Z0-9_]+|FIXME)\b"
)
_ANGLE = r"<[A-Za-z][\w .:/-]*>"
_ANYWHERE = re.compile(rf"{_PLACEHOLDER.pattern}|{_ANGLE}")
# Programs and queries have variables, and templates braces, of their own; reasons are prose.
_NOT_PLACEHOLDERS = {"annotations", "command", "ignore", "query", "initContainers", "probes"}


@rule(
    "DPD105",
    Severity.ERROR,
    title="No placeholder is left in",
    source=sources.CRD,
)
def placeholder(source: Source) -> Iterator[Violation]:
    """Nothing replaces `$VAR`, `<PLACEHOLDER>` or `{{ value }}` in a file that is applied as it is.

    The API server takes the text literally, and the operator then looks for a bucket, an instance
    type or an image of that name. Of a worker's environment, Kubernetes replaces `$(VAR)` only;
    a password may hold a dollar sign and a template braces, so only a variable that is nothing but
    a placeholder counts. Commands, probes and metric queries are passed over, and arguments of a
    command of one's own: there a dollar sign may be meant.
    """
    for path, text in _texts(source.data, (), has_command=_has_command(source.data)):
        if "args" in path:
            found = re.search(_VARIABLE, text)
        elif "environmentVariables" in path:
            found = _ANYWHERE.fullmatch(text)
        else:
            found = _ANYWHERE.search(text)
        if found:
            given = shown(found[0])
            yield Violation(path, f"given the placeholder {given}", "a value", "fill it in")


def _has_command(value: Any) -> bool:
    """Return whether the workers run a command that may be a shell."""
    for key in ("spec", "worker"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return isinstance(value, Mapping) and bool(value.get("command"))


def _texts(value: Any, path: KeyPath, *, has_command: bool) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NOT_PLACEHOLDERS and not (has_command and key == "args"):
                yield from _texts(item, (*path, key), has_command=has_command)
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index), has_command=has_command)


@rule(
    "DPD106",
    Severity.ERROR,
    title="instanceType, instanceTypes and nodeAffinity exclude one another",
    source=sources.CRD,
)
def one_way_to_choose_nodes(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator takes one of the three; the schema says so in prose only."""
    fields = ("instanceType", "instanceTypes", "nodeAffinity")
    given = [field for field in fields if endpoint.written(field).value]
    for field in given[1:]:
        yield Violation(
            endpoint.written(field).path,
            f"given {field} beside {given[0]}",
            "one of instanceType, instanceTypes and nodeAffinity",
            f"remove {field} or {given[0]}",
        )


@rule(
    "DPD107",
    Severity.ERROR,
    title="An L2 cache needs a backend",
    source=sources.CRD,
)
def l2_cache_has_backend(endpoint: EndpointView) -> Iterator[Violation]:
    """`l2CacheBackend` is required wherever `l2CacheSpec` stands, though the schema lets it go."""
    written = endpoint.written("kvCacheSpec", "l2CacheSpec")
    if isinstance(written.value, Mapping) and not written.value.get("l2CacheBackend"):
        yield Violation(
            written.path,
            "given l2CacheSpec without l2CacheBackend",
            "redis or tieredstorage",
            "add l2CacheBackend or remove l2CacheSpec",
        )


@rule(
    "DPD108",
    Severity.ERROR,
    title="A DNS record needs a certificate of your own",
    source=sources.CRD,
)
def dns_needs_certificate(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator's own certificate is self-signed and names no domain."""
    dns = endpoint.written("dnsConfig")
    if dns.value and not endpoint.written("tlsConfig", "customCertificateConfig").value:
        yield Violation(
            dns.path,
            "given dnsConfig without tlsConfig.customCertificateConfig",
            "both or neither",
            "add the certificate or remove dnsConfig",
        )


_SOURCE_PARTS = {"s3": "s3Storage", "fsx": "fsxStorage", "huggingface": "huggingFaceModel"}


@rule(
    "DPD109",
    Severity.ERROR,
    title="A model source needs its own part filled in",
    source=sources.CRD,
)
def model_source_is_complete(endpoint: EndpointView) -> Iterator[Violation]:
    """Which of the three parts is read follows from `modelSourceType`; the schema wants none."""
    kind = endpoint.written("modelSourceConfig", "modelSourceType")
    part = _SOURCE_PARTS.get(kind.value) if isinstance(kind.value, str) else None
    if part and not endpoint.written("modelSourceConfig", part).value:
        yield Violation(
            kind.path,
            f"given modelSourceType {kind.value} without {part}",
            f"{kind.value} with {part}",
            f"add modelSourceConfig.{part}",
        )


@rule(
    "DPD119",
    Severity.WARNING,
    title="vLLM loads the model from where it is mounted",
    source=sources.CRD,
)
def model_is_mounted(endpoint: EndpointView) -> Iterator[Violation]:
    """Under another path there is a model only if the image or a volume of one's own brings it."""
    if not endpoint.is_vllm or endpoint.is_environment:
        return  # There a field says where it is, and no argument may.
    mount = endpoint.written("worker", "modelVolumeMount", "mountPath", default=MODEL_PATH)
    has_others = endpoint.written("kubernetes", "volumes").value
    flags = (role.flags.get(name) for role in endpoint.roles for name in ("model", MODEL_TAG))
    for path, given in {flag.path: flag.value for flag in flags if flag}.items():
        place = PurePosixPath(given)
        if place.is_absolute() and not has_others and not place.is_relative_to(str(mount.value)):
            yield Violation(
                path,
                f"given the model {shown(given)}, but it is mounted at {mount.value}",
                f"{mount.value} or below",
                "make the two agree",
            )


@rule(
    "DPD113",
    Severity.NOTE,
    title="The field has an effect",
    source=sources.CRD,
)
def field_has_effect(endpoint: EndpointView) -> Iterator[Violation]:
    """`InitialReplicaCount` is deprecated and read by nobody."""
    written = endpoint.written("InitialReplicaCount")
    if written.value is not None:
        yield Violation(
            written.path,
            f"given InitialReplicaCount {written.value}, which has no effect",
            "replicas, and autoScalingSpec.minReplicaCount",
            "use those",
        )


@rule(
    "DPD115",
    Severity.ERROR,
    title="An ignored rule exists, has a reason and may be ignored",
    source="docs/check.md",
)
def ignores_are_explained(source: Source) -> Iterator[Violation]:
    """A rule is switched off for a file by `ignore: {DPD504: why}`; a wrong id would do nothing.

    What the file's own models refuse stays refused, and so does this rule.
    """
    from dpd.rules.rule import REGISTRY
    from dpd.rules.structure import NOT_IGNORABLE

    ignored = source.data.get("ignore") if isinstance(source.data, Mapping) else None
    for id_, reason in ignored.items() if isinstance(ignored, Mapping) else ():
        path = ("ignore", id_)
        if id_ not in REGISTRY:
            yield Violation(
                path, f"given {shown(id_)}", "the id of a rule", "`dpd rules` lists them"
            )
        elif id_ in NOT_IGNORABLE:
            yield Violation(
                path,
                f"given {id_}, which refuses the file whatever it ignores",
                "the other rules",
                "remove it and correct what it finds",
            )
        elif isinstance(reason, str) and not reason.strip():
            yield Violation(path, "given no reason", "a reason in words", "say why, or remove it")
