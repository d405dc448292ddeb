"""Every command from its command line, in this process: help, bad usage, bad input, and the smallest good input.

What the commands share: settings from options, pairs from arguments, named files, unused options, completion.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forestalign.batch.workers import Processes
from forestalign.cli import COMMANDS, CommandParser, main
from forestalign.cli.align_options import add_align_options, config_of
from forestalign.cli.completion import SHELLS, completion
from forestalign.cli.options import (
    add_batch_options,
    add_pair_arguments,
    line_count,
    open_workers,
    read_pair_input,
)
from forestalign.config import DEFAULT_CONFIG
from forestalign.formats.pairs import PairRecord
from tests.builders.commands import Run, runner

TREES = "(S (NP (NNS Dogs)) (VP (VBP bark)))\n(S (NP (NNS Cats)) (VP (VBP sleep)))\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in an empty folder with a few small files."""
    monkeypatch.chdir(tmp_path)
    Path("trees.mrg").write_text(TREES, encoding="utf-8")
    Path("dogs.txt").write_text("Dogs bark\n", encoding="utf-8")
    Path("pairs.tsv").write_text("Dogs bark\tCats sleep\n", encoding="utf-8")
    return runner(capfd)


# ---- help ----


@pytest.mark.parametrize("command", COMMANDS)
def test_help_goes_to_stdout_and_succeeds(run: Run, command: str) -> None:
    answer = run(command, "--help")
    assert (answer.code, answer.err) == (0, "")
    assert f"\nusage: forestalign {command}" in answer.out  # after what it is for, and examples


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_one_line_on_stderr(run: Run, command: str) -> None:
    answer = run(command, "--frobnicate")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"forestalign {command}")
    assert answer.err.count("\n") == 1


# ---- bad usage and bad input ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("align --kbest 3 --trees trees.mrg pairs.tsv", "--kbest does nothing without --json"),
        ("align --with-forests --trees trees.mrg pairs.tsv", "--with-forests does nothing without --json"),
        ("align --bars --json --trees trees.mrg pairs.tsv", "--bars does nothing with --json, which has them all"),
        ("align --nbest 3 --trees trees.mrg pairs.tsv", "--nbest does nothing beside parses of your own"),
        ("words --links dictionary --profile paper missing.tsv", "--profile does nothing with --links dictionary"),
        ("words --model token missing.tsv", "--model does nothing without --links crf"),
    ],
)
def test_an_option_that_does_nothing_is_told(run: Run, arguments: str, message: str) -> None:
    assert message in run(*arguments.split()).err


