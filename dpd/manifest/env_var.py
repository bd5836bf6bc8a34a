"""Environment variables of the worker container."""

from dpd.manifest.base import ManifestModel
from dpd.manifest.key_selector import KeySelector
from dpd.manifest.primitives import Quantity


class FieldSelector(ManifestModel):
    """A field of the pod, such as `status.podIP`."""

    api_version: str | None = None
    field_path: str


class FileKeySelector(ManifestModel):
    """One key of an environment file in a volume."""

    volume_name: str
    path: str
    """Relative path in the volume."""
    key: str
    optional: bool = False
    """Whether the file or key may be missing."""


class ResourceFieldSelector(ManifestModel):
    """A resource of a container, such as `limits.memory`."""

    container_name: str | None = None
    resource: str
    divisor: Quantity | None = None
    """Unit of the value. Default: 1."""


class EnvVarSource(ManifestModel):
    """Where a value comes from; exactly one of these."""

    config_map_key_ref: KeySelector | None = None
    field_ref: FieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: KeySelector | None = None


class EnvVar(ManifestModel):
    """One environment variable."""

    name: str
    value: str | None = None
    value_from: EnvVarSource | None = None
    """Cannot stand beside a `value`."""
