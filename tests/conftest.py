"""Environments, synthesized once in a session, in one process, offline."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

# The CDK's own validation costs seconds in every synthesis; one test of its own runs it.
os.environ["CDK_VALIDATION"] = "false"

import pytest

from dpd.config import load_environment
from tests import synthesized
from tests.synthesized import Synthesized

Synthesize = Callable[..., Synthesized]

ROOT = Path(__file__).parents[1]
CONTEXT: Mapping[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
SHARED = ROOT.parent / "shared"
"""Facts and tools that may lie beside the repository."""


@pytest.fixture(autouse=True, scope="session")
def _no_credentials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever asks for credentials gets some that open nothing."""
    nowhere = str(tmp_path_factory.mktemp("aws") / "none")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_CONFIG_FILE", nowhere)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="session")
def synthesize() -> Iterator[Synthesize]:
    """Synthesize an environment: `synthesize("prod", prefillReplicas=2)`.

    With context parameters as keyword arguments, and the feature flags of cdk.json, as the CDK's
    command line does. Every call is one app; all share a folder, so that assets are copied once.
    """

    def run(name: str, *assignments: str, **context: Any) -> Synthesized:
        import aws_cdk as cdk

        from stacks import build_environment

        values = {**CONTEXT, "env": name, **context}
        if assignments:
            values["set"] = ",".join(assignments)
        environment = load_environment(values)
        app = cdk.App(context=values, outdir=folder, analytics_reporting=False, tree_metadata=False)
        build_environment(app, environment=environment)
        app.synth()
        return synthesized.read(Path(folder), environment=environment)

    # Not below pytest's own folders, which it keeps: assets are sixty megabytes.
    with tempfile.TemporaryDirectory() as folder:
        yield run


@pytest.fixture(scope="session")
def prod(synthesize: Synthesize) -> Synthesized:
    """The documented example."""
    return synthesize("prod")


@pytest.fixture(scope="session")
def staging(synthesize: Synthesize) -> Synthesized:
    """Two prefill workers on P5en, in another region."""
    return synthesize("staging")


@pytest.fixture(scope="session")
def dev(synthesize: Synthesize) -> Synthesized:
    """The smallest thing that is still disaggregated."""
    return synthesize("dev")


@pytest.fixture(params=["dev", "staging", "prod"])
def shipped(request: pytest.FixtureRequest) -> Synthesized:
    """Each environment of the repository."""
    found: Synthesized = request.getfixturevalue(request.param)
    return found
