"""Worker images for disaggregated serving."""

from collections.abc import Mapping
from functools import cache

from dpd.catalog.data import Fact, read


class WorkerImage(Fact):
    """One container image and the versions inside it."""

    name: str
    reference: str
    vllm: str
    lmcache: str
    nixl: str
    executable: str
    """vLLM's own command line inside the image; the image's entry point may be another."""
    source: str


@cache
def worker_images() -> Mapping[str, WorkerImage]:
    """Return the known worker images by name."""
    return {entry["name"]: WorkerImage.model_validate(entry) for entry in read("images")}
