"""What judges manifests beside the rules: the operator's CRD and Kubernetes' own schemas."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from dpd.config import Environment
from dpd.manifest.from_environment import endpoint_config

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
CRD = SHARED / "data/crd/inferenceendpointconfigs.operator-v3.2.yaml"
KUBERNETES = "1.34"

Judge = Callable[[Environment], None]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with manifests that people have published, where it is available."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def judge() -> Judge:
    """Fails for an environment whose manifests the API server would not take."""
    schema = _strict(_crd()) if CRD.is_file() else None
    validator = jsonschema.Draft202012Validator(schema) if schema else None

    def judged(environment: Environment) -> None:
        for endpoint in environment.endpoints:
            if endpoint.runtime != "operator":  # Its charts are judged where they are made.
                continue
            manifest = endpoint_config(environment, endpoint).to_manifest()
            if validator:
                assert list(validator.iter_errors(manifest)) == []
            for pod in _pods(manifest):
                kubernetes_validate.validate(pod, KUBERNETES, strict=True)

    return judged


def _crd() -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    crd = yaml.load(CRD.read_text(encoding="utf-8"), Loader=loader)
    (version,) = (each for each in crd["spec"]["versions"] if each["name"] == "v1")
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    # The API server checks an object's metadata by its own schema.
    schema["properties"].pop("metadata")
    return schema


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Refuse the unknown fields that the API server would drop."""
    strict = {key: value for key, value in schema.items() if key != "format"}
    for keyword in ("items", "additionalProperties"):
        if isinstance(strict.get(keyword), dict):
            strict[keyword] = _strict(strict[keyword])
    if "properties" in strict:
        is_top = "apiVersion" in strict["properties"] and "spec" in strict["properties"]
        strict["additionalProperties"] = is_top
        strict["properties"] = {key: _strict(each) for key, each in strict["properties"].items()}
    return strict


def _pods(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the namespace and, for each role, a pod of what the custom resource says of it."""
    spec, metadata = manifest["spec"], manifest["metadata"]
    worker = spec["worker"]
    disaggregated = spec.get("pdSpec")
    roles = [disaggregated["prefillSpec"], disaggregated["decodingSpec"]] if disaggregated else [{}]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {
                "nodeSelector": role.get("nodeSelector", {}),
                "affinity": {"nodeAffinity": spec.get("nodeAffinity", {})},
                "containers": [
                    {
                        "name": "worker",
                        "image": worker["image"],
                        "args": [*worker["args"], *role.get("args", [])],
                        "env": worker["environmentVariables"],
                        "resources": role.get("resources", worker["resources"]),
                        "ports": [
                            {"containerPort": worker["modelInvocationPort"]["containerPort"]}
                        ],
                    }
                ],
            },
        }
        for role in roles
    ]
    name = {"name": metadata["namespace"]}
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": name}, *pods]
