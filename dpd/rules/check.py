"""From files to findings."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from dpd.config import Environment
from dpd.config.source import Source, parse_documents, read_bytes
from dpd.errors import UserError, shown
from dpd.rules import (  # noqa: F401 - importing a family registers its rules
    access,
    addons,
    agreement,
    arguments,
    capacity,
    config,
    host_memory,
    images,
    kv_transfer,
    memory,
    naming,
    networking,
    node_labels,
    operator,
    routing,
    sharding,
    structure,
    times,
    worthwhile,
)
from dpd.rules.environment_view import environment_views
from dpd.rules.finding import Finding, Violation
from dpd.rules.manifest_view import manifest_view
from dpd.rules.rule import REGISTRY, Rule, violations
from dpd.rules.self_managed_view import self_managed_views
from dpd.rules.view import EndpointView, ManifestFile

_ENVIRONMENT_KEYS = {"account", "region", "network", "cluster", "models", "endpoints"}
_STRUCTURAL = {structure.UNKNOWN_FIELD, structure.WRONG_VALUE, structure.MISSING_FIELD}
_PLACEHOLDER = "DPD105"
_SAYS_MORE = {"DPD202", "DPD408"}
"""Rules that say of a value what the schema says too, and what to do."""

_Found = Iterator[tuple[Rule, Violation]]


def all_rules() -> list[Rule]:
    """Return every rule, by id; the worthwhile ones last, where they belong."""
    return sorted(REGISTRY.values(), key=lambda rule: (rule.family == "worthwhile", rule.id))


def check_file(path: Path) -> list[Finding]:
    """Return the findings of one file.

    Raises:
        UserError: It cannot be read, or holds neither environments nor manifests.
    """
    return check_text(read_bytes(path, name=str(path)), name=str(path))


def check_text(raw: bytes, *, name: str) -> list[Finding]:
    """Return the findings of a file's content; see `check_file`."""
    if raw.lstrip()[:1] in (b"{", b"["):
        # JSON may be indented by tabs, which YAML refuses; inside its texts there are none.
        raw = raw.replace(b"\t", b" ")
    documents = [each for each in parse_documents(raw, name=name) if each.data is not None]
    findings: list[Finding] = []
    views: list[tuple[int, EndpointView]] = []
    others: list[tuple[Source, str]] = []
    for index, source in enumerate(documents):
        data = source.data
        if not isinstance(data, Mapping):
            place = source.place(())
            raise UserError(f"{place}: given {shown(data)}; allowed: an environment or a manifest")
        if "kind" in data or "apiVersion" in data:
            for path, document in _items(data):
                if document.get("kind") == structure.KIND:
                    view = manifest_view(document, path=path)
                    views.append((index, view))
                    findings += _manifest(source, view, document)
                elif meant := structure.misspelt_kind(document):
                    findings.append(_misspelt(source, path, document, meant))
                else:
                    others.append((source, str(document.get("kind"))))
        elif _ENVIRONMENT_KEYS & set(data):
            findings += _environment(source, name=_environment_name(name))
        else:
            keys = ", ".join(map(str, list(data)[:5])) or "none"
            raise UserError(
                f"{source.place(())}: neither environment nor manifest; given the keys {keys}; "
                "allowed: account, region, network, ..., or apiVersion and kind"
            )
    if not documents:
        raise UserError(f"{name}: holds no document; give an environment or a manifest")
    findings += _between(documents, views)
    findings += _passed_over(others)
    return _sorted(findings)


def check_environment(environment: Environment, source: Source | None = None) -> list[Finding]:
    """Return what the rules find in an environment that its loader has accepted.

    Args:
        environment: The environment.
        source: The file behind it, for lines. Default: findings have paths but no lines.
    """
    if source is None:
        data = environment.model_dump(mode="json", by_alias=True)
        source = Source(name=f"environments/{environment.name}.yaml", data=data)
    findings = _collected(_environment_rules(environment, source), source)
    return _sorted(_kept(findings, environment.ignore))


