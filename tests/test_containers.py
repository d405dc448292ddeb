"""The installed package as a container or a service has it: no environment, no home, nothing writable, another user.

And the wheel on every Python of this machine that the package is for. Dependencies come from the package index there,
so without one these tests are skipped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.environments import environment, run
from tests.builders.places import ROOT

pytestmark = pytest.mark.heavy

PAIRS = "He bought a car.\tHe purchased an automobile.\nThe cats sat on the mat.\tOn the mat sat cats.\n"
COMMANDS = (("align", "--json"), ("words",), ("parse",))
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that every user may read; those of pytest are closed to others."""
    path = Path(tempfile.mkdtemp(prefix="forestalign-container-"))
    path.chmod(0o755)
    (path / "pairs.tsv").write_text(PAIRS)
    yield path
    subprocess.run(["chmod", "-R", "u+w", str(path)], check=True)
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def read_only(folder: Path) -> Path:
    """The interpreter of an environment with the package in it, all of which may only be read."""
    python = environment(folder)
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed")
    run(folder, python, "-m", "pip", "--disable-pip-version-check", "install", *options, ROOT)
    subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
    return python


def other_user(python: Path) -> int | None:
    """The number of a user who owns nothing, where we may become one and that user can reach the interpreter."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody").pw_uid
    try:
        tried = subprocess.run([str(python), "-c", "import numpy"], user=nobody, env={}, cwd="/", capture_output=True)
    except OSError:
        return None
    return nobody if tried.returncode == 0 else None


def bare(python: Path, command: tuple[str, ...], pairs: Path) -> subprocess.CompletedProcess[str]:
    """A command without any environment, in a folder that cannot be written, as somebody else where possible."""
    arguments = [str(python), "-m", "forestalign", command[0], str(pairs), *command[1:], "-q"]
    return subprocess.run(arguments, env={}, cwd="/", user=other_user(python), capture_output=True, text=True)


def here(command: tuple[str, ...], pairs: Path) -> str:
    """What the command prints in the environment of the tests."""
    arguments = [sys.executable, "-m", "forestalign", command[0], str(pairs), *command[1:], "-q"]
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_work_where_nothing_is_set_and_nothing_can_be_written(
    read_only: Path, folder: Path, command: tuple[str, ...]
) -> None:
    done = bare(read_only, command, folder / "pairs.tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == here(command, folder / "pairs.tsv")


def test_nobody_else_can_write_into_the_package(read_only: Path) -> None:
    user = other_user(read_only)
    if user is None:
        pytest.skip("needs root, and an interpreter that every user can reach")
    code = "import forestalign, pathlib; (pathlib.Path(forestalign.__file__).parent / 'x').write_text('x')"
    tried = subprocess.run([str(read_only), "-c", code], env={}, cwd="/", user=user, capture_output=True, text=True)
    assert "PermissionError" in tried.stderr


def interpreter(version: str) -> Path | None:
    """A Python of this version: on the path, or of pyenv."""
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    for path in filter(None, candidates):
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        told = subprocess.run([str(path), "-c", code], capture_output=True, text=True)
        if told.stdout.strip() == version:
            return Path(path)
    return None


@pytest.mark.pythons
@pytest.mark.parametrize("version", VERSIONS)
def test_the_package_installs_and_gives_the_same_bytes_on_every_python(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} with venv on this machine")
    run(tmp_path, python, "-m", "venv", tmp_path / "env")
    own, pairs = tmp_path / "env" / "bin" / "python", tmp_path / "pairs.tsv"
    pairs.write_text(PAIRS)
    install = [str(own), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", str(ROOT)]
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"a dependency has no release for Python {version}, or there is no package index")
    assert done.returncode == 0, done.stderr
    assert "env" in run(
        tmp_path, own, "-c", "from forestalign.compiled import core; print(core('phrases.search._search').__file__)"
    )
    assert bare(own, COMMANDS[0], pairs).stdout == here(COMMANDS[0], pairs)
