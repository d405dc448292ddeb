"""The command line: one module per command, imported only when it is asked for, so that start-up stays quick.

A command module has `configure(parser)`, which adds its arguments, and `run(args) -> int`, which returns the exit
code: 0 done, 1 some input failed, 2 bad usage. Results go to stdout, messages and progress to stderr.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import NoReturn

from forestalign.errors import ForestAlignError, UsageError
from forestalign.machine import is_out_of_memory
from forestalign.terminal import TerminalText

COMMANDS = {
    "align": "align the phrases of pairs of sentences",
    "words": "align the words of pairs of sentences",
    "rerank": "choose parses with the help of the other sentence, and show the parser's 1-best beside them",
    "parse": "parse sentences into Penn trees, n-best lists or forests",
    "train": "learn the weights of phrase features from pairs of sentences",
    "tune": "find the best settings on a development set",
    "model": "show what a phrase model has learned",
    "crf": "train and apply the CRF word aligners",
    "evaluate": "score words, phrases or parses against gold, with significance tests",
    "annotations": "check annotated pairs and measure agreement",
    "extract": "make a table of paraphrases from alignments",
    "edits": "say how the second sentence of each pair differs from the first",
    "compare": "say how one version of a text differs from another, sentence by sentence",
    "check": "check that a rewrite keeps the meaning, for hooks and CI",
    "similarity": "say whether the sentences of each pair mean the same, and why",
    "rules": "show which lines of the paraphrase grammar sentences meet, or check your own",
    "view": "write a page for browsing alignments",
    "serve": "run the same page on this machine, with two text boxes",
    "sample": "print pairs of sentences to try the other commands with",
    "completion": "print a script that lets a shell complete commands and options",
}


SAMPLES = "'forestalign sample > pairs.tsv' and 'forestalign sample --gold > gold.jsonl' write files for the examples."

# Matrices are small: a second thread of BLAS, which starts with numpy, mostly waits and takes a core from others. And
# the number of threads changes the last digits, so it is not the user's to choose (see `forestalign.machine`).
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# messages of argparse
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)


class CommandParser(argparse.ArgumentParser):
    """Says in one line what is wrong, as other errors do, without printing the whole usage first."""

    def format_help(self) -> str:
        """What the command does and its examples, then all options."""
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 and one line that says what is wrong."""
        told = with_suggestion(message, self)
        self.exit(2, f"{self.prog}: {told}{'' if told.endswith('?') else ';'} '{self.prog} --help' gives more help\n")


def with_suggestion(message: str, parser: argparse.ArgumentParser) -> str:
    """A message of argparse, with "did you mean" where something near is known."""
    if found := _UNKNOWN.match(message):
        words = [word.partition("=")[0] for word in found[1].split() if word.startswith("-")]
        known = sorted(set(option_names(parser)))
    elif found := _CHOICE.search(message):
        words, known = [found[1]], re.findall(r"[\w-]+", found[2])
    else:
        return message
    from difflib import get_close_matches

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; errors that a user can fix become one line on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))
    gc.set_threshold(50_000, 20, 100)  # looking for garbage in what is loaded takes 5 % of a short command
    ended = EndedBySignal()
    ended.listen()
    _replace_closed_streams()
    _escape_what_streams_cannot_write()
    _make_terminals_harmless()
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
    except Exception as error:
        if ended.code is not None:
            return ended.code
        if not is_out_of_memory(error):
            raise
        print(f"forestalign {name}: not enough memory", file=sys.stderr)
        return 1


def _run_command(name: str, arguments: Sequence[str]) -> int:
    command = importlib.import_module(f"forestalign.cli.{name}")
    parser = CommandParser(
        prog=f"forestalign {name}",
        description=command.__doc__,
        epilog=SAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.configure(parser)
    args = parser.parse_args(arguments)
    from forestalign.cli.options import warn_of_unused  # which imports more than --help needs

    warn_of_unused(parser, args, getattr(command, "UNUSED", ()))
    return int(command.run(args))


class EndedBySignal:
    """SIGTERM and SIGHUP leave as Ctrl-C does, so that half-written files and folders for sorting are removed.

    A library may turn the SystemExit into an error of its own (DuckDB: "Query interrupted"), so the code is kept here.
    """

    def __init__(self) -> None:
        self.code: int | None = None

    def listen(self) -> None:
        """Handle the signals that nobody else handles; only the main thread may."""
        if threading.current_thread() is not threading.main_thread():
            return
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._leave)

    def _leave(self, number: int, frame: object) -> NoReturn:
        self.code = 128 + number
        raise SystemExit(self.code)


def _replace_closed_streams() -> None:
    """A shell can close a standard stream (`>&-`), and Python then has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _escape_what_streams_cannot_write() -> None:
    """A terminal may know ASCII alone; what it cannot show is escaped, and no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="backslashreplace")


def _make_terminals_harmless() -> None:
    """Names of files, cards of models and whatever else is printed cannot steer a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream.isatty() and not isinstance(stream, TerminalText):
            setattr(sys, name, TerminalText(stream))


def _top_parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<12} {line}" for name, line in COMMANDS.items())
    parser = CommandParser(
        prog="forestalign",
        usage="forestalign COMMAND ...",
        description="Align the phrases of two English sentences that say the same thing.",
        epilog=f"commands:\n{listing}\n\n'forestalign COMMAND --help' describes a command in full.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"forestalign {version('forestalign')}")
    parser.add_argument("command", nargs="?", choices=tuple(COMMANDS), metavar="COMMAND", help=argparse.SUPPRESS)
    return parser
