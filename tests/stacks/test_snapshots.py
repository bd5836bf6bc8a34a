"""The templates of `prod`, as a reviewer reads them."""

import json

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.snapshots import JsonFile, masked, readable
from tests.synthesized import Synthesized, Template


@pytest.mark.parametrize("part", ["foundation", "cluster", "platform", "endpoint-chat"])
def test_template(prod: Synthesized, part: str, snapshot: SnapshotAssertion) -> None:
    """Whatever changes shows; whether it may is for the other tests to say."""
    assert readable(prod[part]) == snapshot(extension_class=JsonFile)


def test_hashes_are_masked_and_names_are_not() -> None:
    """Of assets and manifests; logical ids stay: another one means another resource."""
    assert masked(f"{'0a' * 32}.zip") == "<hash>.zip"
    assert masked("ab5fa2ed79b21d5f") == "<hash>"
    for kept in ("EksClusterB2BDED5B", "111122223333", "8589934592", "v1.5.0-eksbuild.1"):
        assert masked(kept) == kept


def test_readable_loses_no_resource(prod: Synthesized) -> None:
    """It shortens values and leaves every name."""
    for template in prod.templates.values():
        shown = json.loads(readable(template))
        assert shown["Resources"].keys() == template.resources.keys()


def test_readable_shows_a_change_deep_inside() -> None:
    """In JSON inside JSON, too."""

    def shown(replicas: int) -> str:
        manifest = json.dumps([{"spec": {"replicas": replicas}}])
        resource = {"Type": "X", "Properties": {"Manifest": manifest}}
        return readable(Template("endpoint", {"Resources": {"Endpoint": resource}}))

    assert '"replicas": 1' in shown(1)
    assert shown(1) != shown(2)