def _environment(source: Source, *, name: str) -> list[Finding]:
    environment, findings = structure.read_environment(source, name=name)
    found = _environment_rules(environment, source) if environment else violations(source)
    ignored = source.data.get("ignore")
    return _kept(
        _without_doubles([*findings, *_collected(found, source)]),
        ignored if isinstance(ignored, Mapping) else {},
    )


def _environment_rules(environment: Environment, source: Source) -> _Found:
    yield from violations(source)
    yield from violations(environment)
    for index in range(len(environment.endpoints)):
        yield from structure.override_problems(environment, index)
    for view in environment_views(environment):
        yield from violations(view)
    for view, rules in self_managed_views(environment):
        yield from ((rule, each) for rule, each in violations(view) if rule.id in rules)


def _manifest(source: Source, view: EndpointView, document: Mapping[str, Any]) -> list[Finding]:
    part = Source(name=source.name, data=document, places=source.places)
    found = [
        *((rule, _below(each, view.path)) for rule, each in structure.manifest_problems(document)),
        *((rule, _below(each, view.path)) for rule, each in violations(part)),
        *violations(view),
    ]
    return _collected(found, source)


def _between(documents: list[Source], views: list[tuple[int, EndpointView]]) -> Iterator[Finding]:
    for rule, violation in violations(ManifestFile(views=tuple(views))):
        index, *path = violation.path
        source = documents[int(index)]
        yield structure.finding_of(rule, violation._replace(path=tuple(path)), source)


def _items(
    document: Mapping[str, Any],
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Yield the document, or the items of a list of Kubernetes objects."""
    items = document.get("items")
    if not (str(document.get("kind")).endswith("List") and isinstance(items, list)):
        yield (), document
        return
    for index, item in enumerate(items):
        if isinstance(item, Mapping):
            yield ("items", index), item


def _misspelt(
    source: Source, path: tuple[str | int, ...], document: Mapping[str, Any], meant: str
) -> Finding:
    given = f"given {shown(document.get('kind'))}"
    violation = Violation((*path, "kind"), given, meant, f"write {meant}")
    return structure.finding_of(REGISTRY[structure.WRONG_VALUE], violation, source)


def _passed_over(others: list[tuple[Source, str]]) -> Iterator[Finding]:
    """Yield one note for all documents of other kinds."""
    if others:
        kinds = ", ".join(sorted({shown(kind)[1:-1] for _, kind in others}))
        count = f"{len(others)} document{'s' if len(others) > 1 else ''} of other kinds"
        violation = Violation((), f"passed over {count}: {kinds}", "", "nothing is to be done")
        yield structure.finding_of(REGISTRY[structure.OTHER_KIND], violation, others[0][0])


def _collected(found: Iterable[tuple[Rule, Violation]], source: Source) -> list[Finding]:
    findings = [structure.finding_of(rule, violation, source) for rule, violation in found]
    return _without_doubles(findings)


def _without_doubles(findings: list[Finding]) -> list[Finding]:
    """Return the findings without those that another says better about the same value."""
    placeholders = {_spot(each) for each in findings if each.rule == _PLACEHOLDER}
    judged = {_spot(each) for each in findings if each.rule in _SAYS_MORE}
    return list(
        dict.fromkeys(
            each
            for each in findings
            if (each.rule == _PLACEHOLDER or _spot(each) not in placeholders)
            and (each.rule not in _STRUCTURAL or _spot(each) not in judged)
        )
    )


def _spot(finding: Finding) -> tuple[str, int | None, str]:
    return finding.file, finding.line, finding.path


def _below(violation: Violation, path: tuple[str | int, ...]) -> Violation:
    return violation._replace(path=(*path, *violation.path))


def _kept(findings: list[Finding], ignored: Mapping[str, Any]) -> list[Finding]:
    silent = set(ignored) - structure.NOT_IGNORABLE
    return [each for each in findings if each.rule not in silent]


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: (each.line or 0, each.severity.rank, each.rule))


def _environment_name(name: str) -> str:
    return "stdin" if name == "-" else PurePath(name).stem
