"""What the commands share: settings from options, pairs from arguments, named files, unused options, completion."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from forestalign.batch.workers import Processes
from forestalign.cli import CommandParser, main, option_names, with_suggestion
from forestalign.cli.align_options import add_align_options, add_settings, config_of
from forestalign.cli.completion import SHELLS, completion
from forestalign.cli.options import (
    Unused,
    add_batch_options,
    add_pair_arguments,
    check_outputs,
    named_files,
    opened_workers,
    read_pair_input,
    warn_of_unused,
)
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.formats.pairs import PairRecord


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


def test_a_number_is_no_name_of_a_file() -> None:
    with pytest.raises(UsageError, match="ppdb takes a word, not 12"):
        config_of(parsed("--set", "ppdb=12"))


def test_a_price_without_effect_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    config_of(parsed("--null-penalty", "2"))
    assert "null_penalty has no effect with scoring=best" in capsys.readouterr().err


def test_em_knows_only_prices_that_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(tmp_path / "none.tsv"), "-o", str(tmp_path / "model.json.gz"), "--null-penalty", "2"])
    said = capsys.readouterr().err
    assert "none.tsv" in said
    assert "no effect" not in said


def test_the_phrase_model_can_be_left_out_of_the_settings() -> None:
    parser = CommandParser(prog="forestalign test")
    add_settings(parser, phrase_model=False)
    assert "--model" not in set(option_names(parser))
    assert "--beam" in set(option_names(parser))


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


def test_one_sentence_is_no_pair() -> None:
    with pytest.raises(UsageError, match="is not a file; expected a file of pairs, or two sentences"):
        pairs_of("He left the house.")


# ---- files and workers ----


def test_all_files_that_options_name_are_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pairs.tsv", "list.ppdb", "scores.json", "out.txt"):
        Path(name).write_text("x")
    args = parsed("pairs.tsv", "--ppdb", "list.ppdb", "--set", "scores=scores.json", "-o", "out.txt")
    assert sorted(named_files(args)) == ["list.ppdb", "pairs.tsv", "scores.json"]


def test_an_output_that_is_there_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old")
    with pytest.raises(UsageError, match=r"old\.txt exists already; --resume continues it, --force replaces it"):
        check_outputs(parsed("-o", "old.txt"), "output")
    check_outputs(parsed("-o", "old.txt", "--force"), "output")
    check_outputs(parsed("-o", "old.txt", "--resume"), "output")
    check_outputs(parsed("-o", "new.txt"), "output")


def test_one_process_needs_no_workers() -> None:
    with opened_workers(parsed("--jobs", "1")) as workers:
        assert workers is None
    with opened_workers(parsed("--jobs", "3")) as workers:
        assert isinstance(workers, Processes)
        assert workers.capacity == 3


# ---- unused options ----


RULES = (Unused("--kbest", lambda args: not args.json, "without --json"),)


@pytest.mark.parametrize(
    ("arguments", "told"), [("--kbest 3", True), ("--kbest 3 --json", False), ("--json", False), ("", False)]
)
def test_an_option_that_does_nothing_is_told_once(
    arguments: str, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = CommandParser(prog="forestalign test")
    parser.add_argument("--kbest", type=int)
    parser.add_argument("--json", action="store_true")
    warn_of_unused(parser, parser.parse_args(arguments.split()), RULES)
    expected = "forestalign test: --kbest does nothing without --json\n" if told else ""
    assert capsys.readouterr().err == expected


# ---- suggestions and completion ----


def suggesting() -> CommandParser:
    parser = CommandParser(prog="forestalign test")
    parser.add_argument("--output")
    parser.add_argument("--form", choices=("json", "text"))
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    return parser


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("unrecognized arguments: --outptu x", "; did you mean --output?"),
        ("unrecognized arguments: --frm=json", "; did you mean --form?"),
        ("unrecognized arguments: --secre", ""),
        ("unrecognized arguments: file", ""),
        ("argument --form: invalid choice: 'jsn' (choose from 'json', 'text')", "; did you mean json?"),
        ("expected one argument", ""),
    ],
)
def test_what_is_near_is_suggested(message: str, expected: str) -> None:
    assert with_suggestion(message, suggesting()) == message + expected


def test_hidden_options_are_not_offered() -> None:
    assert set(option_names(suggesting())) == {"--help", "--output", "--form"}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_knows_options_and_their_values(shell: str) -> None:
    text = completion(shell)
    assert "best paper published" in text  # the values of --profile
    assert ("--time-limit" if shell != "fish" else "-l time-limit") in text


def test_the_defaults_are_those_of_the_library() -> None:
    assert config_of(parsed()) == DEFAULT_CONFIG
