"""The wheel and the editable install, each in an environment of its own outside the checkout.

The environments see the installed dependencies through a path file. Path files of *those* folders are not followed, so
an editable forestalign there stays invisible, and nothing is fetched.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from forestalign.grammar import grammar_hash

REPOSITORY = Path(__file__).resolve().parent.parent
FIND = (
    "import forestalign, forestalign.grammar as g; "
    "print(forestalign.__file__, g.grammar_root(), g.grammar_hash(), sep='\\n')"
)


def run(folder: Path, *command: object) -> str:
    """The output of a command run in a folder outside the checkout."""
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path) -> Path:
    """A bare environment that sees the dependencies; its interpreter."""
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    own = run(folder, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(own) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def install(folder: Path, python: Path, *what: object) -> None:
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--no-compile")
    run(folder, python, "-m", "pip", "--disable-pip-version-check", "install", *options, *what)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    subprocess.run([str(part) for part in command], cwd=REPOSITORY, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def grammar_files() -> set[str]:
    folder = REPOSITORY / "grammar"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_holds_package_grammar_and_typing_mark_and_nothing_else(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    inside = {name.removeprefix("forestalign/_grammar/") for name in names if name.startswith("forestalign/_grammar/")}
    assert inside == grammar_files()
    assert "forestalign/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {"forestalign"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("installed")
    python = environment(folder)
    install(folder, python, wheel)
    return python


def test_an_installed_wheel_finds_its_own_grammar(installed: Path, tmp_path: Path) -> None:
    package, grammar, digest = run(tmp_path, installed, "-c", FIND).split()
    assert Path(package).is_relative_to(installed.parent.parent)
    assert Path(grammar) == Path(package).parent / "_grammar"
    assert digest == grammar_hash()


def test_the_installed_command_tells_its_version(installed: Path, tmp_path: Path) -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert run(tmp_path, installed.parent / "forestalign", "--version") == f"forestalign {version}\n"


def test_an_editable_install_finds_the_grammar_of_the_checkout(tmp_path: Path) -> None:
    python = environment(tmp_path)
    install(tmp_path, python, "--editable", REPOSITORY)
    package, grammar, digest = run(tmp_path, python, "-c", FIND).split()
    assert Path(package) == REPOSITORY / "forestalign" / "__init__.py"
    assert Path(grammar) == REPOSITORY / "grammar"
    assert digest == grammar_hash()
