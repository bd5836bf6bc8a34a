"""Raw spec fields laid over a spec."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dpd.manifest.endpoint_config import InferenceEndpointSpec
from dpd.manifest.overrides import merge_overrides, override_spec

SCALARS = st.one_of(st.booleans(), st.integers(), st.text(max_size=3))
DETERMINISTIC = settings(derandomize=True, database=None)
KEYS = st.sampled_from("abc")
WITHOUT_NULL = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS | st.lists(SCALARS, max_size=2),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=3,
)
WITH_NULL = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS | st.none() | st.lists(SCALARS, max_size=2),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=3,
)


def spec() -> InferenceEndpointSpec:
    return InferenceEndpointSpec.from_manifest(
        {
            "modelName": "llama",
            "instanceType": "ml.p5.48xlarge",
            "modelSourceConfig": {"modelSourceType": "s3"},
            "loadBalancer": {"healthCheckPath": "/health"},
            "pdSpec": {
                "prefillSpec": {"args": ["--enforce-eager"], "replicas": 2},
                "decodingSpec": {},
                "routingThreshold": 4096,
            },
            "worker": {
                "image": "vllm",
                "modelInvocationPort": {"containerPort": 8000},
                "modelVolumeMount": {"name": "model-weights"},
                "resources": {},
            },
        }
    )


@pytest.mark.parametrize(
    ("below", "above", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_cases_of_rfc_7396(below: Any, above: Any, merged: Any) -> None:
    """Those of the RFC's appendix A that are about objects."""
    assert merge_overrides(below, above) == merged


@DETERMINISTIC
@given(below=WITHOUT_NULL, above=WITH_NULL)
def test_merging_twice_is_merging_once(below: Any, above: Any) -> None:
    """What was laid over once is not changed by doing it again, nor are the arguments."""
    before = copy.deepcopy((below, above))
    once = merge_overrides(below, above)
    assert merge_overrides(once, above) == once
    assert (below, above) == before


@DETERMINISTIC
@given(data=WITHOUT_NULL)
def test_nothing_laid_over_changes_nothing(data: Any) -> None:
    """Empty overrides keep the spec, and overrides over nothing are themselves."""
    assert merge_overrides(data, {}) == data == merge_overrides({}, data)


def test_a_deep_field_is_set_and_its_neighbours_stay() -> None:
    """Mappings merge, lists replace."""
    overrides = {"pdSpec": {"prefillSpec": {"args": ["--max-num-seqs", "32"]}}, "replicas": 2}
    changed = override_spec(spec(), overrides)
    assert changed.pd_spec is not None
    assert changed.pd_spec.prefill_spec.args == ("--max-num-seqs", "32")
    assert changed.pd_spec.prefill_spec.replicas == 2
    assert changed.pd_spec.routing_threshold == 4096
    assert changed.replicas == 2


def test_null_removes_a_field() -> None:
    """A removed field is as if never set; removing what is not there does no harm."""
    overrides = {"loadBalancer": None, "tlsConfig": None, "pdSpec": {"routingThreshold": None}}
    written = override_spec(spec(), overrides).to_manifest()
    assert "loadBalancer" not in written
    assert "routingThreshold" not in written["pdSpec"]


@pytest.mark.parametrize(
    ("overrides", "path", "message"),
    [
        ({"pdSpec": {"routingTreshold": 1}}, ("pdSpec", "routingTreshold"), "'routingThreshold'"),
        (
            {"pdSpec": {"routingTreshold": None}},
            ("pdSpec", "routingTreshold"),
            "'routingThreshold'",
        ),
        ({"loadBalancr": {"path": None}}, ("loadBalancr",), "'loadBalancer'"),
        ({"pdSpec": {"routingThreshold": "1"}}, ("pdSpec", "routingThreshold"), "integer"),
        ({"worker": None}, ("worker",), "required"),
        ({"worker": {"image": None}}, ("worker", "image"), "required"),
        ({"pdSpec": ["a"]}, ("pdSpec",), "mapping"),
    ],
)
def test_overrides_are_checked_like_any_spec(
    overrides: dict[str, Any], path: tuple[str, ...], message: str
) -> None:
    """One error with the path of the field; null hides no wrong name."""
    with pytest.raises(ValidationError) as caught:
        override_spec(spec(), overrides)
    [error] = caught.value.errors()
    assert error["loc"] == path
    assert message in error["msg"]


def test_null_below_an_untyped_mapping_is_no_wrong_name() -> None:
    """Resource names and Kubernetes' own objects are not ours to know."""
    overrides = {"worker": {"resources": {"limits": {"cpu": None}}}, "nodeAffinity": {"a": None}}
    written = override_spec(spec(), overrides).to_manifest()
    assert written["worker"]["resources"] == {"limits": {}}
    assert written["nodeAffinity"] == {}
