"""Images: which vLLM, LMCache and NIXL a worker runs, and whether that can change."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dpd.catalog import worker_images
from dpd.errors import shown
from dpd.rules import sources
from dpd.rules.finding import Severity, Violation
from dpd.rules.rule import rule
from dpd.rules.view import EndpointView

_FIRST_LMCACHE = (0, 4, 3)


class _Reference(NamedTuple):
    repository: str
    tag: str
    digest: str

    @property
    def name(self) -> str:
        """The repository without its registry's address: `lmcache/vllm-openai`."""
        first, _, rest = self.repository.partition("/")
        return rest if "." in first or ":" in first else self.repository


def _parsed(image: str) -> _Reference:
    repository, _, digest = image.partition("@")
    head, colon, tag = repository.rpartition(":")
    return (
        _Reference(head, tag, digest)
        if colon and "/" not in tag
        else _Reference(repository, "", digest)
    )


@rule(
    "DPD801",
    Severity.WARNING,
    title="The image is pinned",
    source=sources.issue("vllm-project/vllm", 45843),
)
def image_is_pinned(endpoint: EndpointView) -> Iterator[Violation]:
    """Under a moving tag a restarted worker may run another version than its partner."""
    image = _parsed(endpoint.image.value)
    is_fixed = image.digest or (re.search(r"\d", image.tag) and "latest" not in image.tag)
    if endpoint.image.value and not is_fixed:
        yield Violation(
            endpoint.image.path,
            f"given {shown(endpoint.image.value)}",
            "a tag with a version, or a digest",
            "pin it",
        )


@rule(
    "DPD802",
    Severity.ERROR,
    title="The image's LMCache is new enough for disaggregation",
    source=sources.issue("LMCache/LMCache", 2511),
)
def lmcache_is_new_enough(endpoint: EndpointView) -> Iterator[Violation]:
    """Before 0.4.3 the roles' hashes could differ, and several ranks did not work at all."""
    version = _lmcache_version(endpoint)
    if endpoint.is_disaggregated and version and version < _FIRST_LMCACHE:
        yield Violation(
            endpoint.image.path,
            f"given LMCache {'.'.join(map(str, version))}",
            "0.4.3",
            f"use {worker_images()['lmcache'].reference}",
        )


@rule(
    "DPD803",
    Severity.WARNING,
    title="The image is one that the guide names",
    source=sources.DPD_GUIDE,
)
def image_is_documented(endpoint: EndpointView) -> Iterator[Violation]:
    """The operator's settings are made for LMCache 0.4.3, vLLM 0.19.0 and NIXL 1.0.0.

    From LMCache 0.4.5 on the transfer's default mode is another one. A copy of the image in a
    registry of your own counts, as long as its name and tag are kept.
    """
    version = _lmcache_version(endpoint)
    is_judged = (version and version < _FIRST_LMCACHE) or _is_upstream(endpoint)
    if endpoint.is_disaggregated and not endpoint.known_image and not is_judged:
        yield Violation(
            endpoint.image.path,
            f"given {shown(endpoint.image.value)}",
            ", ".join(image.reference for image in worker_images().values()),
            "use one of them, or be sure of the versions in yours",
        )


@rule(
    "DPD804",
    Severity.WARNING,
    title="The image has EFA's libraries",
    source=sources.issue("vllm-project/vllm", 55783),
)
def image_has_efa(endpoint: EndpointView) -> Iterator[Violation]:
    """Transfers then go over TCP, at about 1 GB/s."""
    if endpoint.is_disaggregated and _is_upstream(endpoint):
        yield Violation(
            endpoint.image.path,
            f"given {shown(endpoint.image.value)}",
            "an image with EFA, LMCache and NIXL",
            f"use {worker_images()['deep-learning-container'].reference}",
        )


@rule(
    "DPD805",
    Severity.WARNING,
    title="The image reads its arguments",
    source=sources.COSMOS_REPORT,
)
def image_reads_arguments(endpoint: EndpointView) -> Iterator[Violation]:
    """AWS's vLLM image for SageMaker takes `SM_VLLM_*` variables and may pass arguments over."""
    image = _parsed(endpoint.image.value)
    if endpoint.is_vllm and "sagemaker" in image.tag and endpoint.arguments:
        yield Violation(
            endpoint.image.path,
            f"given arguments to {shown(endpoint.image.value)}",
            "SM_VLLM_* variables, or an image whose tag has no sagemaker",
            "use an image for servers",
        )


def _lmcache_version(endpoint: EndpointView) -> tuple[int, ...] | None:
    """Return the version of LMCache that the tag of an LMCache image names."""
    image = _parsed(endpoint.image.value)
    found = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)([.-].*|post\d+)?", image.tag)
    is_lmcache = image.name.endswith("lmcache/vllm-openai")
    return tuple(map(int, found.groups()[:3])) if found and is_lmcache else None


def _is_upstream(endpoint: EndpointView) -> bool:
    return _parsed(endpoint.image.value).name.endswith("vllm/vllm-openai")
