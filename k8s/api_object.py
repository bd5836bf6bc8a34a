"""Kubernetes objects of any kind."""

from typing import Any

import cdk8s
from constructs import Construct


def api_object(
    scope: Construct,
    id_: str,
    *,
    api_version: str,
    kind: str,
    name: str,
    namespace: str | None = None,
    labels: dict[str, str] | None = None,
    **fields: Any,
) -> cdk8s.ApiObject:
    """Add and return an object; `fields` are its top-level keys beside the metadata, as `spec`.

    What cdk8s-plus makes out of them here would be the same, at a third of an empty app per synth:
    kubernetes-validate and the operator's schema judge the result instead.
    """
    metadata = cdk8s.ApiObjectMetadata(name=name, namespace=namespace, labels=labels)
    added = cdk8s.ApiObject(scope, id_, api_version=api_version, kind=kind, metadata=metadata)
    if fields:
        added.add_json_patch(*(cdk8s.JsonPatch.add(f"/{key}", fields[key]) for key in fields))
    return added
