"""Environments of their own, outside the checkout, for the installed package."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path


def run(folder: Path, *command: object) -> str:
    """The output of a command run in a folder outside the checkout."""
    return finished(folder, *command).stdout


def finished(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """A command run in a folder outside the checkout, which PYTHONPATH must not bring back in."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, env=outside)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def environment(folder: Path) -> Path:
    """A bare environment that sees the dependencies; its interpreter."""
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    own = run(folder, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(own) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
