"""A misspelt command, option or choice: what the user may have meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from difflib import get_close_matches

_UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)


def with_suggestion(message: str, parser: argparse.ArgumentParser) -> str:
    """A message of argparse, with "did you mean" where something near is known."""
    if found := _UNKNOWN.match(message):
        words = [word.partition("=")[0] for word in found[1].split() if word.startswith("-")]
        known = sorted(set(option_names(parser)))
    elif found := _CHOICE.search(message):
        words, known = [found[1]], re.findall(r"[\w-]+", found[2])
    else:
        return message
    near = [match for word in words for match in get_close_matches(word, known, n=1, cutoff=0.6)]
    return f"{message}; did you mean {' '.join(near)}?" if near else message


def option_names(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The long options of a parser and of its sub-commands, without those that the help does not show."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from option_names(child)
        elif action.help != argparse.SUPPRESS:
            yield from (option for option in action.option_strings if option.startswith("--"))
