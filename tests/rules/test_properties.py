"""What passes the check also synthesizes; what is refused is refused by name.

`DPD_EXAMPLES=2000 pytest tests/rules/test_properties.py` tries more, and others each time.
"""

import copy
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpd.catalog import instance_types, model_architectures, worker_images
from dpd.config.loader import environment_from
from dpd.config.source import parse_documents
from dpd.rules import Finding, Severity, check_environment, check_text

NIGHTLY = "DPD_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("DPD_EXAMPLES", "100"))
SYNTHS = 200 if NIGHTLY else 10
KUBERNETES = "1.34"
ROOT = Path(__file__).parents[2]
SHIPPED = [
    yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "environments").glob("*.yaml"))
]
NAME = "tried"
Data = dict[str, Any]
Path_ = tuple[str | int, ...]

often = settings(
    max_examples=EXAMPLES,
    derandomize=not NIGHTLY,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
seldom = settings(often, max_examples=SYNTHS)

ROLE_ARGS = st.sampled_from(
    [
        [],
        ["--max-num-seqs", "16"],
        ["--gpu-memory-utilization", "0.7"],
        ["--enforce-eager"],
        ["--max-num-seq", "16"],
        ["--kv-transfer-config", "{}"],
    ]
)
ARGS = st.sampled_from(
    [
        [],
        ["--max-num-seqs=8"],
        ["--kv-cache-dtype", "fp8"],
        ["--no-enable-prefix-caching"],
        ["--port", "9000"],
        ["--block-size", "x"],
    ]
)
VARIABLES = st.sampled_from(
    [{}, {"HF_TOKEN": "a"}, {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": ""}, {"LMCACHE_X": "1"}]
)
OVERRIDES = st.sampled_from(
    [
        {},
        {"maxDeployTimeInSeconds": 1800},
        {"loadBalancer": {"healthCheckPath": "/ping"}},
        {"worker": {"probes": {"livenessProbe": {"httpGet": {"path": "/health", "port": 8000}}}}},
        {"pdSpec": {"topologySpec": {"sameAZ": False}}},
        {"nodeAffinity": {}},
        {"replica": 2},
    ]
)


@st.composite
def environments(draw: st.DrawFn) -> Data:
    """An environment that may well be right."""
    group_names = draw(st.sampled_from([("prefill", "decode"), ("gpu", "gpu2"), ("a", "b")]))
    first = draw(st.sampled_from(sorted(instance_types())))
    second = draw(st.sampled_from([first, *sorted(instance_types())]))
    architecture = draw(
        st.sampled_from(["llama-3.3-70b", "llama-3.1-8b", *sorted(model_architectures())])
    )
    is_large = model_architectures()[architecture].parameters > 20e9
    region, zone = draw(st.sampled_from([("us-east-2", "use2"), ("eu-west-1", "euw1")]))
    endpoint: Data = {
        "name": draw(st.sampled_from(["chat", "a", "summaries-of-long-texts"])),
        "model": "model",
        "tensorParallelSize": draw(st.sampled_from([8] if is_large else [1, 2, 4, 8])),
        "maxModelLenTokens": draw(st.sampled_from([8192, 16384, 32768])),
        "gpuMemoryUtilization": draw(st.sampled_from([0.6, 0.75, 0.9])),
        "image": draw(st.sampled_from([*worker_images(), "own/vllm:1.0"])),
        "cpu": draw(st.integers(1, 200)),
        "requestEfaDevices": draw(st.booleans()),
        "args": draw(ARGS),
        "environmentVariables": draw(VARIABLES),
        "overrides": draw(OVERRIDES),
    }
    if draw(st.booleans()):
        endpoint |= {
            "topology": "disaggregated",
            "prefill": {
                "instanceGroup": group_names[0],
                "replicas": draw(st.integers(1, 4)),
                "args": draw(ROLE_ARGS),
            },
            "decode": {"instanceGroup": group_names[1], "args": draw(ROLE_ARGS)},
            "routing": {
                "thresholdTokens": draw(st.integers(0, 9000)),
                "strategy": draw(st.sampled_from(["prefixaware", "kvaware", "roundrobin"])),
            },
            "kvTransfer": {"bufferSize": f"{draw(st.sampled_from([1, 4, 8, 16]))}GiB"},
        }
    else:
        workers = {"instanceGroup": group_names[0], "replicas": draw(st.integers(1, 4))}
        endpoint |= {"topology": "colocated", "workers": workers}
    return {
        "account": "111122223333",
        "region": region,
        "network": {
            "vpcCidr": "10.192.0.0/16",
            "publicSubnet": {"availabilityZoneId": f"{zone}-az1", "cidr": "10.192.0.0/24"},
            "systemSubnets": [
                {"availabilityZoneId": f"{zone}-az1", "cidr": "10.192.16.0/20"},
                {"availabilityZoneId": f"{zone}-az2", "cidr": "10.192.32.0/20"},
            ],
            "gpuSubnet": {"availabilityZoneId": f"{zone}-az1", "cidr": "10.1.0.0/16"},
        },
        "cluster": {
            "instanceGroups": [
                {"name": group_names[0], "instanceType": first},
                {"name": group_names[1], "instanceType": second},
            ]
        },
        "models": [{"name": "model", "architecture": architecture}],
        "endpoints": [endpoint],
    }


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of every value of a file, lists and mappings included."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))


WORDS = [
    *(
        "",
        "x",
        "no",
        "8",
        "8GiB",
        "-1",
        "$NAME",
        "<NAME>",
        "a b",
        "a" * 70,
        "ünïcode",
        "10.0.0.0/8",
    ),
    *("us-west-2", "use2-az3", "ml.g5.48xlarge", "lmcache", "vllm/vllm-openai:latest", "qwen3-32b"),
    *instance_types(),
    *model_architectures(),
]
JUNK: list[Any] = [None, True, False, 0, -1, 1, 3, 64, 2**31, 0.5, -2.5, [], {}, ["x"], {"x": 1}]


@st.composite
def mutants(draw: st.DrawFn) -> tuple[Data, Path_, Any, Any]:
    """A right environment with one field changed, renamed or removed: data, path, old, new."""
    data = copy.deepcopy(draw(st.sampled_from(SHIPPED) | environments()))
    assume(not errors(data))
    path = draw(st.sampled_from(list(leaves(data))))
    node = data
    for key in path[:-1]:
        node = node[key]
    old, last = node[path[-1]], path[-1]
    how = draw(st.sampled_from(["change", "change", "change", "remove", "rename"]))
    if how == "remove":
        node.pop(last)
        return data, path, old, None
    if how == "rename" and isinstance(last, str):
        new_key = last + draw(st.sampled_from(["s", "x", " "]))
        node[new_key] = node.pop(last)
        return data, (*path[:-1], new_key), old, old
    choices = [st.sampled_from(WORDS), st.sampled_from(JUNK)]
    if isinstance(old, int) and not isinstance(old, bool):
        choices.append(st.sampled_from([old - 1, old + 1, old * 2, old // 2]))
    if isinstance(old, str):
        choices.append(st.sampled_from([old + "x", old.upper(), old[1:]]))
    node[last] = draw(st.one_of(choices))
    return data, path, old, node[last]


def text_of(data: Data) -> bytes:
    # Not YAML: its writer makes aliases of what is there twice.
    return json.dumps(data, indent=1).encode()


def errors(data: Data) -> list[Finding]:
    found = check_text(text_of(data), name=f"{NAME}.yaml")
    return [each for each in found if each.severity is Severity.ERROR]


def loaded(data: Data) -> Any:
    (source,) = parse_documents(text_of(data), name=f"{NAME}.yaml")
    return environment_from(source, name=NAME)


def letters(value: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(value).casefold())


def names(finding: Finding, path: Path_, old: Any, new: Any) -> bool:
    """Return whether a finding tells of a field by its key, or of the value that is wrong."""
    told = letters(f"{finding.path} {finding.message} {finding.fix}")
    keys = [key for key in path if isinstance(key, str)]
    values = [value for value in (old, new) if isinstance(value, int | float | str)]
    return letters(keys[-1]).removesuffix("s") in told or any(
        letters(value) in told for value in values if value
    )


@often
@given(data=environments())
def test_what_passes_makes_right_manifests(data: Data, judge: Any) -> None:
    assume(not errors(data))
    environment = loaded(data)
    assert not [each for each in check_environment(environment) if each.severity is Severity.ERROR]
    judge(environment)


@often
@given(mutant=mutants())
def test_a_changed_field_passes_or_is_named(
    mutant: tuple[Data, Path_, Any, Any], judge: Any
) -> None:
    data, path, old, new = mutant
    found = errors(data)
    if found:
        assert any(names(each, path, old, new) for each in found), [str(each) for each in found]
    else:
        judge(loaded(data))


@seldom
@given(data=environments() | mutants().map(lambda mutant: mutant[0]))
def test_what_passes_synthesizes(data: Data, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The CDK takes it, and Kubernetes everything that is written to dist/."""
    cdk, build_environment = built("aws_cdk"), built("stacks").build_environment
    assume(not errors(data))
    environment = loaded(data)
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("cdk")), context=context)
    build_environment(app, environment=environment)
    assert app.synth().stacks
    for documents in built("k8s.__main__").manifests(environment).values():
        for document in documents:
            if document["kind"] != "InferenceEndpointConfig":
                kubernetes_validate.validate(document, KUBERNETES, strict=True)


def built(module: str) -> Any:
    """Return a module of what is built on the core, which need not be installed."""
    return pytest.importorskip(module)
