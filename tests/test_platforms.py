"""A system without POSIX: what Windows lacks is taken away, and everything still imports and aligns."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from forestalign.cli import main
from tests.builders.places import ROOT

# Other packages are imported first, as they have code of their own for each system.
WITHOUT_POSIX = """
import ctypes, importlib, os, pkgutil, signal, sys, types
import multiprocessing, numpy, nltk, onnxruntime, platformdirs, rapidfuzz, scipy.optimize
import threadpoolctl, tokenizers, tqdm

for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "geteuid", "getuid", "fork", "sched_getaffinity"):
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)
library = ctypes.CDLL


def load(name, *arguments, **options):
    if name is None:
        raise TypeError("there is no library without a name")
    return library(name, *arguments, **options)


ctypes.CDLL = load
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *arguments: None, LK_NBLCK=2)
sys.platform = "win32"
import forestalign

for module in pkgutil.walk_packages(forestalign.__path__, "forestalign."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
ALIGN = """
import pathlib
from forestalign.cli import main
assert main(["align", "--quiet", "--json", "pairs.tsv", "-o", "results.jsonl"]) == 0
assert '"phrases"' in pathlib.Path("results.jsonl").read_text(encoding="utf-8")
print(forestalign.align("He bought a car.", "He purchased an automobile.").words.pairs)
"""


@pytest.mark.heavy
def test_everything_imports_and_aligns_without_what_windows_lacks(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("He left.\tHe went away.\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + ALIGN], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "((0, 0), (1, 1), (2, 2), (3, 3), (4, 4))\n"


def test_the_wheel_of_every_platform_aligns_a_pair(capfd: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    compiled, align = project["tool"]["cibuildwheel"]["test-command"]
    assert "import forestalign.phrases.search._search" in compiled
    command, *arguments = shlex.split(align)
    assert command == "forestalign"
    assert main(arguments) == 0
    assert "bought a car = purchased an automobile" in capfd.readouterr().out
