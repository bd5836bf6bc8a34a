"""References to one key of a Secret or ConfigMap."""

from dpd.manifest.base import ManifestModel


class KeySelector(ManifestModel):
    """One key of a Secret or ConfigMap in the endpoint's namespace."""

    name: str = ""
    """The schema allows it to be left out, but then nothing is found."""
    key: str
    optional: bool | None = None
    """Whether the Secret, ConfigMap or key may be missing."""
