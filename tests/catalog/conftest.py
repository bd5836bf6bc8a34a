"""Material that may lie beside the repository."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the help text of vLLM, where it is available."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared beside the repository")
    return SHARED
