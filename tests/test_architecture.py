"""A module imports only modules before it, in the order in which the data flows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.builders.places import ROOT

PACKAGE = ROOT / "forestalign"
# a name with a dot is a room of a folder; what stands in no room of it comes after its rooms
ORDER = """
errors arrays machine terminal own_files outputs inputs config compiled grammar tokens
trees chart forest parsers dependencies lexicon words meaning reranking
phrases.evidence phrases.chunk_alignment phrases.scoring phrases.search phrases.result phrases
formats batch mining view aligner chunk_aligner texts pair_cache evaluation learning tuning cli
""".split()  # noqa: SIM905


# imported when called: methods of a result, and the folder that can be called
SHORTCUTS = {"phrases.result.alignment": {"formats", "view", "mining"}, "words.__init__": {"aligner"}}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem[:2] != "__")


def place_in_order(module: str) -> int:
    """Where a dotted name below the package stands: its room, or else its folder."""
    first, *rest = module.split(".")
    room = f"{first}.{rest[0]}" if rest else first
    name = room if room in ORDER else first
    assert name in ORDER, f"{module} is in no stage; the stages are {', '.join(ORDER)}"
    return ORDER.index(name)


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


PAGE = PACKAGE.parent / "docs" / "architecture.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
PLACE = re.compile(r"`(?:\w+/)*\w+\.(?:py|pyx|pxd)`(?: \((?:`[^`]+`(?:, | and )?)+\))?")


def places() -> list[tuple[str, tuple[str, ...]]]:
    """Files that the tables of the page name, each with the names that stand in brackets behind it."""
    found = []
    for row in ROWS:
        folder = ""
        for place in PLACE.findall(row):
            file, *names = re.findall(r"`([^`]+)`", place)
            folder = file.rpartition("/")[0] or folder  # `a/b.py`, `c.py`: both in a
            found.append((file if "/" in file else f"{folder}/{file}".strip("/"), tuple(names)))
    return found


def test_the_page_names_many_places() -> None:
    assert len(places()) > 50


@pytest.mark.parametrize(("file", "names"), places(), ids=[f"{file} {' '.join(names)}" for file, names in places()])
def test_what_the_page_names_is_there(file: str, names: tuple[str, ...]) -> None:
    path = next((each for each in (PACKAGE / file, PACKAGE / Path(file).name, ROOT / file) if each.is_file()), None)
    assert path is not None, f"docs/architecture.md names {file}, which does not exist"
    text = path.read_text(encoding="utf-8")
    for name in names:
        assert re.search(rf"\b{name.split('.')[-1]}\b", text), f"{file} has no {name}"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_modules_before_it(path: Path) -> None:
    own = name_of(path)
    if own == "phrases.__init__":
        return
    last, called = place_in_order(own), SHORTCUTS.get(own, set())
    late = {name for name in imported(path) if place_in_order(name) > last and name.split(".")[0] not in called}
    assert not late, f"{own} imports {sorted(late)}, which come after it"


def test_no_test_imports_another_test() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert len(tests) > 100
    assert [path.name for path in tests if re.search(r"^from tests\S*\.test_", path.read_text(), re.MULTILINE)] == []


def test_the_rule_notices_an_import_that_looks_ahead(tmp_path: Path) -> None:
    (tmp_path / "trees.py").write_text(
        "import forestalign.cli\nfrom forestalign import view\ndef f():\n    from forestalign.phrases import search\n"
    )
    assert imported(tmp_path / "trees.py") == {"cli", "view", "phrases"}
