"""Manifests as people write them go through the models unchanged."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from dpd.manifest.base import ManifestModel
from dpd.manifest.disaggregation import PdSpec, RoleSpec
from dpd.manifest.endpoint_config import InferenceEndpointConfig, InferenceEndpointSpec
from dpd.manifest.env_var import EnvVar
from dpd.manifest.kv_cache import KvCacheSpec
from dpd.manifest.metadata import ObjectMeta
from dpd.manifest.metrics import MetricsConfig
from dpd.manifest.model_source import ModelSourceConfig, S3Storage
from dpd.manifest.names import fields_at
from dpd.manifest.resources import ResourceRequirements
from dpd.manifest.routing import IntelligentRoutingSpec, LoadBalancer
from dpd.manifest.worker import ModelInvocationPort, ModelVolumeMount, Worker

DATA = Path(__file__).resolve().parents[2].parent / "shared/data"
MANIFESTS = [
    path
    for path in (DATA / "documented-dpd-manifest.yaml", *sorted(DATA.glob("manifests/*_v1_*.yaml")))
    if path.is_file()
]
PLACEHOLDERS = {
    # The pattern refuses it; the comment beside it in the manifests gives this example.
    "<PLACEHOLDER_TLS_CERT_S3_URI>": "s3://tls-certs-bucket/certs",
}


def filled(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: filled(value) for key, value in data.items()}
    if isinstance(data, list):
        return [filled(value) for value in data]
    return PLACEHOLDERS.get(data, data) if isinstance(data, str) else data


def documented_endpoint() -> InferenceEndpointConfig:
    gpus = ResourceRequirements(requests={"nvidia.com/gpu": "8"}, limits={"nvidia.com/gpu": "8"})
    all_of_it = {"cpu": "96", "memory": "1024Gi", "nvidia.com/gpu": "8"}
    return InferenceEndpointConfig(
        metadata=ObjectMeta(name="dpd-test", namespace="default"),
        spec=InferenceEndpointSpec(
            endpoint_name="dpd-test",
            instance_type="ml.p5.48xlarge",
            invocation_endpoint="v1/chat/completions",
            model_name="Llama-3.3-70B-Instruct",
            model_source_config=ModelSourceConfig(
                model_source_type="s3",
                model_location="Llama-3.3-70B-Instruct",
                s3_storage=S3Storage(bucket_name="example-models", region="us-east-2"),
            ),
            load_balancer=LoadBalancer(health_check_path="/health"),
            metrics=MetricsConfig(enabled=True),
            kv_cache_spec=KvCacheSpec(enable_l1_cache=True),
            intelligent_routing_spec=IntelligentRoutingSpec(
                enabled=True, routing_strategy="prefixaware"
            ),
            pd_spec=PdSpec(
                prefill_spec=RoleSpec(replicas=1, resources=gpus),
                decoding_spec=RoleSpec(replicas=1, resources=gpus),
                routing_threshold=4096,
            ),
            worker=Worker(
                image="public.ecr.aws/deep-learning-containers/vllm:server-hyperpod-cuda-v1.1",
                args=(
                    *("--model", "/opt/ml/model", "--host", "0.0.0.0", "--port", "8000"),
                    *("--tensor-parallel-size", "8", "--max-model-len", "16384"),
                    *("--gpu-memory-utilization", "0.75"),
                ),
                model_invocation_port=ModelInvocationPort(name="http", container_port=8000),
                model_volume_mount=ModelVolumeMount(
                    name="model-weights", mount_path="/opt/ml/model"
                ),
                resources=ResourceRequirements(requests=all_of_it, limits=all_of_it),
                environment_variables=(
                    EnvVar(name="HF_HOME", value="/tmp/hf_home"),
                    EnvVar(name="PD_BUFFER_SIZE", value="8589934592"),
                    EnvVar(name="LMCACHE_SAVE_DECODE_CACHE", value="False"),
                    EnvVar(name="PYTHONHASHSEED", value="0"),
                ),
            ),
        ),
    )


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
@pytest.mark.skipif(not MANIFESTS, reason="no manifests beside the repository (../shared/data)")
def test_a_manifest_comes_back_as_it_was(path: Path) -> None:
    """Reading and writing loses nothing and adds nothing."""
    data = filled(yaml.safe_load(path.read_text()))
    assert InferenceEndpointConfig.from_manifest(data).to_manifest() == data


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
@pytest.mark.skipif(not MANIFESTS, reason="no manifests beside the repository (../shared/data)")
def test_a_placeholder_is_refused_where_the_schema_has_a_pattern(path: Path) -> None:
    """Filling placeholders hides nothing but the one field whose pattern refuses them."""
    data = yaml.safe_load(path.read_text())
    if "tlsConfig" not in data["spec"]:
        InferenceEndpointConfig.from_manifest(data)
        return
    with pytest.raises(ValidationError) as caught:
        InferenceEndpointConfig.from_manifest(data)
    assert [error["loc"] for error in caught.value.errors()] == [
        ("spec", "tlsConfig", "tlsCertificateOutputS3Uri")
    ]


@pytest.mark.skipif(not MANIFESTS, reason="no manifests beside the repository (../shared/data)")
def test_the_documented_endpoint_built_in_python() -> None:
    """Attribute names build what the documentation shows."""
    documented = yaml.safe_load((DATA / "documented-dpd-manifest.yaml").read_text())
    assert documented_endpoint().to_manifest() == documented


def test_what_is_written_can_be_read_again() -> None:
    """A built endpoint equals itself after a trip through JSON."""
    endpoint = documented_endpoint()
    data = json.loads(json.dumps(endpoint.to_manifest()))
    assert InferenceEndpointConfig.from_manifest(data) == endpoint


def test_only_what_was_set_is_written() -> None:
    """An explicit default stays; a default or None that nobody asked for does not appear."""
    role = RoleSpec(resources=ResourceRequirements(), node_selector=None)
    explicit = PdSpec(prefill_spec=role, decoding_spec=role, routing_threshold=4096)
    implicit = PdSpec(prefill_spec=role, decoding_spec=role)
    assert explicit.routing_threshold == implicit.routing_threshold
    assert implicit.to_manifest() == {
        "prefillSpec": {"resources": {}},
        "decodingSpec": {"resources": {}},
    }
    assert explicit.to_manifest() == {**implicit.to_manifest(), "routingThreshold": 4096}


def test_keys_stand_in_order_of_declaration() -> None:
    """The order of the input does not show in the output."""

    def backwards(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: backwards(data[key]) for key in reversed(data)}
        return data

    written = documented_endpoint().to_manifest()
    read = InferenceEndpointConfig.from_manifest(backwards(written)).to_manifest()
    assert list(written) == list(read) == ["apiVersion", "kind", "metadata", "spec"]
    assert list(read["spec"]) == list(written["spec"])
    assert next(iter(read["spec"])) == "modelName"
    assert list(read["spec"]["pdSpec"]) == ["prefillSpec", "decodingSpec", "routingThreshold"]


def test_models_are_frozen() -> None:
    """A manifest cannot be changed behind somebody's back."""
    with pytest.raises(ValidationError, match="frozen"):
        documented_endpoint().spec.__setattr__("replicas", 2)


