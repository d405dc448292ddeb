"""Attack the commands and say what held: kills at file calls, cut files, planted links, files of strangers, modules.

    python scripts/attack.py FOLDER [--short] [--only kills cuts ...]

Everything is written below FOLDER, which has to be empty or new: that is the home of the commands, their cache and the
place of their temporary files, and a hook in every process refuses to write elsewhere (scripts/attack_hooks.py).
Prints a table and exits with 1 if anything did not hold. --short tries some cases of each kind.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

HOOKS = Path(__file__).with_name("attack_hooks.py")
PAIRS = Path(__file__).resolve().parent.parent / "tests" / "data" / "pairs.tsv"
START = (sys.executable, "-P", "-c", "import sys; from forestalign.cli import main; sys.exit(main())")
MODULES = ("numpy", "json", "forestalign", "pickle", "ctypes", "tqdm", "scipy", "onnxruntime")
PLANTED = "open({!r}, 'a').write(__name__ + '\\n')\n"
PRECIOUS = b"dear diary\n"
SENTENCES = 70  # more than a group of a gzip file
SHORT = 2  # kills or cuts of one kind
AT_ONCE = 2  # commands
# commands that need no model, so that many can be killed: arguments, output, whether it can be resumed
RUNS = (
    ("parse --trees trees.mrg sentences.txt --tokenized -q", "out.mrg", True),
    ("parse --trees trees.mrg sentences.txt --tokenized -q", "out.mrg.gz", True),
    ("crf train links.jsonl --no-parser --iterations 2 -q", "model.json", True),
    ("extract results.jsonl -q", "table.tsv", False),
    ("view results.jsonl -q", "page.html", False),
    ("edits results.jsonl -q", "edits.jsonl", False),
)
# commands that work in several processes, for planted modules
WORKING = ("align pairs.tsv -q -j 2", "words pairs.tsv -q", "rerank pairs.tsv -q", "extract results.jsonl -o - -q -j 2")
SIDES = {
    "parse --trees trees.mrg sentences.txt --tokenized -q": (".journal",),
    "crf train links.jsonl --no-parser --iterations 2 -q": (".journal", ".lock"),
    "train pairs.tsv --cache cache -q": (".checkpoint.npz", ".lock"),
}
PLANTS: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda side, precious: side.symlink_to(precious),
    "link to nothing": lambda side, precious: side.symlink_to(precious.with_name("made")),
    "second name": lambda side, precious: os.link(precious, side),
    "file": lambda side, precious: side.write_bytes(PRECIOUS),
    "pipe": lambda side, precious: os.mkfifo(side),
}
RERUN = {False: "--force", True: "--resume"}  # by whether a command can be resumed
Case = TypeVar("Case")
Try = tuple[bool, str]  # whether it held, and what to say if it did not
Contents = dict[str, bytes]  # of files


@dataclass
class Row:
    """One line of the table."""

    name: str
    tries: int = 0
    failures: list[str] = field(default_factory=list)

    def judge(self, held: bool, what: str) -> None:
        """Count one more try."""
        self.tries += 1
        if not held:
            self.failures.append(what)

    def judge_all(self, attempt: Callable[[Case], Try], cases: Sequence[Case]) -> Row:
        """Count a try for each case; some run at a time."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for held, what in threads.map(attempt, cases):
                self.judge(held, what)
        return self

    def __str__(self) -> str:
        told = f"{self.name:<44} {self.tries:>5} tries {self.tries - len(self.failures):>5} held"
        return "\n".join([told, *(f"    {what}" for what in self.failures[:5])])


