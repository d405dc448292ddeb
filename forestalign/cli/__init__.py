"""The command line: one module per command, imported only when it is asked for, so that start-up stays quick.

A command module has `configure(parser)`, which adds its arguments, and `run(args) -> int`, which returns the exit
code: 0 done, 1 some input failed, 2 bad usage. Results go to stdout, messages and progress to stderr.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from forestalign.errors import ForestAlignError, UsageError

COMMANDS = {
    "align": "align the phrases of pairs of sentences",
    "words": "align the words of pairs of sentences",
    "rerank": "choose parses by aligning, next to the parser's 1-best",
    "parse": "parse sentences into Penn trees, n-best lists or forests",
    "train": "learn the weights of phrase features from pairs of sentences",
    "tune": "find the best settings on a development set",
    "model": "show what a phrase model has learned",
    "crf": "train the CRF word aligners; phrase gold, decision scores, k-best lists",
    "evaluate": "score words, phrases or parses against gold, with significance tests",
    "annotations": "check annotated pairs; agreement of annotators",
    "view": "make a page to look at alignments in a browser",
    "serve": "the same page with two text boxes, on this machine",
}


# Matrices are small: a second thread of BLAS, which starts with numpy, mostly waits and takes a core from others.
ONE_BLAS_THREAD = ("OPENBLAS_NUM_THREADS", "1")


class CommandParser(argparse.ArgumentParser):
    """Says in one line what is wrong, as all other errors are told, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; '{self.prog} --help' tells more\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; errors that a user can fix become one line on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.setdefault(*ONE_BLAS_THREAD)
    _replace_closed_streams()
    parser = _top_parser()
    if not arguments or arguments[0] not in COMMANDS:
        parser.parse_args(arguments)
        parser.print_help(sys.stderr)
        return 2
    name = arguments[0]
    try:
        code = _run_command(name, arguments[1:])
        sys.stdout.flush()  # here, where a full disk or a closed pipe is still told well
        return code
    except ForestAlignError as error:
        print(f"forestalign {name}: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        # the reader has gone (`| head`); point stdout elsewhere so that the interpreter does not complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # of files that a command writes; readers tell more
        place = f"{error.filename}: " if error.filename else ""
        print(f"forestalign {name}: {place}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"forestalign {name}: interrupted", file=sys.stderr)
        return 130


def _run_command(name: str, arguments: Sequence[str]) -> int:
    command = importlib.import_module(f"forestalign.cli.{name}")
    parser = CommandParser(
        prog=f"forestalign {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.configure(parser)
    return int(command.run(parser.parse_args(arguments)))


def _replace_closed_streams() -> None:
    """A shell can close a standard stream (`>&-`), and Python then has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _top_parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<12} {line}" for name, line in COMMANDS.items())
    parser = CommandParser(
        prog="forestalign",
        usage="forestalign COMMAND ...",
        description="Align the phrases of two English sentences that say the same thing.",
        epilog=f"commands:\n{listing}\n\n'forestalign COMMAND --help' tells more about one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"forestalign {version('forestalign')}")
    parser.add_argument("command", nargs="?", choices=tuple(COMMANDS), metavar="COMMAND", help=argparse.SUPPRESS)
    return parser
