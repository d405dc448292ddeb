"""The wheel and the editable install, each in an environment of its own outside the checkout.

The environments see the installed dependencies through a path file. Path files of *those* folders are not followed, so
an editable forestalign there stays invisible, and nothing is fetched.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import build_core
import pytest

from forestalign.grammar import grammar_hash
from tests.builders.environments import environment, finished, run
from tests.builders.places import ROOT

pytestmark = pytest.mark.heavy  # every test builds a wheel or installs one

FIND = (
    "import forestalign, forestalign.grammar as g; "
    "print(forestalign.__file__, g.grammar_root(), g.grammar_hash(), sep='\\n')"
)
MODULES = [
    ".".join(path.relative_to(ROOT / "forestalign").with_suffix("").parts)
    for path in build_core.core_sources(ROOT / "forestalign")
]
SHOW = f"""from forestalign.compiled import core
for name in {MODULES}:
    place = getattr(core(name), "__file__", "")
    print(place if place.endswith((".so", ".pyd")) else None)"""


def install(folder: Path, python: Path, *what: object) -> None:
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--no-compile")
    run(folder, python, "-m", "pip", "--disable-pip-version-check", "install", *options, *what)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def grammar_files() -> set[str]:
    folder = ROOT / "grammar"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_holds_package_grammar_and_typing_mark_and_nothing_else(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    inside = {name.removeprefix("forestalign/_grammar/") for name in names if name.startswith("forestalign/_grammar/")}
    assert inside == grammar_files()
    assert "forestalign/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {"forestalign"}
    assert not [name for name in names if name.endswith((".pyx", ".pxd", ".c", ".cpp"))]


def test_the_wheel_holds_the_licences_of_its_data(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = {name.partition(".dist-info/licenses/")[2] for name in archive.namelist() if ".dist-info/licenses/" in name}
    texts = {path.relative_to(ROOT).as_posix() for path in (ROOT / "licences").iterdir()}
    lexicon = {path.relative_to(ROOT).as_posix() for path in (ROOT / "grammar" / "lexicon").glob("*-LICENSE.txt")}
    assert names == {"LICENSE", *texts, *lexicon}
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    told = archive.read(metadata).decode().partition("\n\n")[0].splitlines()
    assert "License-Expression: MIT AND CC-BY-SA-4.0 AND Apache-2.0 AND PDDL-1.0 AND LicenseRef-WordNet" in told
    assert {line.removeprefix("License-File: ") for line in told if line.startswith("License-File: ")} == names


def test_the_readme_on_pypi_has_no_link_or_image_that_leads_nowhere(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    readme = archive.read(name).decode().partition("\n\n")[2]
    assert readme.startswith("# forestalign\n")
    assert not re.findall(r"\]\((?!https?://)[^)]*\)", readme)
    assert "`docs/results.md`" in readme
    assert "*Picture: Two sentences with their parse trees" in readme


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
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert run(tmp_path, installed.parent / "forestalign", "--version") == f"forestalign {version}\n"


def test_an_editable_install_finds_the_grammar_of_the_checkout(tmp_path: Path) -> None:
    python = environment(tmp_path)
    install(tmp_path, python, "--editable", ROOT)
    package, grammar, digest = run(tmp_path, python, "-c", FIND).split()
    assert Path(package) == ROOT / "forestalign" / "__init__.py"
    assert Path(grammar) == ROOT / "grammar"
    assert digest == grammar_hash()


def test_an_installed_wheel_runs_the_compiled_core(installed: Path, tmp_path: Path) -> None:
    found = run(tmp_path, installed, "-c", SHOW).split()
    assert len(found) == len(MODULES)
    assert all(Path(each).is_relative_to(installed.parent.parent) for each in found)


def test_without_a_compiler_the_install_succeeds_and_the_plain_code_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = environment(tmp_path)
    for variable in ("CC", "CXX"):
        monkeypatch.setenv(variable, str(tmp_path / "no-compiler"))
    install(tmp_path, python, ROOT)
    done = finished(tmp_path, python, "-c", SHOW)
    assert done.stdout == len(MODULES) * "None\n"
    assert done.stderr.count("\n") == 1
    assert "plain Python code" in done.stderr
