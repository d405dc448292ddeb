"""Print a script that lets a shell complete commands, options and their values when you press TAB.

    eval "$(forestalign completion bash)"                        # in ~/.bashrc, or for this shell alone
    eval "$(forestalign completion zsh)"                         # in ~/.zshrc, behind compinit
    forestalign completion bash > ~/.local/share/bash-completion/completions/forestalign
    forestalign completion zsh > ~/.zsh/_forestalign             # in a folder of $fpath
    forestalign completion fish > ~/.config/fish/completions/forestalign.fish

The other lines write files for folders that the shell reads, which have to be there; write them again after an update,
as they hold the options of this version.
"""

from __future__ import annotations

import argparse
import importlib

from forestalign.cli import COMMANDS, CommandParser

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the argument SHELL."""
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")


def run(args: argparse.Namespace) -> int:
    """Print the completion."""
    print(completion(args.shell))
    return 0


def completion(shell: str) -> str:
    """The text of the file that a shell reads."""
    import shtab

    parser = CommandParser(prog="forestalign")
    parser.add_argument("--version", action="version", help="print the version")
    commands = parser.add_subparsers()
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line)
        importlib.import_module(f"forestalign.cli.{name}").configure(command)
        _offer_files(command, shtab.FILE)
    return shtab.complete(parser, shell)


def _offer_files(parser: argparse.ArgumentParser, files: object) -> None:
    """What takes any text may take a file; a number or one of several words may not."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _offer_files(child, files)
        elif action.type is None and action.choices is None and action.nargs != 0:
            action.complete = files  # type: ignore[attr-defined]
