"""Commands that are killed at a call to the file system lose nothing, leave nothing, and write nowhere else.

Everything happens in a folder that is the home of the commands, their cache and the place of their temporary files, and
a hook in every process (tests/builders/attack_hooks.py) refuses to write elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.places import DATA, ROOT

HOOKS = ROOT / "tests" / "builders" / "attack_hooks.py"
COMMAND = "import sys; from forestalign.cli import main; sys.exit(main())"
SENTENCES = 70  # more than a group of a gzip file
KILLS = 3  # of each command, evenly over its calls
# commands that need no model, and whether they can be resumed
RUNS = {
    "parse --trees trees.mrg sentences.txt --tokenized -q -o out.mrg": "--resume",
    "parse --trees trees.mrg sentences.txt --tokenized -q -o out.mrg.gz": "--resume",
    "crf train links.jsonl --no-parser --iterations 2 -q -o model.json": "--resume",
    "extract results.jsonl -q -o table.tsv": "--force",
    "view results.jsonl -q -o page.html": "--force",
    "edits results.jsonl -q -o edits.jsonl": "--force",
}


class Ground:
    """A folder that processes may write to."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("home", "tmp", "hooks", "data"):
            (folder / name).mkdir(parents=True)
        shutil.copy(HOOKS, folder / "hooks" / "sitecustomize.py")

    def run(self, place: Path, code: str, *arguments: str, kill: int = 0) -> subprocess.CompletedProcess[str]:
        """Run Python code; `kill` is the number of the file call at which it dies."""
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "PYTHONPATH": str(self.folder / "hooks"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ATTACK_FOLDER": str(self.folder),
            "ATTACK_PARENT": str(os.getpid()),
            "ATTACK_KILL": str(kill),
        }
        command = [sys.executable, "-P", "-c", code, *arguments]
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)

    def fresh(self, name: str) -> Path:
        """A place with the data, in which one command runs."""
        return Path(shutil.copytree(self.folder / "data", self.folder / name))

    def told(self, name: str) -> str:
        """What the hooks have written down: the calls of the last process, or the writes that were refused."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    made = Ground(tmp_path_factory.mktemp("attack") / "ground")
    data = made.folder / "data"
    shutil.copy(DATA / "pairs.tsv", data / "pairs.tsv")
    words = [[f"w{k}", "sees", f"v{k}", "."] for k in range(SENTENCES)]
    trees = [f"(S (NP (NN {a})) (VP (VBZ {b}) (NP (NN {c}))) (. {d}))\n" for a, b, c, d in words]
    (data / "trees.mrg").write_text("".join(trees), encoding="utf-8")
    (data / "sentences.txt").write_text("".join(f"{' '.join(each)}\n" for each in words), encoding="utf-8")
    gold = [{"id": str(k), "source": w, "target": w, "sure": [[i, i] for i in range(4)]} for k, w in enumerate(words)]
    (data / "links.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in gold), encoding="utf-8")
    done = made.run(data, COMMAND, *["align", "pairs.tsv", "--json", "-q", "-o", "results.jsonl"])
    assert done.returncode == 0, done.stderr
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.heavy
@pytest.mark.parametrize("line", RUNS)
def test_a_command_that_is_killed_at_a_file_call_ends_as_if_it_had_not_been(ground: Ground, line: str) -> None:
    name = line.rpartition(" ")[2]
    whole = ground.fresh(f"{name}-whole")
    assert ground.run(whole, COMMAND, *line.split()).returncode == 0
    count = int(ground.told("calls"))
    for call in range(1, count + 1, max(1, count // KILLS)):
        place = ground.fresh(f"{name}-{call}")
        assert ground.run(place, COMMAND, *line.split(), kill=call).returncode == -9
        again = ground.run(place, COMMAND, *line.split(), RUNS[line])
        assert again.returncode == 0, f"call {call}: {again.stderr}"
        assert contents(place) == contents(whole), f"call {call}"
    assert not ground.told("outside")


def test_a_process_under_attack_dies_at_the_call_and_writes_nowhere_else(tmp_path: Path) -> None:
    ground = Ground(tmp_path / "ground")
    place = ground.fresh("here")
    code = "import os\nfor k in range(3): os.close(os.open(f'{k}', os.O_CREAT | os.O_WRONLY))\n"
    assert ground.run(place, code, kill=2).returncode == -9
    assert os.listdir(place) == ["0"]
    assert ground.run(place, code + "open('../../outside', 'w')").returncode == 1
    assert os.listdir(tmp_path) == ["ground"]
    assert "outside" in ground.told("outside")
