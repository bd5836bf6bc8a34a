"""What has to lie in the bucket before two GPU nodes are asked to load it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given, settings
from hypothesis import strategies as st

COMMAND = "dpd upload -c env=prod --model llama"
SHARD = "model-{:05d}-of-00030.safetensors"
SHARDS = [SHARD.format(i) for i in range(1, 31)]
Files = Mapping[str, int]


@pytest.fixture(scope="module")
def s3() -> Any:
    """A client that cannot reach anything."""
    return boto3.client(
        "s3", region_name="us-east-2", aws_access_key_id="none", aws_secret_access_key="none"
    )


@contextmanager
def _bucket(s3: Any, pages: Sequence[Files], *, prefix: str = "models/llama/") -> Iterator[None]:
    """Serve these pages of names and sizes; anything else that is asked is an error."""
    with Stubber(s3) as stub:
        for number, page in enumerate(pages):
            request: dict[str, Any] = {"Bucket": "weights", "Prefix": prefix, "Delimiter": "/"}
            answer: dict[str, Any] = {"IsTruncated": number + 1 < len(pages)}
            if number:
                request["ContinuationToken"] = f"page-{number}"
            if answer["IsTruncated"]:
                answer["NextContinuationToken"] = f"page-{number + 1}"
            if page:
                answer["Contents"] = [
                    {"Key": prefix + name, "Size": size} for name, size in page.items()
                ]
            stub.add_response("list_objects_v2", answer, request)
        yield
        stub.assert_no_pending_responses()


def _require(waiter: Any, s3: Any, *, prefix: str = "models/llama") -> None:
    waiter.weights.require_weights(s3, bucket="weights", prefix=prefix, upload_command=COMMAND)


def _refusal(waiter: Any, s3: Any, files: Files) -> str:
    with _bucket(s3, [files]), pytest.raises(waiter.failure.Failure) as caught:
        _require(waiter, s3)
    text = str(caught.value)
    assert text.startswith("the model is not complete in s3://weights/models/llama/: ")
    assert text.endswith(f"; upload it: {COMMAND}")
    assert "\n" not in text
    return text.partition("llama/: ")[2].partition("; upload it")[0]


def _files(*names: str, size: int = 7) -> dict[str, int]:
    return dict.fromkeys(names, size)


@pytest.mark.parametrize(
    "names",
    [
        ["model.safetensors"],
        SHARDS,
        ["pytorch_model.bin"],
        ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"],
        # Two sets beside each other, and one that also has a number 0.
        ["consolidated.safetensors", "model-1-of-2.safetensors", "model-2-of-2.safetensors"],
        [
            "m-00000-of-00002.safetensors",
            "m-00001-of-00002.safetensors",
            "m-00002-of-00002.safetensors",
        ],
    ],
)
def test_complete_model_is_accepted(waiter: Any, s3: Any, names: list[str]) -> None:
    """Whole, in pieces, or in the older format."""
    with _bucket(s3, [_files("config.json", *names)]):
        _require(waiter, s3)


@pytest.mark.parametrize("prefix", ["models/llama", "models/llama/", "/models/llama/"])
def test_prefix_is_a_folder(waiter: Any, s3: Any, prefix: str) -> None:
    """`models/llama` is not the beginning of `models/llama-2`."""
    with _bucket(s3, [_files("config.json", *SHARDS)]):
        _require(waiter, s3, prefix=prefix)


def test_bucket_itself_can_be_the_folder(waiter: Any, s3: Any) -> None:
    """An empty prefix."""
    with _bucket(s3, [_files("config.json", *SHARDS)], prefix=""):
        _require(waiter, s3, prefix="")


@settings(derandomize=True, deadline=None, database=None)
@given(cuts=st.sets(st.integers(1, 30), max_size=4))
def test_pages_are_put_together(waiter: Any, s3: Any, cuts: set[int]) -> None:
    """However S3 cuts the list."""
    names = ["config.json", *SHARDS]
    edges = [0, *sorted(cuts), len(names)]
    pages = [_files(*names[a:b]) for a, b in pairwise(edges)]
    with _bucket(s3, pages):
        _require(waiter, s3)


@settings(derandomize=True, deadline=None, database=None)
@given(missing=st.sets(st.integers(1, 30), min_size=1, max_size=29))
def test_missing_shards_are_named(waiter: Any, s3: Any, missing: set[int]) -> None:
    """The first three, and how many more."""
    present = [SHARD.format(i) for i in range(1, 31) if i not in missing]
    text = _refusal(waiter, s3, _files("config.json", *present))
    first = [f"{SHARD.format(i)} is missing" for i in sorted(missing)[:3]]
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    assert text == ", ".join(first) + more


@pytest.mark.parametrize("name", ["config.json", SHARDS[16]])
def test_empty_file_is_named(waiter: Any, s3: Any, name: str) -> None:
    """An upload that broke off leaves one."""
    files = _files("config.json", *SHARDS) | {name: 0}
    assert _refusal(waiter, s3, files) == f"{name} is empty"


def test_missing_configuration_is_named(waiter: Any, s3: Any) -> None:
    """Workers read it first."""
    assert _refusal(waiter, s3, _files(*SHARDS)) == "config.json is missing"


@pytest.mark.parametrize(
    "files",
    [
        {"config.json": 7},
        {"config.json": 7, "training_args.bin": 7, "optimizer.bin": 7},
        {"config.json": 7, "model.safetensors.index.json": 7, "model.gguf": 7},
    ],
)
def test_missing_weights_are_named(waiter: Any, s3: Any, files: Files) -> None:
    """Not every .bin file holds weights."""
    assert "weight files (*.safetensors or pytorch_model*.bin) are missing" in _refusal(
        waiter, s3, files
    )


def test_empty_folder_is_refused(waiter: Any, s3: Any) -> None:
    """What a person sees who has uploaded nothing."""
    text = _refusal(waiter, s3, {})
    assert "config.json is missing" in text
    assert "weight files" in text


def test_unused_format_is_not_judged(waiter: Any, s3: Any) -> None:
    """Workers prefer safetensors and ignore the rest."""
    with _bucket(s3, [_files("config.json", *SHARDS, "pytorch_model-00001-of-00009.bin")]):
        _require(waiter, s3)


@pytest.mark.parametrize("code", ["NoSuchBucket", "AccessDenied"])
def test_unreadable_bucket_fails_in_one_line(waiter: Any, s3: Any, code: str) -> None:
    """With the code that S3 gave."""
    with Stubber(s3) as stub:
        stub.add_client_error("list_objects_v2", code)
        with pytest.raises(waiter.failure.Failure, match=rf"s3://weights/models/llama/: {code};"):
            _require(waiter, s3)
