"""Options that do nothing beside the others that were given: a line on stderr says so.

A command names them in `UNUSED`; the line is printed before the command runs, which goes on all the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Unused(NamedTuple):
    """An option, when it does nothing, and how to say that: "without --json", "with --links {links}"."""

    option: str
    is_unused: Callable[[argparse.Namespace], bool]
    beside: str


def warn_of_unused(parser: argparse.ArgumentParser, args: argparse.Namespace, rules: Sequence[Unused]) -> None:
    """Tell which of the options that were changed from their defaults do nothing."""
    dests = {option: action.dest for action in parser._actions for option in action.option_strings}
    for option, is_unused, beside in rules:
        dest = dests[option]
        if getattr(args, dest) != parser.get_default(dest) and is_unused(args):
            print(f"{parser.prog}: {option} does nothing {beside.format_map(vars(args))}", file=sys.stderr)
