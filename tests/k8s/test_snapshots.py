"""The manifests of every environment, as a reviewer reads them."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from dpd.config import load_environment
from k8s.__main__ import write
from tests.snapshots import YamlFile


@pytest.mark.parametrize("file", ["00-hyperpod-dependencies", "10-endpoint-chat"])
@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_manifests(name: str, file: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    """Exactly the files of `dist/<environment>/`."""
    write(load_environment({"env": name}), tmp_path)
    text = (tmp_path / f"{file}.yaml").read_text(encoding="utf-8")
    assert text == snapshot(extension_class=YamlFile)
