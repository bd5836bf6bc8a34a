"""What a manifest is known to say, and what is left open."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.errors import UserError
from dpd.rules import check_text
from dpd.rules.manifest_view import manifest_view
from dpd.rules.rule import violations
from dpd.rules.view import quantity

HERE = Path(__file__).parent
MANIFEST = yaml.safe_load((HERE / "files/disaggregated.yaml").read_text(encoding="utf-8"))


def manifest(**spec: Any) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(yaml.safe_dump(MANIFEST))
    data["spec"] |= spec
    return data


@pytest.mark.parametrize(
    ("name", "location", "architecture"),
    [
        ("Llama-3.3-70B-Instruct", "Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("Llama-3.1-8B-Instruct", "llama31_8b", "llama-3.1-8b"),
        ("Meta-Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct", "llama-3.3-70b"),
        ("chat", "models/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"),
        ("DeepSeek-V3-0324", "weights", "deepseek-v3"),
    ],
)
def test_architecture_follows_from_the_name(name: str, location: str, architecture: str) -> None:
    source = {"modelSourceType": "s3", "modelLocation": location}
    view = manifest_view(manifest(modelName=name, modelSourceConfig=source))
    assert view.architecture
    assert view.architecture.name == architecture


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("DeepSeek-R1-Distill-Llama-70B", "weights"),
        ("sm-model-name", "llama-70b"),
        ("Llama-3.1-8B-Instruct", "llama-3.1-70b"),
        ("deepseek15b", "deepseek15b"),
        ("Llama-3.1-8B-Vision", "x"),
    ],
)
def test_architecture_stays_open_where_names_do_not_say(name: str, location: str) -> None:
    source = {"modelSourceType": "s3", "modelLocation": location}
    assert manifest_view(manifest(modelName=name, modelSourceConfig=source)).architecture is None


@pytest.mark.parametrize(
    ("name", "args", "weight_format"),
    [
        ("Llama-3.3-70B-Instruct", [], "bfloat16"),
        ("my-own-model", [], "auto"),
        ("DeepSeek-V3", [], "fp8"),
        ("DeepSeek-R1", ["--dtype", "bfloat16"], "fp8"),
        ("DeepSeek-R1-BF16", [], "bfloat16"),
        ("Kimi-K2-Instruct", ["--quantization", "auto"], "fp8"),
        ("gpt-oss-120b", [], "mxfp4"),
        ("Llama-3.3-70B-Instruct", ["--dtype", "half"], "float16"),
        ("Llama-3.3-70B-Instruct", ["--quantization", "fp8"], "fp8"),
        ("Llama-3.3-70B-Instruct", ["-q", "bitsandbytes"], None),
        ("Llama-3.3-70B-Instruct-FP8", [], "fp8"),
        ("Llama-3.3-70B-Instruct-AWQ", [], None),
    ],
)
def test_weight_format_is_known_or_open(
    name: str, args: list[str], weight_format: str | None
) -> None:
    data = manifest(modelName=name)
    data["spec"]["modelSourceConfig"]["modelLocation"] = name
    data["spec"]["worker"]["args"] += args
    assert manifest_view(data).weight_format == weight_format


def test_a_roles_argument_replaces_that_of_all_workers() -> None:
    data = manifest()
    data["spec"]["pdSpec"]["decodingSpec"]["args"] = ["--max-model-len", "8192"]
    view = manifest_view(data)
    assert view.prefill
    assert view.decode
    assert view.prefill.number("max-model-len", None) == (16384, ("spec", "worker", "args", 6))
    assert view.decode.number("max-model-len", None) == (
        8192,
        ("spec", "pdSpec", "decodingSpec", "args", 0),
    )


def test_arguments_in_the_command_count() -> None:
    """Those of a shell do not: what it makes of them is its own business."""
    data = manifest()
    worker = data["spec"]["worker"]
    worker |= {"command": ["vllm", "serve", "/opt/ml/model", "-tp", "4"], "args": ["--seed", "1"]}
    decode = manifest_view(data).decode
    assert decode
    assert decode.tensor_parallel == (4, ("spec", "worker", "command", 3))
    assert decode.flags["seed"].value == "1"
    worker |= {"command": ["sh", "-c"], "args": ["exec vllm serve --port $PORT"]}
    assert not manifest_view(data).is_vllm


def test_what_stands_in_a_file_is_open() -> None:
    data = manifest()
    data["spec"]["worker"]["args"] = ["--config", "/etc/vllm.yaml", "-tp", "8"]
    decode = manifest_view(data).decode
    assert decode
    assert decode.number("max-model-len", 1) is None
    assert decode.tensor_parallel


@pytest.mark.parametrize(
    ("text", "amount"),
    [("8", 8), ("1024Gi", 2**40), ("500m", 1), ("1.5Gi", 3 * 2**29), ("2k", 2000)],
)
def test_quantities_are_read(text: str, amount: int) -> None:
    assert quantity(text) == amount


@pytest.mark.parametrize("text", ["", "Gi", "8GiB", "1e999", "x", "8 Gi"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert quantity(text) is None


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside),
    max_leaves=6,
)
PLACES = [
    ("spec",),
    ("metadata",),
    ("metadata", "name"),
    *(("spec", key) for key in MANIFEST["spec"]),
    *(("spec", "worker", key) for key in MANIFEST["spec"]["worker"]),
    *(("spec", "pdSpec", key) for key in MANIFEST["spec"]["pdSpec"]),
    *(
        ("spec", "pdSpec", "decodingSpec", key)
        for key in ("args", "resources", "replicas", "nodeSelector")
    ),
    *(("spec", key) for key in ("instanceTypes", "kubernetes", "tlsConfig", "autoScalingSpec")),
    *(("spec", "worker", key) for key in ("probes", "requestLimits", "command")),
]


@settings(derandomize=True, deadline=None)
@given(place=st.sampled_from(PLACES), value=ANY)
def test_rules_survive_any_value_anywhere(place: tuple[str, ...], value: Any) -> None:
    """Types are the schema's concern; rules look past what they cannot read."""
    data = manifest()
    node = data
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    for _, violation in violations(manifest_view(data)):
        assert violation.given
    try:
        found = check_text(json.dumps(data).encode(), name="m.json")
    except UserError as error:  # Such as a number that JSON readers do not agree on.
        told = list(error.lines)
    else:
        told = [str(each) for each in found]
    assert all(line.isprintable() for line in told)


