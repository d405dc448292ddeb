"""Which tests `make check` runs after a change."""

from __future__ import annotations

from pathlib import Path

import pytest
from changed_tests import concerned

FILES = {
    "forestalign/__init__.py": "def load(name): return import_module(f'forestalign.{name}')",
    "forestalign/grammar.py": "",
    "forestalign/trees/__init__.py": "from forestalign.trees.tree import Tree",
    "forestalign/trees/tree.py": "",
    "forestalign/view/__init__.py": "",
    "forestalign/cli/__init__.py": "def main(name): import_module(f'forestalign.cli.{name}')",
    "forestalign/cli/parse.py": "def run():\n    from forestalign.trees import Tree",
    "tests/builders/small_trees.py": "from forestalign.trees import Tree",
    "tests/trees/test_trees.py": "from tests.builders.small_trees import tree",
    "tests/test_cli.py": "from forestalign.cli import main",
    "tests/test_grammar.py": "from forestalign.grammar import load",
    "tests/view/test_view.py": "from forestalign import view",
    "tests/test_api.py": "import forestalign",
    "tests/test_pages.py": "PAGES = 'README.md', ROOT / \"docs\"",
    "tests/test_scripts.py": "from train_parser import Tree",
    "tests/test_rules.py": "from rules.voice import passives",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("tests/trees/test_trees.py", ["trees"]),
        ("tests/builders/small_trees.py", ["trees"]),
        ("forestalign/trees/tree.py", ["api", "cli", "trees"]),
        ("forestalign/cli/parse.py", ["api", "cli"]),
        ("forestalign/view/assets/app.js", ["api", "view"]),
        ("grammar/heads.tsv", ["api", "grammar"]),
        ("docs/words.md", ["pages"]),
        ("scripts/train_parser.py", ["scripts"]),
        ("scripts/rules/voice.py", ["rules"]),
        ("LICENSE", []),
    ],
)
def test_a_change_runs_the_tests_that_reach_it(root: Path, changed: str, tests: list[str]) -> None:
    assert sorted(Path(path).stem.removeprefix("test_") for path in concerned(root, [changed])) == tests
