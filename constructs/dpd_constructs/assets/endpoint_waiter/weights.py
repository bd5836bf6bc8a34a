"""Whether a model's weights are where the workers will look for them."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from failure import Failure

_SHARD = re.compile(r"(?P<stem>.+)-(?P<index>\d{1,6})-of-(?P<total>\d{1,6})(?P<suffix>\.\w+)")
_NAMED_IN_FULL = 3


def require_weights(s3: Any, *, bucket: str, prefix: str, upload_command: str) -> None:
    """Look at names and sizes only: the objects are encrypted and this role has no key.

    Raises:
        Failure: What is missing, and the command that uploads it.
    """
    directory = f"{prefix.strip('/')}/".removeprefix("/")
    problems = _problems(_list_files(s3, bucket=bucket, directory=directory))
    if not problems:
        return
    shown = ", ".join(problems[:_NAMED_IN_FULL])
    if len(problems) > _NAMED_IN_FULL:
        shown += f" and {len(problems) - _NAMED_IN_FULL} more"
    raise Failure(
        f"the model is not complete in s3://{bucket}/{directory}: {shown}",
        remedy=f"upload it: {upload_command}",
    )


def _list_files(s3: Any, *, bucket: str, directory: str) -> dict[str, int]:
    """Return size in bytes by name of what lies directly in the directory."""
    from botocore.exceptions import ClientError  # type: ignore[import-untyped]

    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix=directory, Delimiter="/"
    )
    try:
        return {
            entry["Key"].removeprefix(directory): entry["Size"]
            for page in pages
            for entry in page.get("Contents", [])
        }
    except ClientError as error:
        raise Failure(
            f"cannot list s3://{bucket}/{directory}: {error.response['Error']['Code']}",
            remedy="check the bucket's name and that this function has s3:ListBucket on it",
        ) from None


def _problems(files: Mapping[str, int]) -> list[str]:
    """Return what keeps vLLM from loading these files, worst first."""
    weights = _weight_files(files)
    problems = [] if "config.json" in files else ["config.json is missing"]
    if not weights:
        problems.append("weight files (*.safetensors or pytorch_model*.bin) are missing")
    problems += [f"{name} is missing" for name in _missing_shards(weights)]
    problems += [f"{name} is empty" for name in ("config.json", *weights) if files.get(name) == 0]
    return problems


def _weight_files(files: Mapping[str, int]) -> list[str]:
    """Return what vLLM would load: safetensors or, only where there are none, PyTorch files."""
    safetensors = sorted(name for name in files if name.endswith(".safetensors"))
    # Other .bin files, such as training_args.bin, hold no weights.
    return safetensors or sorted(
        name for name in files if name.startswith("pytorch_model") and name.endswith(".bin")
    )


def _missing_shards(weights: list[str]) -> list[str]:
    present: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    width: dict[tuple[str, str, str], int] = {}
    for match in filter(None, map(_SHARD.fullmatch, weights)):
        series = (match["stem"], match["total"], match["suffix"])
        present[series].add(int(match["index"]))
        width[series] = len(match["index"])
    return [
        f"{stem}-{index:0{width[stem, total, suffix]}d}-of-{total}{suffix}"
        for (stem, total, suffix), indices in present.items()
        for index in range(1, int(total) + 1)
        if index not in indices
    ]
