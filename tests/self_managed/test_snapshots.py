"""What the shipped examples look like: one readable YAML file for each workload."""

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.self_managed.conftest import objects

NIXL = "production-stack-nixl-roundrobin-tp8"
LMCACHE = "production-stack-pr890-lmcache-roundrobin-tp8"
COLOCATED = "production-stack-colocated-prefixaware-tp8"
CASES = {
    **{f"nixl-{part}": (NIXL, part) for part in ("weights", "prefill", "decode", "router")},
    **{f"lmcache-{part}": (LMCACHE, part) for part in ("prefill", "decode", "router")},
    **{f"colocated-{part}": (COLOCATED, part) for part in ("workers", "router")},
    "rust-router": ("vllm-router-nixl-session-tp8", "router"),
    "autoscaled-decode": ("autoscaled", "decode"),
    "plain-eks-decode": ("plain-eks", "decode"),
}


class YamlFiles(SingleFileSnapshotExtension):
    """A file of its own for each."""

    file_extension = "yaml"
    _write_mode = WriteMode.TEXT


def text(variant: str, part: str) -> str:
    """Short lists and mappings on one line; the content is that of the manifest."""
    return yaml.safe_dump_all(
        objects(variant)[part], default_flow_style=None, sort_keys=False, width=100
    )


@pytest.mark.parametrize(("variant", "part"), CASES.values(), ids=CASES)
def test_workload(variant: str, part: str, snapshot: SnapshotAssertion) -> None:
    """Same content as before, and short enough to be read."""
    shown = text(variant, part)
    assert list(yaml.safe_load_all(shown)) == objects(variant)[part]
    assert len(shown.splitlines()) < 200
    assert shown == snapshot(extension_class=YamlFiles)
