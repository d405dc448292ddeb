#!/usr/bin/env python
"""What each loss and each kind of data is worth to the student: the same short training without one of them at a time.

    python scripts/ablate_student.py -o runs/ablation -- --steps 200 --start runs/e5-small \
        --trees ewt.train.mrg.gz masc.mrg.gz --dev ewt.dev.mrg.gz --parses runs/taught-trees runs/taught-pairs \
        --taught runs/taught-pairs --split msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz \
        --gold mtref.train.jsonl.gz wiki.train.jsonl.gz

What follows `--` goes to scripts/train_student.py. Rows: everything, then without each task, without shapes, without
text in lower case, without each file of `--trees`, `--parses`, `--taught` and `--gold` where there are several, and
without each of `--split`, which is still scored. A task that is left out takes its steps with it; a file leaves its
steps to the others. Prints a table of the scores at the end of each run. A run that is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

STUDENT = Path(__file__).resolve().parent / "train_student.py"
FILES = ("--trees", "--parses", "--taught", "--gold")
PAIRS = ("links", "unrelated")
TASKS = {"--trees": ("trees",), "--parses": ("parses",), "--taught": ("taught",), "--gold": PAIRS, "--split": PAIRS}


def variants(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The name of each row and the arguments of its run."""
    yield "everything", list(arguments)
    given = [option for option in FILES if option in arguments]
    for task in dict.fromkeys(task for option in TASKS if option in arguments for task in TASKS[option]):
        yield f"without {task}", [*arguments, "--without", task]
    if "--no-shapes" not in arguments:
        yield "without shapes", [*arguments, "--no-shapes"]
        yield "without lower case", [*arguments, "--lower-cased", "0"]
    for option in given:
        begin, end = values_of(arguments, option)
        if end - begin > 1:
            for place in range(begin, end):
                yield f"{option[2:]} without {name_of(arguments[place])}", [*arguments[:place], *arguments[place + 1 :]]
    if "--split" in arguments:
        begin, end = values_of(arguments, "--split")
        for path in dict.fromkeys(arguments[begin:end]):
            others = [other for other in arguments[begin:end] if other != path]
            rest = [*arguments[:begin], *others, *arguments[end:], "--scored", path]
            yield f"links without {name_of(path)}", rest


def name_of(path: str) -> str:
    """A file's name without what all of them end with."""
    return Path(path).name.partition(".jsonl")[0].partition(".mrg")[0]


def values_of(arguments: Sequence[str], option: str) -> tuple[int, int]:
    """Where the values of an option begin and end."""
    begin = end = list(arguments).index(option) + 1
    while end < len(arguments) and not arguments[end].startswith("-"):
        end += 1
    return begin, end


def scores_of(arguments: Sequence[str], folder: Path) -> dict[str, float]:
    """The last scores of a run, which is made if it is not there."""
    record = folder.with_name(f"{folder.name}.json")  # names of files have points of their own
    if not record.exists():
        command = [sys.executable, str(STUDENT), *arguments, "-o", str(folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        record.write_text(lines[-1], encoding="utf-8")
    return dict(json.loads(record.read_text(encoding="utf-8")))


def table(rows: Sequence[tuple[str, dict[str, float]]]) -> Iterator[str]:
    """Markdown, with the columns of the first row."""
    columns = [name for name in rows[0][1] if name != "step"]
    yield f"| | {' | '.join(columns)} |"
    yield "|" + "---|" * (1 + len(columns))
    for name, scores in rows:
        yield f"| {name} | {' | '.join(f'{scores[column]:.2f}' for column in columns)} |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("training", nargs="+", metavar="...", help="behind --: the arguments of train_student.py")
    args = parser.parse_args(arguments)
    args.output.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, training in variants(args.training):
        rows.append((name, scores_of(training, args.output / name.replace(" ", "-"))))
        print(name, rows[-1][1], file=sys.stderr, flush=True)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
