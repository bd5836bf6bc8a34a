"""What may lie in the function's folder."""

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint_waiter.conftest import FOLDER, MODULES


def test_folder_holds_only_the_modules() -> None:
    """Whatever else lay here would change the asset's hash."""
    names = {path.name for path in FOLDER.iterdir()} - {"__pycache__"}
    assert names == {f"{module}.py" for module in MODULES}


def test_loading_leaves_no_bytecode(waiter: Any) -> None:
    """A test run and a fresh clone give the same asset."""
    assert Path(waiter.index.__file__).parent == FOLDER
    assert not (FOLDER / "__pycache__").exists()


def test_loading_leaves_no_modules(waiter: Any) -> None:
    """Other tests import what they like under the same names."""
    loaded = {getattr(sys.modules.get(name), "__file__", None) for name in MODULES}
    assert not loaded & {getattr(waiter, name).__file__ for name in MODULES}
    assert str(FOLDER) not in sys.path


@pytest.mark.parametrize("module", MODULES)
def test_module_needs_nothing_that_lambda_lacks(module: str) -> None:
    """Lambda has the standard library and boto3, and this folder."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - sys.stdlib_module_names <= {"boto3", "botocore", *MODULES}
