"""Scores of what ships, one subcommand for each kind; `python scripts/score.py NAME --help` lists its options.

    python scripts/score.py words msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz
    python scripts/score.py phrases annotations/dev.jsonl mtref.dev.jsonl.gz
    python scripts/score.py reworded annotations/written.jsonl
    python scripts/score.py parser ewt.dev.mrg.gz

Settings and parts taken away are `ablate.py`, speed is `bench.py`.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from importlib import import_module

COMMANDS = {
    "words": "words",
    "phrases": "phrases",
    "reworded": "phrases",
    "search": "search",
    "rerank": "trees",
    "parser": "parser",
    "meaning": "meaning",
    "edits": "meaning",
    "sources": "meaning",
}


def main(arguments: list[str]) -> None:
    """Call `print_NAME` of the module in `scoring/` with a parser of arguments that shows its docstring."""
    if not arguments or arguments[0] not in COMMANDS:
        print(f"{__doc__}\nNAME is one of {', '.join(COMMANDS)}", file=sys.stderr)
        raise SystemExit(0 if arguments[:1] == ["--help"] else 2)
    name, *rest = arguments
    command = getattr(import_module(f"scoring.{COMMANDS[name]}"), f"print_{name}")
    about = inspect.getdoc(command)
    form = argparse.RawDescriptionHelpFormatter
    command(argparse.ArgumentParser(prog=f"score.py {name}", description=about, formatter_class=form), rest)


if __name__ == "__main__":
    main(sys.argv[1:])
