"""The tutorial notebook runs from top to bottom, each cell after the ones before it, without Jupyter."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "tutorial.ipynb"


def code_cells() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.heavy
def test_every_cell_of_the_tutorial_runs_and_prints() -> None:
    names: dict[str, Any] = {}
    for number, code in enumerate(code_cells(), start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"cell {number}", "exec"), names)
        assert printed.getvalue().strip(), f"cell {number} printed nothing"


def test_the_tutorial_holds_no_outputs_that_could_grow_old() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
