"""What a synthesis wrote, as plain data, and the questions that tests ask about it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpd.config import Environment

Resource = dict[str, Any]
Place = tuple[str, str]
"""Part of the environment, such as `cluster`, and logical id."""


@dataclass(frozen=True)
class Template:
    """One CloudFormation template."""

    part: str
    data: Mapping[str, Any]

    @property
    def resources(self) -> dict[str, Resource]:
        """Every resource by logical id."""
        found: dict[str, Resource] = self.data["Resources"]
        return found

    def of_type(self, kind: str, **properties: Any) -> dict[str, Resource]:
        """The resources of a type whose top-level properties have these values."""
        return {
            id_: resource
            for id_, resource in self.resources.items()
            if resource["Type"] == kind
            and properties.items() <= {**resource.get("Properties", {})}.items()
        }

    def only(self, kind: str, **properties: Any) -> tuple[str, dict[str, Any]]:
        """Logical id and properties of the one resource that `of_type` finds."""
        ((id_, resource),) = self.of_type(kind, **properties).items()
        return id_, resource.get("Properties", {})

    def properties(self, kind: str, **properties: Any) -> dict[str, Any]:
        """The properties of the one resource that `of_type` finds."""
        return self.only(kind, **properties)[1]

    def needs(self, logical_id: str) -> set[str]:
        """Everything that CloudFormation makes before a resource and deletes after it."""
        waiting, found = [logical_id], set[str]()
        while waiting:
            resource = self.resources[waiting.pop()]
            after = resource.get("DependsOn", [])
            direct = {*([after] if isinstance(after, str) else after)}
            direct |= {id_ for id_ in references(resource) if id_ in self.resources}
            waiting += direct - found
            found |= direct
        return found

    def manifests(self) -> dict[str, list[dict[str, Any]]]:
        """The Kubernetes objects of every manifest by logical id."""
        return {
            id_: json.loads(text(resource["Properties"]["Manifest"]))
            for id_, resource in self.of_type("Custom::AWSCDK-EKS-KubernetesResource").items()
        }

    def manifest_with(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Logical id of the manifest that holds the one object of a kind, and that object."""
        ((id_, found),) = (
            (id_, thing)
            for id_, things in self.manifests().items()
            for thing in things
            if thing["kind"] == kind
        )
        return id_, found


@dataclass(frozen=True)
class Synthesized:
    """Every template of one environment by part, and the cloud assembly's manifest."""

    environment: Environment
    manifest: Mapping[str, Any]
    templates: Mapping[str, Template]
    assets: Mapping[str, list[Path]]
    """Files of every asset that is a folder, by the name that the CDK shows for it."""

    @property
    def prefix(self) -> str:
        """How the names of the stacks begin."""
        return f"dpd-{self.environment.name}"

    def __getitem__(self, part: str) -> Template:
        """The template of a part."""
        return self.templates[part]

    def artifact(self, part: str) -> dict[str, Any]:
        """What the cloud assembly says about the stack of a part."""
        found: dict[str, Any] = self.manifest["artifacts"][f"{self.prefix}-{part}"]
        return found

    def origin(self, part: str, value: Any) -> Place:
        """Where a reference in the template of `part` ends, through exports of other stacks."""
        if "Fn::ImportValue" in value:
            stack, _, _ = value["Fn::ImportValue"].partition(":")
            part = stack.removeprefix(f"{self.prefix}-")
            (value,) = (
                output["Value"]
                for output in self[part].data["Outputs"].values()
                if output.get("Export", {}).get("Name") == value["Fn::ImportValue"]
            )
        return part, value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]

    def resource(self, part: str, value: Any) -> Resource:
        """The resource that a reference leads to."""
        part, logical_id = self.origin(part, value)
        return self[part].resources[logical_id]

    def bucket_name(self, part: str, written: str) -> str:
        """The name of a bucket, also where `text` could only write `<the export>`."""
        if not written.startswith("<"):
            return written
        bucket = self.resource(part, {"Fn::ImportValue": written.strip("<>")})
        name: str = bucket["Properties"]["BucketName"]
        return name


def read(folder: Path, *, environment: Environment) -> Synthesized:
    """Read what was synthesized into a folder."""
    prefix = f"dpd-{environment.name}"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = [
        artifact["properties"]["templateFile"]
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    ]
    parts = {name.removesuffix(".template.json").removeprefix(f"{prefix}-"): name for name in names}
    assets = [folder / name.replace(".template.", ".assets.") for name in names]
    return Synthesized(
        environment=environment,
        manifest=manifest,
        templates={
            part: Template(part, json.loads((folder / name).read_text(encoding="utf-8")))
            for part, name in parts.items()
        },
        assets={name: files for path in assets for name, files in _folders(path)},
    )


def _folders(path: Path) -> Iterator[tuple[str, list[Path]]]:
    for asset in json.loads(path.read_text(encoding="utf-8"))["files"].values():
        source = path.parent / asset["source"]["path"]
        if source.is_dir():
            yield asset["displayName"], sorted(source.rglob("*"))


def references(value: Any) -> Iterator[str]:
    """Every logical id or pseudo parameter that a value refers to."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key == "Ref":
                yield item
            elif key == "Fn::GetAtt":
                yield item[0] if isinstance(item, list) else item.partition(".")[0]
            elif key == "Fn::Sub":
                yield from re.findall(r"\$\{(\w+)", item if isinstance(item, str) else item[0])
            yield from references(item)


def text(value: Any) -> str:
    """A value as one text, what is known at deployment only as `<Thing.Attribute>`."""
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(text, parts))
        case {"Ref": name} | {"Fn::ImportValue": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Sub": str(template)}:
            return re.sub(r"\$\{([\w:.]+)\}", r"<\1>", template)
    return json.dumps(value)


def strings(value: Any) -> Iterator[str]:
    """Every text in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from strings(item)
