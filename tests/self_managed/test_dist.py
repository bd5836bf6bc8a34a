"""The files that `kubectl apply -f` takes in the order of their names."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dpd.config import Environment, load_environment
from k8s.__main__ import write
from tests.self_managed.conftest import EXAMPLES, Objects, objects


@pytest.fixture(scope="module")
def shipped() -> Environment:
    """The shipped environment."""
    return load_environment({"env": "self-managed"})


def files(environment: Environment, folder: Path) -> Objects:
    """What is written, in the order in which kubectl reads it."""
    write(environment, folder)
    return {
        path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(folder.iterdir())
    }


def test_a_file_for_each_workload(shipped: Environment, tmp_path: Path) -> None:
    """Each with one Deployment, after the namespace and weights of its endpoint."""
    found = files(shipped, tmp_path)
    assert list(found) == [
        "00-hyperpod-dependencies.yaml",
        "10-endpoint-chat-colocated.yaml",
        "10-endpoint-chat.yaml",
        "11-endpoint-chat-colocated-router.yaml",
        "11-endpoint-chat-colocated-workers.yaml",
        "11-endpoint-chat-decode.yaml",
        "11-endpoint-chat-prefill.yaml",
        "11-endpoint-chat-router.yaml",
    ]
    for name, content in found.items():
        kinds = [each["kind"] for each in content]
        assert kinds.count("Deployment") == int(name.startswith("11-"))


def test_namespaces_come_before_what_is_in_them(shipped: Environment, tmp_path: Path) -> None:
    """Otherwise kubectl refuses the rest."""
    known = set()
    for content in files(shipped, tmp_path).values():
        for each in content:
            if each["kind"] == "Namespace":
                known.add(each["metadata"]["name"])
            assert each["metadata"].get("namespace") in {None, *known}


def test_files_say_what_the_stack_deploys(tmp_path: Path) -> None:
    """The charts are the same."""
    name = "plain-eks"
    found = files(EXAMPLES[name], tmp_path)
    assert "00-hyperpod-dependencies.yaml" not in found
    written = [each for content in found.values() for each in content]
    charts = [each for content in objects(name).values() for each in content]
    written = [each for each in written if each["kind"] != "Namespace"]
    assert sorted(written, key=str) == sorted(charts, key=str)


def test_operator_only_environments_do_not_pay_for_it() -> None:
    """The library of the routers' objects is loaded where there are routers of ours."""
    code = (
        "import sys; from k8s.__main__ import manifests; from dpd.config import load_environment; "
        "manifests(load_environment({'env': sys.argv[1]})); print('cdk8s_plus_28' in sys.modules)"
    )
    for env, loaded in (("prod", "False"), ("self-managed", "True")):
        found = subprocess.run(
            [sys.executable, "-c", code, env],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.strip() == loaded
