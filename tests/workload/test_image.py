"""Which program an image starts."""

import pytest

from dpd.workload.image import worker_image
from tests.workload.conftest import build


@pytest.mark.parametrize(
    ("image", "reference", "vllm", "python"),
    [
        (
            "deep-learning-container",
            "public.ecr.aws/deep-learning-containers/vllm:server-hyperpod-cuda-v1.1",
            "vllm",
            "python3",
        ),
        ("lmcache", "lmcache/vllm-openai:v0.4.3", "/opt/venv/bin/vllm", "/opt/venv/bin/python3"),
        (
            "lmcache/vllm-openai:v0.4.4",
            "lmcache/vllm-openai:v0.4.4",
            "/opt/venv/bin/vllm",
            "/opt/venv/bin/python3",
        ),
        (f"r/v:1@sha256:{'0' * 64}", f"r/v:1@sha256:{'0' * 64}", "vllm", "python3"),
    ],
)
def test_images(image: str, reference: str, vllm: str, python: str) -> None:
    """By name, by another tag of a known repository, and unknown ones."""
    found = worker_image(build(image=image).endpoints[0])
    assert (found.reference, found.vllm, found.python) == (reference, vllm, python)