def test_every_model_is_part_of_an_endpoint() -> None:
    """Nothing is modelled that no manifest can hold."""
    reached: set[type[BaseModel]] = {InferenceEndpointConfig}
    pending: list[type[BaseModel]] = [InferenceEndpointConfig]
    while pending:
        inner = set(fields_at(pending.pop(), ()).values()) - reached - {None}
        reached |= {model for model in inner if model}
        pending += [model for model in inner if model]
    assert {model for model in subclasses(ManifestModel) if model.__module__ != __name__} == reached


def subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """All of them, at every remove."""
    for each in model.__subclasses__():
        yield each
        yield from subclasses(each)


def test_import_builds_no_validators_and_loads_nothing_heavy() -> None:
    """The command line pays for manifests only when it reads one."""
    code = (
        "import sys\n"
        "from dpd.manifest.base import ManifestModel\n"
        "import dpd.manifest.endpoint_config\n"
        "models = ManifestModel.__subclasses__()\n"
        "built = [m for m in models if m.__pydantic_complete__]\n"
        "heavy = {'yaml', 'boto3', 'numpy', 'jsii', 'jsonschema'} & set(sys.modules)\n"
        "assert models and not built and not heavy, (built, heavy)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_plain_spec_loads_no_models() -> None:
    """What a check looks at costs no more than the configuration."""
    code = "import sys, dpd.manifest.endpoint_spec\nassert 'dpd.manifest.base' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