# ---- the smallest good input ----


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("missing.txt", "gone.txt"), 1, "missing.txt: cannot be read"),  # names of files, not words
        (("dogs.txt", "Cats sleep"), 1, "Cats sleep: cannot be read"),
        (("Dogs bark",), 2, "is not a file; expected a file of pairs, or two sentences"),
        (("Dogs bark", " "), 1, "the target is empty"),
    ],
)
def test_what_is_neither_two_sentences_nor_files_is_told(
    run: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    answer = run("align", "--trees", "trees.mrg", *arguments)
    assert answer.code == code
    assert message in answer.err


@pytest.mark.parametrize(
    ("typed", "expected", "unexpected"),
    [
        ("forestalign al", "align", "words"),
        ("forestalign words --lin", "--links", "--beam"),
        ("forestalign words --links d", "dictionary", "sultan"),
        ("forestalign evaluate ph", "phrases", "words"),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_values(run: Run, typed: str, expected: str, unexpected: str) -> None:
    words = typed.split()
    Path("script.sh").write_text(
        run("completion", "bash").out
        + f"COMP_WORDS=({typed})\nCOMP_CWORD={len(words) - 1}\n_shtab_forestalign\n"
        + "printf '%s\\n' \"${COMPREPLY[@]}\"\n",
        encoding="utf-8",
    )
    done = subprocess.run(["bash", "script.sh"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert expected in done.stdout.split()
    assert unexpected not in done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_files_with_blanks_and_offers_no_files_for_values(run: Run) -> None:
    Path("my results.jsonl").touch()
    script = run("completion", "bash").out + (
        't() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_forestalign; '
        "printf '<%s>' \"${COMPREPLY[@]}\"; echo; }\n"
        "t forestalign extract my\nt forestalign extract -o my\nt forestalign align --beam my\n"
        "t forestalign align --profile ''\n"
    )
    Path("script.sh").write_text(script, encoding="utf-8")
    done = subprocess.run(["bash", "script.sh"], capture_output=True, text=True, check=True)
    file = "<my results.jsonl>"
    assert done.stdout.splitlines() == [file, file, "<>", "<best><paper><published>"]


def test_sentences_come_from_stdin_by_default(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Cats sleep\n"), encoding="utf-8"))
    assert run("parse", "--quiet", "--trees", "trees.mrg").out == "(TOP (S (NP (NNS Cats)) (VP (VBP sleep))))\n"


def test_the_shipped_model_is_shown_with_as_many_features_as_asked_for(run: Run) -> None:
    short, long = run("model", "show", "--top", "1").out, run("model", "show", "--top", "5").out
    assert 0 < len(short.splitlines()) < len(long.splitlines())
    assert "card" in json.loads(run("model", "show", "--json").out)


# ---- what all commands share ----


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a\n", 1), ("a\nb\n", 2), ("a\nb", 1)])
def test_lines_of_a_plain_file_are_counted_by_their_ends(tmp_path: Path, text: str, lines: int) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(text.encode())
    assert line_count(str(path)) == lines


def fake_command(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Makes `forestalign view` fail as told."""

    def fail(args: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr("forestalign.cli.view.run", fail)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(28, "No space left on device", "out.html"), 1, "out.html: No space left on device"),
        (OSError("odd"), 1, "forestalign view: odd"),
        (KeyboardInterrupt(), 130, "forestalign view: interrupted"),
    ],
)
def test_what_the_system_says_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    run("view", "--help")  # the module has to be there before its function can be replaced
    fake_command(monkeypatch, error)
    answer = run("view", "x.jsonl", "-o", "page.html")
    assert answer.code == code
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_an_error_of_ours_is_never_hidden(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("view", "--help")
    fake_command(monkeypatch, ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        main(["view", "x.jsonl", "-o", "page.html"])


def test_linear_algebra_is_kept_to_one_thread(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    run("view", "--help")
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_what_a_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    main([])
    print("caf\u00e9", file=narrow, flush=True)
    assert narrow.buffer.getvalue() == b"caf\\xe9\n"  # type: ignore[attr-defined]


def test_closed_streams_are_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main([]) == 2


def parsed(*arguments: str) -> argparse.Namespace:
    parser = CommandParser(prog="forestalign test")
    add_align_options(parser)
    add_batch_options(parser)
    return parser.parse_args(arguments)


# ---- settings ----


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ("", {}),
        ("--beam 7", {"beam": 7}),
        ("--null-penalty 2.5 --set scoring=paper", {"null_penalty": 2.5, "scoring": "paper"}),
        ("--monotonic --one-best", {"monotonic": True, "one_best": True}),
        ("--links dictionary", {"links": "dictionary"}),
        ("--links links.txt", {}),
        ("--trees trees.mrg", {"backend": "trees"}),
        ("--forests forests.jsonl", {"backend": "trees"}),
        ("--set lifts=false", {"lifts": False}),
        ("--set lifts=False", {"lifts": False}),
        ("--set temperature=3", {"temperature": 3.0}),
        ("--set beam=9 --set beam=8", {"beam": 8}),
    ],
)
def test_options_become_settings(arguments: str, changed: dict[str, object]) -> None:
    assert config_of(parsed(*arguments.split())).differences() == changed


def test_a_price_without_effect_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    config_of(parsed("--null-penalty", "2"))
    assert "null_penalty has no effect with scoring=best" in capsys.readouterr().err


def test_em_knows_only_prices_that_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(tmp_path / "none.tsv"), "-o", str(tmp_path / "model.json.gz"), "--null-penalty", "2"])
    said = capsys.readouterr().err
    assert "none.tsv" in said
    assert "no effect" not in said


# ---- pairs ----


def pairs_of(*arguments: str) -> list[tuple[str, ...]]:
    parser = CommandParser(prog="forestalign test")
    add_pair_arguments(parser)
    parser.add_argument("--tokenized", action="store_true")
    found = [unread.read() for unread in read_pair_input(parser.parse_args(arguments))]
    return [(*record.source.words, "|", *record.target.words) for record in found if isinstance(record, PairRecord)]


def test_pairs_come_from_a_file_two_files_or_two_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("He left.\tHe went.\n")
    Path("one.txt").write_text("He left.\n")
    Path("two.txt").write_text("He went.\n")
    expected = [("He", "left", ".", "|", "He", "went", ".")]
    assert pairs_of("pairs.tsv") == expected
    assert pairs_of("one.txt", "two.txt") == expected
    assert pairs_of("He left.", "He went.") == expected
    assert pairs_of("--tokenized", "pairs.tsv") == [("He", "left.", "|", "He", "went.")]


# ---- files and workers ----


def test_one_process_needs_no_workers() -> None:
    with open_workers(parsed("--jobs", "1")) as workers:
        assert workers is None
    with open_workers(parsed("--jobs", "3")) as workers:
        assert isinstance(workers, Processes)
        assert workers.capacity == 3


# ---- suggestions and completion ----


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_knows_options_and_their_values(shell: str) -> None:
    text = completion(shell)
    assert "best paper published" in text  # the values of --profile
    assert ("--time-limit" if shell != "fish" else "-l time-limit") in text


def test_the_defaults_are_those_of_the_library() -> None:
    assert config_of(parsed()) == DEFAULT_CONFIG
