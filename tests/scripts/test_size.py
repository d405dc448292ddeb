"""The size of the tree: what is counted, and a budget that only falls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import size

FILES = {
    "forestalign/config.py": 3,
    "forestalign/words/links.py": 5,
    "forestalign/words/_links.pyx": 7,
    "forestalign/words/_links.pxd": 2,
    "forestalign/words/links.txt": 90,
    "tests/words/test_links.py": 4,
    "scripts/bench.py": 6,
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.setattr(size, "ROOT", tmp_path)
    monkeypatch.setattr(size, "BUDGET", tmp_path / "budget.json")
    return tmp_path


def test_python_and_cython_are_counted_by_folder(root: Path) -> None:
    lines, modules = size.count_files(root)
    assert lines == {"forestalign": 3, "forestalign/words": 14, "tests": 4, "scripts": 6}
    assert modules == {"forestalign": 1, "forestalign/words": 2, "tests": 1, "scripts": 1}
    assert size.sum_by_top(lines, modules)["package_lines"] == 17


@pytest.mark.parametrize(("bound", "code"), [(16, 1), (17, 0), (20, 0), (None, 0)])
def test_above_the_budget_it_fails_and_lowering_never_raises(
    root: Path, monkeypatch: pytest.MonkeyPatch, bound: int | None, code: int
) -> None:
    size.BUDGET.write_text(json.dumps({"package_lines": bound, "searches_per_pair": 4}))
    monkeypatch.setattr(sys, "argv", ["size.py", "--lower"])
    assert size.main() == code
    lowered = 17 if bound is None else min(bound, 17)
    assert size.read_budget() == {"package_lines": lowered, "searches_per_pair": 4}
