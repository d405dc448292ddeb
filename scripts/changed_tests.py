"""The tests of what changed against a commit, for `make check`: `python scripts/changed_tests.py [main]`.

A test file is listed if it changed, if it imports a changed module, directly or through others, or if it names a
changed file that is not a module. Data in `grammar/` counts as the module that reads it, data in a package as that
package.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections.abc import Iterable, Set
from pathlib import Path

PACKAGE, TESTS = "forestalign", "tests"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", default="main", help="commit or branch to compare with (default: main)")
    args = parser.parse_args()
    root = Path(_git("rev-parse", "--show-toplevel")[0])
    for path in concerned(root, changed_files(args.base)):
        print(path)


def changed_files(base: str) -> list[str]:
    """Files that differ from where this branch left `base`, committed or not, and new ones."""
    start = _git("merge-base", base, "HEAD")[0]
    return sorted({*_git("diff", "--name-only", start), *_git("ls-files", "--others", "--exclude-standard")})


def concerned(root: Path, changed: Iterable[str]) -> list[str]:
    """Paths of the test files that the changed files concern, in order."""
    modules = {
        _module(path.relative_to(root)): path for folder in (PACKAGE, TESTS) for path in root.glob(f"{folder}/**/*.py")
    }
    imports = {name: imported(path, modules.keys()) for name, path in modules.items()}
    touched = {_module(Path(name)) for name in changed}
    others = [name for name in changed if not name.endswith(".py") or name.startswith("scripts/")]
    found: list[str] = []
    for name, path in sorted(modules.items()):
        if path.stem.startswith("test_"):
            needed = _closure(name, imports)
            texts = [modules[each].read_text(encoding="utf-8") for each in needed if not each.startswith(PACKAGE)]
            if needed & touched or any(_names(text, other) for text in texts for other in others):
                found.append(path.relative_to(root).as_posix())
    return found


def imported(path: Path, modules: Set[str]) -> set[str]:
    """Names of the modules that a file imports, by statement or by a name that it puts together from a beginning."""
    names, beginnings = set[str](), set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= parts if node.module == PACKAGE and parts <= modules else parts | {node.module}
        elif isinstance(node, ast.JoinedStr) and isinstance(first := node.values[0], ast.Constant):
            beginnings.add(str(first.value))
    whole = {start for start in beginnings if start.startswith(f"{PACKAGE}.")}
    return {name for name in modules if name in names or name.startswith(tuple(whole))}


def _closure(name: str, imports: dict[str, set[str]]) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        new = imports[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _names(text: str, path: str) -> bool:
    """Whether a test speaks of a file: by its name, its name as a module, or its folder at the top."""
    top = path.split("/")[0]
    folders = (f'"{top}"', f'"{top}/') if "/" in path and top not in (PACKAGE, TESTS, "scripts") else ()
    module = ".".join(Path(path).with_suffix("").parts[1:])
    script = (f"from {module} import", f"import {module}") if path.endswith(".py") else ()
    return any(part in text for part in (Path(path).name, *folders, *script))


def _module(path: Path) -> str:
    """The name under which a file is imported, or of the module that reads it."""
    parts = path.with_suffix("").parts
    if path.suffix != ".py":
        return f"{PACKAGE}.grammar" if parts[0] == "grammar" else ".".join(parts[:2])
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


if __name__ == "__main__":
    main()
