"""The attack script finds nothing, tells what it finds, and touches nothing outside its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.places import ROOT

SCRIPTS = ROOT / "scripts"


@pytest.mark.heavy
def test_the_commands_hold_against_a_short_attack(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "attack.py"), str(tmp_path / "ground"), "--short"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=3000)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if " tries " in line]
    assert len(rows) > 15
    assert all(line.split()[-4] == line.split()[-2] for line in rows)
    assert os.listdir(tmp_path) == ["ground"]


def test_an_attack_wants_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    done = subprocess.run([sys.executable, str(SCRIPTS / "attack.py"), str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, os.listdir(tmp_path)) == (2, ["precious"])


def test_a_process_under_attack_dies_at_the_call_and_writes_nowhere_else(tmp_path: Path) -> None:
    ground = tmp_path / "ground"
    (ground / "hooks").mkdir(parents=True)
    (ground / "hooks" / "sitecustomize.py").write_bytes((SCRIPTS / "attack_hooks.py").read_bytes())
    code = "import os\nfor k in range(3): os.close(os.open(f'{k}', os.O_CREAT | os.O_WRONLY))\n"

    def run(more: str, kill: int) -> int:
        environment = {
            "PYTHONPATH": str(ground / "hooks"),
            "ATTACK_FOLDER": str(ground),
            "ATTACK_PARENT": str(os.getpid()),
            "ATTACK_KILL": str(kill),
        }
        return subprocess.run(
            [sys.executable, "-P", "-c", code + more], cwd=ground, env=environment, stderr=subprocess.DEVNULL
        ).returncode

    assert run("", kill=2) == -9
    assert {path.name for path in ground.iterdir()} == {"hooks", "0"}
    assert run("open('../outside', 'w')", kill=0) == 1
    assert os.listdir(tmp_path) == ["ground"]
    assert "outside" in (ground / "outside").read_text()