class Ground:
    """The folder of an attack, and the data in it."""

    def __init__(self, folder: Path, most: int):
        self.folder, self._most = folder.resolve(), most  # kills or cuts of one kind; 0: all
        self._numbers = count(1)
        for name in ("home", "tmp", "hooks", "data"):
            (self.folder / name).mkdir(parents=True)
        shutil.copy(HOOKS, self.folder / "hooks" / "sitecustomize.py")
        self._make_data(self.folder / "data")

    def _make_data(self, data: Path) -> None:
        shutil.copy(PAIRS, data / "pairs.tsv")
        words = [[f"w{k}", "sees", f"v{k}", "."] for k in range(SENTENCES)]
        trees = [f"(S (NP (NN {a})) (VP (VBZ {b}) (NP (NN {c}))) (. {d}))" for a, b, c, d in words]
        (data / "trees.mrg").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
        (data / "sentences.txt").write_text("".join(f"{' '.join(each)}\n" for each in words), encoding="utf-8")
        gold = [
            {"id": str(k), "source": each, "target": each, "sure": [[i, i] for i in range(4)]}
            for k, each in enumerate(words)
        ]
        (data / "links.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in gold), encoding="utf-8")
        done = self.run(data, "align pairs.tsv --json -q -o results.jsonl")
        if done.returncode:
            raise SystemExit(f"the commands do not work here: {done.stderr}")

    @property
    def is_short(self) -> bool:
        """Whether only some cases of each kind are tried."""
        return bool(self._most)

    def whole(self, line: str) -> Contents:
        """The files after a command that nobody disturbed."""
        folder = self.place()
        done = self.run(folder, line)
        assert done.returncode == 0, done.stderr
        return contents(folder)

    def killed_late(self, line: str, journal: str) -> Contents:
        """The files after the command was killed as late as it had a journal."""
        self.whole(line)
        for call in range(self.calls(), 0, -1):
            folder = self.place()
            self.run(folder, line, kill=call)
            if journal in contents(folder):
                return contents(folder)
        raise AssertionError(f"{line} writes no {journal}")

    def chosen(self, places: range) -> range:
        """All of these numbers, or some of them, evenly."""
        return places[:: max(1, len(places) // self._most)] if self._most else places

    def place(self) -> Path:
        """A fresh folder with the data, in which one try happens."""
        folder = self.folder / f"try{next(self._numbers)}"
        shutil.copytree(self.folder / "data", folder, ignore=shutil.ignore_patterns("*.journal"))
        return folder

    def run(self, folder: Path, line: str, kill: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command; `kill` is the number of the file call at which it dies."""
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
        return subprocess.run([*START, *line.split()], cwd=folder, env=environment, capture_output=True, text=True)

    def calls(self) -> int:
        """File calls of the last command that came to its end."""
        return int((self.folder / "calls").read_text(encoding="utf-8"))

    def outside(self) -> list[str]:
        """Writes outside the folder that were refused."""
        path = self.folder / "outside"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def kills(ground: Ground) -> Iterator[Row]:
    """Kill at every file call; run again; nothing is lost, nothing is left, and other files are as they were."""
    for line, output, can_resume in RUNS:
        row = Row(f"killed: {line.split()[0]} -o {output}")
        expected = ground.whole(f"{line} -o {output}")
        attempt = partial(_killed, ground, f"{line} -o {output}", RERUN[can_resume], expected)
        yield row.judge_all(attempt, ground.chosen(range(1, ground.calls() + 1)))


def _killed(ground: Ground, line: str, more: str, expected: Contents, call: int) -> Try:
    folder = ground.place()
    killed = ground.run(folder, line, kill=call)
    again = ground.run(folder, f"{line} {more}")
    held = (killed.returncode, again.returncode, contents(folder)) == (-signal.SIGKILL, 0, expected)
    shutil.rmtree(folder)
    return held, f"call {call}: exit {killed.returncode}, then {again.returncode} {again.stderr.strip()}"


def cuts(ground: Ground) -> Iterator[Row]:
    """Cut the journal and the output of a killed run anywhere: --resume gives the same bytes, or changes nothing."""
    for line, output, _ in RUNS[:2]:
        expected = ground.whole(f"{line} -o {output}")
        before = ground.killed_late(f"{line} -o {output}", f"{output}.journal")
        for name in (f"{output}.journal", output):
            attempt = partial(_cut, ground, f"{line} -o {output} --resume", name, before, expected)
            yield Row(f"cut: {name}").judge_all(attempt, ground.chosen(range(len(before[name]))))


def _cut(ground: Ground, line: str, name: str, killed: Contents, expected: Contents, place: int) -> Try:
    folder = ground.place()
    before = {**killed, name: killed[name][:place]}
    for each, content in before.items():
        (folder / each).write_bytes(content)
    done = ground.run(folder, line)
    held = contents(folder) == (before if done.returncode else expected)
    shutil.rmtree(folder)
    return held, f"byte {place}: exit {done.returncode} {done.stderr.strip()}"


def links(ground: Ground) -> Iterator[Row]:
    """Plant links, pipes and strangers' files under every name that a run derives from its output."""
    cases = [(line, side, more) for line, sides in SIDES.items() for side in sides for more in ("", *RERUN.values())]
    for number, (kind, plant) in enumerate(PLANTS.items()):
        chosen = cases[number :: len(PLANTS)] if ground.is_short else cases
        yield Row(f"planted beside the output: {kind}").judge_all(partial(_planted, ground, plant), chosen)


def _planted(ground: Ground, plant: Callable[[Path, Path], object], case: tuple[str, str, str]) -> Try:
    line, side, more = case
    folder = ground.place()
    precious, name = folder / "precious", folder / f"out{side}"
    precious.write_bytes(PRECIOUS)
    plant(name, precious)
    done = ground.run(folder, f"{line} -o out {more}")
    held = precious.read_bytes() == PRECIOUS and not (folder / "made").exists() and os.path.lexists(name)
    shutil.rmtree(folder)
    return held and done.returncode == 2, f"out{side} {more}: exit {done.returncode}"


def cache(ground: Ground) -> Iterator[Row]:
    """Replace every entry of the cache by a link: the links' target stays, and the run is the same."""
    row = Row("planted in the cache: links")
    folder = ground.place()
    (folder / "precious").write_bytes(PRECIOUS)
    line = "train pairs.tsv --cache cache -q --passes 1 -o model.json.gz"
    done = ground.run(folder, line)
    assert done.returncode == 0, done.stderr
    for entry in (folder / "cache").glob("*/*.pair"):
        entry.unlink()
        entry.symlink_to(folder / "precious")
    again = ground.run(folder, f"{line} --force")
    entries = list((folder / "cache").glob("*/*.pair"))
    row.judge((folder / "precious").read_bytes() == PRECIOUS, "the target of the links was written")
    row.judge(again.returncode == 0, again.stderr)
    row.judge(bool(entries) and not any(entry.is_symlink() for entry in entries), "links stayed")
    yield row


def modules(ground: Ground) -> Iterator[Row]:
    """Plant modules beside the data: none is run by any process."""
    row = Row("planted beside the data: modules")
    for line in WORKING:
        folder = ground.place()
        for name in MODULES:
            place = folder / name / "__init__.py" if name == "forestalign" else folder / f"{name}.py"
            place.parent.mkdir(exist_ok=True)
            place.write_text(PLANTED.format(str(folder / "trace")), encoding="utf-8")
        done = ground.run(folder, line)
        trace = folder / "trace"
        row.judge(done.returncode == 0 and not trace.exists(), f"{line}: exit {done.returncode} {done.stderr[-200:]}")
    yield row


def contents(folder: Path) -> Contents:
    """All files of a try."""
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


ATTACKS: dict[str, Callable[[Ground], Iterator[Row]]] = {
    "kills": kills,
    "cuts": cuts,
    "links": links,
    "cache": cache,
    "modules": modules,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where everything happens; has to be empty or new")
    parser.add_argument("--short", action="store_true", help="try some cases of each kind")
    parser.add_argument("--only", nargs="+", choices=tuple(ATTACKS), default=tuple(ATTACKS))
    args = parser.parse_args()
    if args.folder.exists() and any(args.folder.iterdir()):
        parser.error(f"{args.folder} is not empty; expected a folder that is, or a new one")
    ground = Ground(args.folder, SHORT if args.short else 0)
    failed = False
    for name in args.only:
        for row in ATTACKS[name](ground):
            print(row, flush=True)
            failed = failed or bool(row.failures)
    last = Row("written outside the folder: nothing")
    last.judge(not ground.outside(), "; ".join(ground.outside()[:5]))
    print(last)
    return int(failed or bool(last.failures))


if __name__ == "__main__":
    sys.exit(main())
