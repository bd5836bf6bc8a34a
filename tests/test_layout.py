"""Guards of the layout that nothing else would notice."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("aws_cdk", "cdk8s", "cdk8s_plus_28", "jsii", "constructs", "boto3", "botocore", "numpy")


def test_constructs_folder_is_no_package() -> None:
    """With an `__init__.py` it would hide the PyPI package of the same name."""
    assert (ROOT / "constructs" / "dpd_constructs" / "__init__.py").is_file()
    assert not (ROOT / "constructs" / "__init__.py").exists()
    assert not list((ROOT / "tests").glob("**/constructs/__init__.py"))


def test_constructs_is_the_pypi_package() -> None:
    """Also with the repository first on the path, as in `python app.py`."""
    code = "import constructs; print(constructs.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).is_relative_to(sysconfig.get_path("purelib"))


@pytest.mark.parametrize(
    "module", ["dpd.config", "dpd.catalog", "dpd.manifest", "dpd.workload.vllm_arguments"]
)
def test_core_loads_nothing_heavy(module: str) -> None:
    """`dpd check` starts in a fraction of a second."""
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = found.stdout.split()
    assert "dpd" in loaded
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "environments").glob("*.yaml")), ids=lambda p: p.name
)
def test_environment_files_begin_with_their_schema(path: Path) -> None:
    """An editor completes them."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=environment.schema.json"
    assert (path.parent / first.rsplit("=", 1)[1]).is_file()


def test_modules_stay_small() -> None:
    """Of the core: none above 300 lines, the median under 120."""
    sizes = sorted(
        len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "dpd").rglob("*.py")
    )
    assert sizes[-1] <= 300
    assert sizes[len(sizes) // 2] < 120
