"""The help of every command: every option has one, in the same voice; examples in it are command lines that parse."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from collections.abc import Iterator

import pytest

from forestalign.cli import COMMANDS, CommandParser
from forestalign.cli.idle_options import Idle
from forestalign.config import AlignConfig


def parser_of(name: str) -> CommandParser:
    command = importlib.import_module(f"forestalign.cli.{name}")
    parser = CommandParser(prog=f"forestalign {name}", description=command.__doc__)
    command.configure(parser)
    return parser


def parsers(name: str) -> Iterator[argparse.ArgumentParser]:
    """The parser of a command and those of its sub-commands."""
    yield (top := parser_of(name))
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


ACTIONS = [
    (f"{parser.prog} {'/'.join(action.option_strings) or action.dest}", action)
    for name in COMMANDS
    for parser in parsers(name)
    for action in parser._actions
    if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction) and action.help != argparse.SUPPRESS
]
EXAMPLES = [
    line.strip()
    for name in COMMANDS
    for line in (importlib.import_module(f"forestalign.cli.{name}").__doc__ or "").splitlines()
    if line.strip().startswith("forestalign ")
]


@pytest.mark.parametrize(("place", "action"), ACTIONS, ids=[place for place, _ in ACTIONS])
def test_every_option_has_a_help_in_the_same_voice(place: str, action: argparse.Action) -> None:
    assert action.help, f"{place} has no help"
    text = action.help
    assert not text.endswith("."), f"{place}: a help is no sentence and has no stop"
    assert text[0].islower() or text[0] in "µL`" or text.split()[0].isupper(), f"{place}: {text!r}"
    assert not re.match(r"(of|for|the weight|whether|if)\b", text), f"{place}: {text!r} is a fragment"
    assert not re.search(r"\ba (pair|line)\b(?= *[,;)]|$)", re.sub(r"(of|to|on|in|from|is) a (pair|line)", "", text))


@pytest.mark.parametrize(("place", "action"), ACTIONS, ids=[place for place, _ in ACTIONS])
def test_a_number_that_is_asked_for_has_a_name(place: str, action: argparse.Action) -> None:
    if action.option_strings and action.type is int and action.choices is None:
        shown = action.metavar or action.dest.upper()
        assert isinstance(shown, str)
        assert shown.isupper()


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_in_a_help_is_a_command_line(example: str) -> None:
    line = example.split(" > ")[0].split(" | ")[0].split("   #")[0].rstrip("\\")
    name, *arguments = shlex.split(line)[1:]
    assert name in COMMANDS
    parser_of(name).parse_args(arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_in_one_line_what_it_does(name: str) -> None:
    line = COMMANDS[name]
    assert line[0].islower()
    assert not line.endswith(".")
    doc = importlib.import_module(f"forestalign.cli.{name}").__doc__ or ""
    first = doc.splitlines()[0]
    assert first[0].isupper()
    assert first.endswith((".", ":"))


@pytest.mark.parametrize("name", COMMANDS)
def test_short_options_mean_the_same_in_every_command(name: str) -> None:
    meanings = {"-o": "output", "-j": "jobs", "-q": "quiet", "-B": "samples", "-h": "help"}
    for parser in parsers(name):
        for action in parser._actions:
            for option in action.option_strings:
                if not option.startswith("--"):
                    assert meanings[option] == action.dest


@pytest.mark.parametrize("name", COMMANDS)
def test_options_that_may_be_idle_exist(name: str) -> None:
    rules: tuple[Idle, ...] = getattr(importlib.import_module(f"forestalign.cli.{name}"), "IDLE", ())
    known = {option for action in parser_of(name)._actions for option in action.option_strings}
    assert {rule.option for rule in rules} <= known


@pytest.mark.parametrize("name", ["align", "rerank", "similarity"])
def test_options_of_settings_are_settings(name: str) -> None:
    group = next(each for each in parser_of(name)._action_groups if each.title == "settings")
    names = {action.dest for action in group._group_actions} - {"set"}
    assert names <= set(AlignConfig.__dataclass_fields__)
