"""A folder says in its `__init__` what it holds, and the README is short. Ruff checks functions and docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.builders.places import ROOT

PACKAGE = ROOT / "forestalign"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE, PACKAGE / "cli"})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_folder_says_what_is_in_each_of_its_modules(folder: Path) -> None:
    contents = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    parts = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert parts - {"__init__"} - set(re.findall(r"`(\w+)`", contents)) == set()
