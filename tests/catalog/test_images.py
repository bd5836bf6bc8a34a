"""Worker images."""

import pytest

from dpd.catalog import WorkerImage, worker_images
from dpd.config import DisaggregatedEndpoint


def test_two_images_and_one_is_the_default() -> None:
    """The two that the guide names."""
    assert len(worker_images()) == 2
    assert DisaggregatedEndpoint.model_fields["image"].default in worker_images()


@pytest.mark.parametrize("image", worker_images().values(), ids=worker_images())
def test_references_are_pinned(image: WorkerImage) -> None:
    """By a tag that is not `latest`, and with the versions inside."""
    tag = image.reference.rsplit("/", 1)[-1].partition(":")[2]
    assert tag not in ("", "latest")
    for version in (image.vllm, image.lmcache, image.nixl):
        assert len(version.split(".")) == 3
