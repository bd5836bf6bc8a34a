"""Manifests that people have published: each finding was looked at and is true."""

from pathlib import Path

import pytest

from dpd.rules import check_file

# By file: rule, line. What is not here is right, or cannot be known from the file.
FINDINGS: dict[str, set[tuple[str, int]]] = {
    # Role resources have GPUs only, and the worker's cpu and memory are not used; metrics are
    # switched on without a port, so the default 8080 is read where vLLM has 8000.
    "documented-dpd-manifest.yaml": {("DPD606", 31), ("DPD606", 36), ("DPD708", 23)},
    # A template for envsubst. DJL is no vLLM, so its arguments and /ping are its own business.
    "manifests/iec_dohyperpod_s3.yaml": {("DPD105", line) for line in (8, 9, 14, 15, 41)},
    "manifests/iec_genai_s3.yaml": set(),
    "manifests/iec_v1_llama31_8b_intelligent_routing.yaml": {("DPD105", 17), ("DPD105", 24)},
    # No loadBalancer at all: the default /ping is reported where spec begins.
    "manifests/iec_v1_llama31_8b_kv_cache_l1_l2.yaml": {
        *(("DPD105", line) for line in (14, 23, 25)),
        ("DPD703", 6),
    },
    # TGI, not vLLM; colocated, so ml.g5.48xlarge is allowed.
    "manifests/iec_v1_s3_modeldeployment.yaml": set(),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_are_the_true_ones(name: str, shared: Path) -> None:
    found = {(each.rule, each.line or 0) for each in check_file(shared / "data" / name)}
    assert found == FINDINGS[name]


def test_no_manifest_is_left_out(shared: Path) -> None:
    there = {f"manifests/{path.name}" for path in (shared / "data/manifests").glob("*.yaml")}
    assert there == {name for name in FINDINGS if name.startswith("manifests/")}
