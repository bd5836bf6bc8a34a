"""The operator's own schema, which lies beside the repository where it is available."""

from pathlib import Path
from typing import Any

import pytest
import yaml

CRD = (
    Path(__file__).resolve().parents[2].parent
    / "shared/data/crd/inferenceendpointconfigs.operator-v3.2.yaml"
)


@pytest.fixture(scope="session")
def crd() -> dict[str, Any]:
    """The CustomResourceDefinition of operator v3.2."""
    if not CRD.is_file():
        pytest.skip("the operator's CRD is not beside the repository (../shared/data/crd)")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaded: dict[str, Any] = yaml.load(CRD.read_text(), Loader=loader)
    return loaded


@pytest.fixture(scope="session")
def crd_schemas(crd: dict[str, Any]) -> dict[str, Any]:
    """Schema of each version of the custom resource."""
    return {
        version["name"]: version["schema"]["openAPIV3Schema"] for version in crd["spec"]["versions"]
    }
