"""Print a script that lets a shell complete commands, options and their values when you press TAB.

    forestalign completion bash > ~/.local/share/bash-completion/completions/forestalign
    forestalign completion zsh > ~/.zsh/_forestalign             # then, in ~/.zshrc: source ~/.zsh/_forestalign
    forestalign completion fish > ~/.config/fish/completions/forestalign.fish

Print it again after an update: it holds the options of this version.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Iterator

from forestalign.cli import COMMANDS, CommandParser
from forestalign.cli.suggestions import option_names

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")


def run(args: argparse.Namespace) -> int:
    """Print the completion."""
    print(completion(args.shell), end="")
    return 0


def completion(shell: str) -> str:
    """The text of the file that a shell reads."""
    if shell == "fish":
        return "".join(f"{line}\n" for line in _fish_lines())
    start = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return start + _bash_script()


def _parser(name: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=f"forestalign {name}")
    importlib.import_module(f"forestalign.cli.{name}").configure(parser)
    return parser


def _values(parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    """Each option that takes one of some words, and the words; for sub-commands and such the option is empty."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield "", list(action.choices)
            for child in action.choices.values():
                yield from _values(child)
        elif action.choices and action.help != argparse.SUPPRESS:
            option = next((name for name in action.option_strings if name.startswith("--")), "")
            yield option, list(map(str, action.choices))


def _words(parser: argparse.ArgumentParser) -> list[str]:
    loose = [word for option, words in _values(parser) if not option for word in words]
    return [*dict.fromkeys(loose), *sorted(set(option_names(parser)))]


def _bash_list(words: Iterable[str]) -> str:
    """Words for `compgen -W`, which takes a blank behind a backslash as part of a word (*more general*)."""
    return " ".join(word.replace(" ", "\\ ") for word in words)


def _fish_list(words: Iterable[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _bash_script() -> str:
    cases, values = [], []
    for name in COMMANDS:
        parser = _parser(name)
        cases.append(f"        {name}) offers='{_bash_list(_words(parser))}' ;;")
        values += [
            f"        '{name} {option}') offers='{_bash_list(words)}' files=no ;;"
            for option, words in _values(parser)
            if option
        ]
    return _BASH.format(commands=" ".join(COMMANDS), cases="\n".join(cases), values="\n".join(dict.fromkeys(values)))


_BASH = """\
_forestalign() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" offers="" files=yes found
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case "$command" in
{cases}
    esac
    case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
    esac
    found="$(compgen -W "$offers" -- "$word")"
    [ "$files" = no ] || found="$found
$(compgen -f -- "$word")"
    local IFS=$'\\n'
    COMPREPLY=($found)
}}
complete -o filenames -F _forestalign forestalign
"""


def _fish_lines() -> Iterator[str]:
    for name, text in COMMANDS.items():
        quoted = text.replace("'", "\\'")
        yield f"complete -c forestalign -n __fish_use_subcommand -f -a {name} -d '{quoted}'"
    for name in COMMANDS:
        parser, condition = _parser(name), f"-n '__fish_seen_subcommand_from {name}'"
        values = dict(_values(parser))
        if "" in values:
            yield f"complete -c forestalign {condition} -a '{_fish_list(values[''])}'"
        for option in sorted(set(option_names(parser))):
            choice = f" -x -a '{_fish_list(values[option])}'" if option in values else ""
            yield f"complete -c forestalign {condition} -l {option[2:]}{choice}"