def test_flags_of_sagemakers_images_are_variables() -> None:
    """Those are known, and no others: nothing is judged by vLLM's defaults."""
    data = manifest()
    worker = data["spec"]["worker"]
    del worker["args"]
    worker["environmentVariables"] += [
        {"name": "SM_VLLM_TENSOR_PARALLEL_SIZE", "value": "8"},
        {"name": "SM_VLLM_ENFORCE_EAGER", "value": "true"},
        {"name": "SM_VLLM_ENABLE_PREFIX_CACHING", "value": "false"},
    ]
    view = manifest_view(data)
    assert view.is_for_sagemaker
    assert view.decode
    assert view.decode.tensor_parallel == (
        8,
        ("spec", "worker", "environmentVariables", 3, "value"),
    )
    assert view.decode.flags["enforce-eager"].value == "true"
    assert view.decode.flags["enable-prefix-caching"].value == "false"
    assert view.decode.number("max-model-len", 1) is None
    assert view.arguments == ()


def test_an_image_for_sagemaker_has_open_flags() -> None:
    """By its tag, even if no variable shows."""
    data = manifest()
    data["spec"]["worker"] |= {"image": "x/vllm:0.11.0-gpu-sagemaker-v1", "args": []}
    view = manifest_view(data)
    assert view.decode
    assert view.decode.tensor_parallel is None


@pytest.mark.parametrize(
    ("sizes", "is_even"),
    [
        (("8", "8"), True),
        (("6", "6"), False),
        (("4", "8"), False),
        (("16", "16"), False),
        (("0", "0"), False),
    ],
)
def test_uneven_sizes_are_known_to_be_so(sizes: tuple[str, str], is_even: bool) -> None:
    """64 heads, 8 GPUs in a node, one size for both roles."""
    data = manifest()
    for role, size in zip(("prefillSpec", "decodingSpec"), sizes, strict=True):
        data["spec"]["pdSpec"][role]["args"] = ["-tp", size]
    assert manifest_view(data).is_evenly_divided == is_even
