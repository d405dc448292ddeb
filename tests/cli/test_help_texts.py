"""The help of every command: examples in it are command lines that parse, and options mean the same everywhere."""

from __future__ import annotations

import argparse
import importlib
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from forestalign.cli import COMMANDS, CommandParser
from forestalign.cli.options import Unused
from forestalign.config import AlignConfig


def parser_of(name: str) -> CommandParser:
    command = importlib.import_module(f"forestalign.cli.{name}")
    parser = CommandParser(
        prog=f"forestalign {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.configure(parser)
    return parser


def parsers(name: str) -> Iterator[argparse.ArgumentParser]:
    """The parser of a command and those of its sub-commands."""
    yield (top := parser_of(name))
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


EXAMPLES = [
    line.strip()
    for name in COMMANDS
    for line in (importlib.import_module(f"forestalign.cli.{name}").__doc__ or "").splitlines()
    if "forestalign " in line and line.startswith("    ") and "git config" not in line
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_in_a_help_is_a_command_line(example: str) -> None:
    for part in example.split(" && "):
        line = part.split(" > ")[0].split("   #")[0].rstrip("\\")
        line = next((piece for piece in line.split(" | ") if piece.startswith("forestalign ")), "")
        if not line:
            continue
        name, *arguments = shlex.split(line)[1:]
        assert name in COMMANDS
        parser_of(name).parse_args(arguments)


def first_examples(name: str) -> list[str]:
    """The two lines that a help begins with, behind the one that says what the command does."""
    lines = parser_of(name).format_help().splitlines()
    assert lines[1] == ""
    return [line.strip() for line in lines[2:4]]


SAMPLES = {"pairs.tsv", "gold.jsonl"}
WITHOUT_INPUT = {"model", "rules", "serve", "sample", "completion"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_begins_with_two_examples_for_the_sample(name: str) -> None:
    for example in first_examples(name):
        assert f"forestalign {name}" in example
        assert name in WITHOUT_INPUT or SAMPLES & set(shlex.split(example))


def lines_of(name: str) -> list[str]:
    return [line.strip() for line in parser_of(name).description.splitlines() if line.startswith("    ")]


SETUP = """
forestalign sample > pairs.tsv; forestalign sample --gold > gold.jsonl
forestalign align pairs.tsv --json -q -o results.jsonl
for name in one two; do cp results.jsonl $name.jsonl; done
for name in draft.txt draft.md sentences.txt tokens.txt sources.txt article.txt; do cut -f 1 pairs.tsv > $name; done
for name in final.txt final.md targets.txt summary.txt; do cut -f 2 pairs.tsv > $name; done
cp pairs.tsv next.tsv
"""
OUTPUTS = {"-o", "--output", ">", "--html", "--report"}


def inputs_of(line: str) -> set[str]:
    """The names of files that a line reads."""
    words = shlex.split(line)
    named = [word for before, word in zip(["", *words], words, strict=False) if before not in OUTPUTS]
    return {word for word in named if " " not in word and Path(word).suffix[1:].isalpha()}


@pytest.mark.heavy
@pytest.mark.patient
@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"serve", "completion", "sample"}))
def test_the_lines_of_a_help_work(name: str, tmp_path: Path) -> None:
    """All lines for which the sample and what is made of it is enough; the first two always are."""
    program = f'forestalign() {{ {shlex.quote(sys.executable)} -m forestalign "$@"; }}; set -e -o pipefail\n'

    def run(script: str) -> None:
        done = subprocess.run(["bash", "-c", program + script], cwd=tmp_path, capture_output=True, text=True)
        is_answer = name == "check" and done.returncode == 1 and "loss" in done.stderr
        assert done.returncode == 0 or is_answer, f"{script}: {done.stderr}"

    run(SETUP)
    kept = {path.name for path in tmp_path.iterdir()}
    for number, line in enumerate(lines_of(name)):
        if "git " in line or (number > 1 and not all((tmp_path / path).exists() for path in inputs_of(line))):
            continue
        for before, output in pairwise(shlex.split(line)):
            if before in OUTPUTS:  # of an earlier line
                (tmp_path / output).unlink(missing_ok=True)
        run(f"( {line} ) > /dev/null" if ">" not in line else line)
    assert kept <= {path.name for path in tmp_path.iterdir()}


def test_the_first_example_of_completion_works() -> None:
    program = f'forestalign() {{ {shlex.quote(sys.executable)} -m forestalign "$@"; }}'
    script = "\n".join([program, first_examples("completion")[0], "complete -p forestalign"])
    done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "complete"), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_short_options_mean_the_same_in_every_command(name: str) -> None:
    meanings = {"-o": "output", "-j": "jobs", "-q": "quiet", "-v": "verbose", "-B": "samples", "-h": "help"}
    for parser in parsers(name):
        for action in parser._actions:
            for option in action.option_strings:
                if not option.startswith("--"):
                    assert meanings[option] == action.dest


@pytest.mark.parametrize("name", COMMANDS)
def test_options_that_may_be_idle_exist(name: str) -> None:
    rules: tuple[Unused, ...] = getattr(importlib.import_module(f"forestalign.cli.{name}"), "UNUSED", ())
    known = {option for action in parser_of(name)._actions for option in action.option_strings}
    assert {rule.option for rule in rules} <= known


@pytest.mark.parametrize("name", ["align", "rerank", "similarity"])
def test_options_of_settings_are_settings(name: str) -> None:
    group = next(each for each in parser_of(name)._action_groups if each.title == "settings")
    names = {action.dest for action in group._group_actions} - {"set"}
    assert names <= set(AlignConfig.__dataclass_fields__)
