"""Builds the compiled core, forestalign/_core.pyx and the .pxi files that it includes, into one extension module.

Hatchling calls the hook when a wheel or an editable install is made. Where there is no compiler or no Python headers,
the install goes on without the module, and the plain twins do the work. By hand it builds in place:

    python scripts/build_core.py              after a change of .pyx or .pxi
    python scripts/build_core.py --strict     the same, with warnings as errors
    python scripts/build_core.py --sanitize   with address and undefined-behaviour sanitizers, for the tests
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
MODULE = "forestalign._core"
# contraction would give other last digits on processors with fused multiply-add
UNIX_FLAGS = ("-O3", "-std=c++17", "-ffp-contract=off", "-g0")
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
    """Puts the extension module into the wheel, or beside its source for an editable install."""

    PLUGIN_NAME = "core"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the module; a failure leaves a pure wheel."""
        self._folder = Path(tempfile.mkdtemp(prefix="forestalign-core-"))
        built = built_or_none(self._folder)
        if built is None:
            return
        if version == "editable":
            put(built, ROOT / "forestalign")
        else:
            build_data["force_include"][str(built)] = f"forestalign/{built.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the build folder away."""
        shutil.rmtree(self._folder, ignore_errors=True)


def built_or_none(folder: Path) -> Path | None:
    """The module built into a folder; None, and one line that says why, where it cannot be built."""
    try:
        return build(folder)
    except Exception as error:
        # whatever is missing (Cython, a compiler, headers, room on the disk), the package works without the module
        print(f"forestalign: built without its compiled core ({type(error).__name__}: {error})", file=sys.stderr)
        return None


def build(folder: Path, strict: bool = False, sanitize: bool = False) -> Path:
    """Translate and compile the module; the file made."""
    from Cython.Build import cythonize
    from Cython.Compiler import Options
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    Options.warning_errors = strict
    is_unix = os.name == "posix"
    flags = [*(UNIX_FLAGS if is_unix else ("/O2", "/std:c++17")), *(STRICT_FLAGS if strict else ())]
    sanitizers = list(SANITIZE_FLAGS if sanitize else ())
    extension = Extension(
        MODULE,
        ["forestalign/_core.pyx"],
        language="c++",
        extra_compile_args=flags + sanitizers,
        extra_link_args=sanitizers,
    )
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        modules = cythonize(extension, build_dir=str(folder), compiler_directives=DIRECTIVES, force=True, quiet=True)
        command = build_ext(Distribution({"name": "forestalign", "ext_modules": modules}))
        command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
        command.ensure_finalized()
        command.run()
        return Path(command.get_ext_fullpath(MODULE)).resolve()
    finally:
        os.chdir(here)


def put(built: Path, folder: Path) -> None:
    """Copy the module into a folder; a process that runs the old one keeps it, where overwriting would crash it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / built.name).unlink(missing_ok=True)
    shutil.copy(built, folder / built.name)


def main() -> None:
    """Build in place."""
    parser = argparse.ArgumentParser(description="Build the compiled core in place.")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--sanitize", action="store_true", help="build with address and undefined-behaviour sanitizers")
    parser.add_argument("--into", type=Path, default=ROOT / "forestalign", help="folder that gets the module")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forestalign-core-") as folder:
        built = build(Path(folder), options.strict, options.sanitize)
        put(built, options.into)


if __name__ == "__main__":
    main()
