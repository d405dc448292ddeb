"""Builds the compiled core: every .pyx of the package, and every .py that says `import cython`, becomes an extension
module in the folder where it stands.

Hatchling calls the hook when a wheel or an editable install is made. Where there is no compiler or no Python headers,
the install goes on without the modules, and the plain twins do the work. By hand it builds in place:

    python scripts/build_core.py              after a change of .pyx or .pxd
    python scripts/build_core.py --strict     the same, with warnings as errors
    python scripts/build_core.py --sanitize   with address and undefined-behaviour sanitizers, for the tests

A constant is written down once, in the plain module that it belongs to: what compiled code cimports from a plain module
(`from forestalign.phrases.score cimport SEED`) is read from the source of that module and declared for Cython here.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forestalign.grammar import IDENTITY_FILE, source_identity  # noqa: E402 (needs nothing but the standard library)

PACKAGE = "forestalign"
SHARED = f"{PACKAGE}._cyutility"  # what Cython gives to all modules alike, compiled once
# contraction would give other last digits on processors with fused multiply-add
UNIX_FLAGS = ("-O3", "-ffp-contract=off", "-g0")
# what Cython's own output leaves behind
STRICT_FLAGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-parameter", "-Wno-cpp")
# the last of several -O counts: with -O3 the checks take ten minutes to compile
SANITIZE_FLAGS = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined", "-O1")
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "embedsignature": True,
}


class CoreBuildHook(BuildHookInterface):
    """Puts the extension modules into the wheel, or beside their sources for an editable install."""

    PLUGIN_NAME = "core"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the modules, a failure leaves a pure wheel; and note which sources the wheel was built from."""
        self._folder = Path(tempfile.mkdtemp(prefix="forestalign-core-"))
        if version != "editable":
            identity = self._folder / IDENTITY_FILE
            identity.write_text(source_identity(ROOT / PACKAGE), encoding="ascii")
            build_data["force_include"][str(identity)] = f"{PACKAGE}/{IDENTITY_FILE}"
        built = built_or_none(self._folder)
        if built is None:
            return
        if version == "editable":
            put(built, ROOT)
        else:
            build_data["force_include"].update({str(path): place for place, path in built.items()})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the build folder away."""
        shutil.rmtree(self._folder, ignore_errors=True)


def built_or_none(folder: Path) -> dict[str, Path] | None:
    """The modules built into a folder; None, and one line that says why, where they cannot be built."""
    try:
        return build(folder)
    except Exception as error:
        # whatever is missing (Cython, a compiler, headers, room on the disk), the package works without the modules
        print(f"forestalign: built without its compiled core ({type(error).__name__}: {error})", file=sys.stderr)
        return None


def build(folder: Path, strict: bool = False, sanitize: bool = False) -> dict[str, Path]:
    """Translate and compile all modules, as many at once as there are processors; the files made, by their places."""
    from Cython.Build import cythonize
    from Cython.Compiler import Options
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    Options.warning_errors = strict
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        modules = cythonize(
            _extensions(strict, sanitize),
            build_dir=str(folder),
            compiler_directives=DIRECTIVES,
            include_path=[str(declared_constants(folder / "constants"))],
            shared_utility_qualified_name=SHARED,
            force=True,
            quiet=True,
        )
        command = build_ext(Distribution({"name": PACKAGE, "ext_modules": modules}))
        command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()
        files = [Path(command.get_ext_fullpath(module.name)).resolve() for module in modules]
    finally:
        os.chdir(here)
    return {path.relative_to((folder / "lib").resolve()).as_posix(): path for path in files}


def _extensions(strict: bool, sanitize: bool) -> list[Any]:
    """One extension module for each source, and the one that they share."""
    from setuptools import Extension

    is_unix = os.name == "posix"
    flags = [*(UNIX_FLAGS if is_unix else ("/O2",)), *(STRICT_FLAGS if strict else ())]
    sanitizers = list(SANITIZE_FLAGS if sanitize else ())
    sources = {".".join(path.with_suffix("").parts): path for path in core_sources(Path(PACKAGE))}
    options = {"extra_link_args": sanitizers}
    return [
        # Cython writes this one itself, and takes no language for it
        Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"], extra_compile_args=flags + sanitizers, **options),
        *(
            Extension(
                name,
                [path.as_posix()],
                language="c++",
                extra_compile_args=[*flags, "-std=c++17" if is_unix else "/std:c++17", *sanitizers],
                **options,
            )
            for name, path in sources.items()
        ),
    ]


def core_sources(package: Path) -> list[Path]:
    """What is compiled: all .pyx, and the kernels, .py files that run without being compiled as well."""
    kernels = [path for path in package.rglob("*.py") if b"\n    import cython\n" in path.read_bytes()]
    return sorted([*package.rglob("*.pyx"), *kernels])


# ---- constants of plain modules ----


def declared_constants(folder: Path) -> Path:
    """A folder with declarations of the constants of every plain module that compiled code cimports from."""
    folder.mkdir(parents=True)
    for module in sorted(_cimported()):
        source = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        if source.is_file():
            lines = declarations(source.read_text(encoding="utf-8"), module)
            place = folder / source.relative_to(ROOT).with_suffix(".pxd")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for inner in {each.parent for each in folder.rglob("*.pxd")}:
        for package in (inner, *inner.parents):
            if package.is_relative_to(folder / PACKAGE):
                (package / "__init__.pxd").touch()
    return folder


def _cimported() -> set[str]:
    """Modules of the package that its compiled code cimports from."""
    sources = [path for ending in ("pyx", "pxd") for path in (ROOT / PACKAGE).rglob(f"*.{ending}")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    cimport = rf"^(?:from ({PACKAGE}\.[\w.]+) cimport|cimport ({PACKAGE}\.[\w.]+))"
    return {one or other for text in texts for one, other in re.findall(cimport, text, re.MULTILINE)}


def declarations(source: str, module: str) -> Iterator[str]:
    """Declarations of the constants of a module, from its source alone, as nothing can be imported while building.

    Whole numbers and the members of an `IntEnum` keep their names. A tuple of strings becomes their places in it:
    LAYERS = ("same form", ...) gives LAYERS_SAME_FORM and so on, and LAYERS_COUNT.
    """
    for name, value in _constants(source).items():
        if isinstance(value, dict):
            yield f"cdef enum {name}: {_members({**value, f'{name.upper()}_COUNT': len(value)})}"
        elif isinstance(value, int):
            yield f"cdef enum: {_members({name: value})}"
        elif isinstance(value, float):
            c_name = f"{module}.{name}".replace(".", "_")
            yield from ("cdef extern from *:", f'    "static const double {c_name} = {value!r};"')
            yield f'    const double {name} "{c_name}"'
        elif value and isinstance(value, tuple) and all(isinstance(each, str) for each in value):
            places = {f"{name}_{_spelled(text)}": place for place, text in enumerate(value)}
            yield f"cdef enum: {_members({**places, f'{name}_COUNT': len(value)})}"


def _constants(source: str) -> dict[str, Any]:
    """What the upper-case names of a module stand for where it can be worked out, and its `IntEnum` classes."""
    found: dict[str, Any] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "IntEnum" for b in node.bases):
            found[node.name] = dict(each for line in node.body for each in _values(line, {}))
        else:
            found.update(_values(node, found))
    return found


def _values(node: ast.stmt, known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names that a line sets, with their values; none where a value needs more than the constants before it."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name | ast.Tuple):
        return
    target = node.targets[0]
    names = [target] if isinstance(target, ast.Name) else target.elts
    try:
        value = eval(compile(ast.Expression(node.value), "constants", "eval"), {"__builtins__": {}}, known)
    except (NameError, TypeError, AttributeError, KeyError):
        return
    values = (value,) if isinstance(target, ast.Name) else value
    for name, each in zip(names, values, strict=True):
        if isinstance(name, ast.Name) and name.id.isupper() and not isinstance(each, bool):
            yield name.id, each


def _spelled(text: str) -> str:
    return re.sub(r"\W", "_", text).upper()


def _members(values: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


# ---- by hand ----


def put(built: dict[str, Path], folder: Path) -> None:
    """Copy the modules to their places; a process that runs an old one keeps it, where overwriting would crash it."""
    for place, path in built.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).unlink(missing_ok=True)
        shutil.copy(path, folder / place)


def main() -> None:
    """Build in place."""
    parser = argparse.ArgumentParser(description="Build the compiled core in place.")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--sanitize", action="store_true", help="build with address and undefined-behaviour sanitizers")
    parser.add_argument("--into", type=Path, default=ROOT, help="folder that gets the package's compiled modules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forestalign-core-") as folder:
        put(build(Path(folder), options.strict, options.sanitize), options.into)


if __name__ == "__main__":
    main()
