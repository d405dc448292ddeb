"""A module imports only modules before it, in the order in which the data flows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "forestalign"
ORDER = [
    "errors",
    "bare_import",
    "outputs",
    "blas",
    "config",
    "_core",
    "compiled",
    "grammar",
    "tokens",
    "trees",
    "chart",
    "forest",
    "parsers",
    "dependencies",
    "lexicon",
    "words",
    "phrases",
    "formats",
    "view",
    "batch",
    "mining",
    "aligner",
    "chunk_aligner",
    "pair_cache",
    "evaluation",
    "learning",
    "tuning",
    "cli",
]


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem[:2] != "__")


def stage(module: str) -> str:
    """The stage that a dotted name below the package belongs to."""
    return module.split(".")[0]


def imported(path: Path) -> set[str]:
    """Dotted names below the package that a file imports, wherever in the file the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} has a relative import; expected the full name"
            if node.module == "forestalign":
                names.update(alias.name for alias in node.names)
            elif node.module is not None:
                names.add(node.module.removeprefix("forestalign.") if node.module.startswith("forestalign.") else "")
        elif isinstance(node, ast.Import):
            names.update(alias.name[12:] for alias in node.names if alias.name.startswith("forestalign."))
    return names - {""}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_modules_before_it(path: Path) -> None:
    own = stage(name_of(path))
    assert own in ORDER, f"{name_of(path)} is in no stage; the stages are {', '.join(ORDER)}"
    late = {name for name in imported(path) if stage(name) not in ORDER[: ORDER.index(own) + 1]}
    assert not late, f"{name_of(path)} imports {sorted(late)}, which come after {own}"


def test_the_rule_notices_an_import_that_looks_ahead(tmp_path: Path) -> None:
    (tmp_path / "trees.py").write_text(
        "import forestalign.cli\nfrom forestalign import view\ndef f():\n    from forestalign.phrases import search\n"
    )
    assert imported(tmp_path / "trees.py") == {"cli", "view", "phrases"}
