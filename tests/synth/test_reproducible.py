"""The same environment gives the same bytes, wherever and by whomever it is synthesized."""

import os
import shutil
from pathlib import Path

from tests.conftest import ROOT
from tests.synth.conftest import RunApp

SOURCES = ("dpd", "k8s", "stacks", "constructs", "environments")


def written(folder: Path) -> dict[str, bytes]:
    """Every template and asset manifest by name."""
    found = {
        path.name: path.read_bytes()
        for kind in ("template", "assets")
        for path in folder.glob(f"*.{kind}.json")
    }
    assert len(found) == 8
    return found


def staged(folder: Path) -> list[str]:
    """Names of the staged assets, which are the hashes of what is in them."""
    return sorted(path.name for path in folder.glob("asset.*"))


def copy_of_the_project(folder: Path) -> Path:
    """The sources in another place, newer, and with bytecode lying around."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, copy_function=shutil.copyfile)
    shutil.copyfile(ROOT / "app.py", folder / "app.py")
    assets = folder / "constructs" / "dpd_constructs" / "assets"
    for path in list(assets.iterdir()):
        (path / "__pycache__").mkdir()
        (path / "__pycache__" / "index.cpython-311.pyc").write_bytes(os.urandom(64))
    return folder / "app.py"


def test_two_places_give_the_same_bytes(run_app: RunApp, folder: Path) -> None:
    """Another project folder, working folder, output, hash seed, time zone and language."""
    here, there = folder / "here", folder / "somewhere" / "else" / "cdk.out"
    there.parent.mkdir(parents=True)
    first = run_app(here, env="prod", variables={"PYTHONHASHSEED": "1", "TZ": "UTC"})
    second = run_app(
        there,
        app=copy_of_the_project(folder),
        cwd=there.parent,
        env="prod",
        variables={"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LANG": "C"},
    )
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert written(here) == written(there)
    assert staged(here) == staged(there)
    assert staged(here)
