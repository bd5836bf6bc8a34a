"""Name, namespace, labels and annotations."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from dpd.manifest.base import ManifestModel
from dpd.manifest.primitives import DnsName

Namespace = Annotated[str, Field(max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
LabelValue = Annotated[
    str, Field(max_length=63, pattern="^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")
]


class ObjectMeta(ManifestModel):
    """What we say about the object; the API server's own metadata is none of our business."""

    name: DnsName
    namespace: Namespace | None = None
    labels: Mapping[str, LabelValue] | None = None
    annotations: Mapping[str, str] | None = None
