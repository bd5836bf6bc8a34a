"""KV cache outside GPU memory."""

from typing import Annotated

from pydantic import Field

from dpd.manifest.base import ManifestModel


class L2CacheSpec(ManifestModel):
    """A cache shared by the workers."""

    l2_cache_backend: Annotated[str, Field(pattern="(?i)redis|tieredstorage")] | None = None
    """Necessary wherever this object is written, though the schema does not say so."""
    l2_cache_local_url: str | None = None


class KvCacheSpec(ManifestModel):
    """Offloading of the KV cache: L1 is the host's memory, L2 is shared."""

    enable_l1_cache: bool = True
    enable_l2_cache: bool = False
    l2_cache_spec: L2CacheSpec | None = None
    cache_config_file: str | None = None
    """Path in the container; what it says wins over the rest of this object."""
