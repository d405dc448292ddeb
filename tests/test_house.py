"""The figures of the house: length and parameters of functions, what is documented, which names are unique."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.builders.places import ROOT

PACKAGE = ROOT / "forestalign"
LONGEST = 60  # lines
MOST_PARAMETERS = 8
LONG = 22  # lines that 95 of 100 functions do not exceed
README_BYTES = 10_000


class Function(NamedTuple):
    place: str
    lines: int
    parameters: int
    is_public: bool
    is_documented: bool


def functions_of(path: Path) -> Iterator[Function]:
    """Functions and classes of a file; what stands inside a function is not public."""
    place = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
    yield from _inside(tree_of(path), place, True)


def _inside(parent: ast.AST, place: str, is_public: bool) -> Iterator[Function]:
    for node in ast.iter_child_nodes(parent):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        name, visible = f"{place}:{node.lineno} {node.name}", is_public and not node.name.startswith("_")
        documented = ast.get_docstring(node) is not None
        if isinstance(node, ast.ClassDef):
            yield Function(name, 0, 0, visible, documented)
            yield from _inside(node, place, visible)
        else:
            if any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list):
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(name, length, _parameter_count(node.args), visible, documented)
            yield from _inside(node, place, False)


def _parameter_count(arguments: ast.arguments) -> int:
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    extra = (arguments.vararg is not None) + (arguments.kwarg is not None)
    return len(names) - (names[:1] in (["self"], ["cls"])) + extra


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def functions() -> list[Function]:
    return [function for path in modules() for function in functions_of(path)]


def test_no_function_is_too_long() -> None:
    assert [each.place for each in functions() if each.lines > LONGEST] == []


def test_no_function_takes_too_many_parameters() -> None:
    assert [each.place for each in functions() if each.parameters > MOST_PARAMETERS] == []


def test_nearly_all_functions_are_short() -> None:
    lengths = sorted(each.lines for each in functions() if each.lines)
    assert lengths[int(0.95 * len(lengths))] <= LONG


def test_what_is_public_says_what_it_is() -> None:
    assert [each.place for each in functions() if each.is_public and not each.is_documented] == []


def test_public_classes_have_names_of_their_own() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_types_of_arrays_are_named_in_one_module() -> None:
    alias = re.compile(r"^\w+ = (?:npt\.)?NDArray\[.*\]$", re.MULTILINE)
    assert [path.name for path in modules() if alias.search(path.read_text(encoding="utf-8"))] == ["arrays.py"]


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in modules()} - {PACKAGE, PACKAGE / "cli"}), ids=lambda path: path.name
)
def test_a_folder_says_what_is_in_each_of_its_modules(folder: Path) -> None:
    contents = ast.get_docstring(tree_of(folder / "__init__.py")) or ""
    listed = set(re.findall(r"`(\w+)`", contents))
    parts = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert parts - {"__init__"} - listed == set()


def test_no_module_imports_itself_through_others() -> None:
    names = {module_name(path): path for path in modules()}
    assert cycles({name: imports_at_the_top(path, set(names)) for name, path in names.items()}) == []


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_at_the_top(path: Path, known: set[str]) -> set[str]:
    """Modules that a file imports when it is itself imported; a folder counts if a name is taken from it."""
    found: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found.update(part if part in known else node.module for part in parts.values())
    return found & known


def cycles(imports: dict[str, set[str]]) -> list[str]:
    """Names from which a way leads back to themselves."""
    return [name for name in sorted(imports) if name in _reached(name, imports)]


def _reached(name: str, imports: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [*imports[name]]
    while waiting:
        if (each := waiting.pop()) not in reached:
            reached.add(each)
            waiting += imports[each]
    return reached


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b", "c"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c"]),
        ({"a": {"a"}}, ["a"]),
    ],
)
def test_cycles_are_found(imports: dict[str, set[str]], expected: list[str]) -> None:
    assert cycles(imports) == expected


def test_the_readme_is_short_enough_to_be_finished() -> None:
    assert (ROOT / "README.md").stat().st_size <= README_BYTES


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a, b, /, c, *, d): pass", (1, 4, True, False)),
        ("def f(self, *a, **b):\n    'says it'\n    return 1", (3, 2, True, True)),
        ("class _A:\n    def f(cls, a): pass", (1, 1, False, False)),
        ("def f():\n    'x'\n    def g(a): pass", (1, 1, False, False)),
    ],
)
def test_the_figures_are_counted_right(tmp_path: Path, code: str, expected: tuple[int, int, bool, bool]) -> None:
    (tmp_path / "m.py").write_text(code)
    assert list(functions_of(tmp_path / "m.py"))[-1][1:] == expected
