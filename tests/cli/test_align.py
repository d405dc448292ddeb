"""The commands `align` and `rerank`, and the manners that all commands share.

Most tests bring their own trees, so that nothing depends on what the shipped parser makes of a sentence; those that
parse look at the structure of the answer alone.
"""

from __future__ import annotations

import gzip
import json
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

from forestalign.cli import COMMANDS
from forestalign.formats.codec import to_json
from tests.builders.commands import Answer, Run, runner

pytestmark = pytest.mark.usefixtures("in_this_process")

PAIRS = "The cat sat.\tThe cat was sitting.\nHe died.\tHe kicked the bucket.\n"
TREES = """\
(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))
(S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBG sitting))) (. .))
(S (NP (PRP He)) (VP (VBD died)) (. .))
(S (NP (PRP He)) (VP (VBD kicked) (NP (DT the) (NN bucket))) (. .))
"""
AMBIGUOUS = """\
0\t-0.3\t(S (NP (PRP We)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT the) (NN dog))))) (. .))
0\t-1.4\t(S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT the) (NN dog)))) (. .))
1\t0.0\t(S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT the) (NN dog)))) (. !))
"""
AMBIGUOUS_PAIR = "We saw the man with the dog.\tWe saw the man with the dog!\n"
PLAIN = ("--model", "hand-set", "--links", "dictionary")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder with some files in it."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(PAIRS)
    Path("trees.mrg").write_text(TREES)
    Path("old.txt").write_text("old\n")
    return runner(capfd)


def align(run: Run, *arguments: str) -> Answer:
    return run("align", *arguments, *PLAIN, "--trees", "trees.mrg")


# ---- what align prints ----


def test_the_readable_output_has_both_sentences_and_a_tree_of_phrases(run: Run) -> None:
    answer = align(run, "pairs.tsv")
    assert (answer.code, answer.err) == (0, "")
    first, second = answer.out.strip().split("\n\n")
    lines = first.splitlines()
    assert lines[1:3] == ["  source: The cat sat.", "  target: The cat was sitting."]
    assert [line[7:] for line in lines[3:5]] == ["The cat = The cat", "sat = sitting"]
    assert lines[5:] == ["  replaced: sat → was sitting"]
    assert re.fullmatch(r"  \.\d\d  The cat = The cat", lines[3])
    assert second.splitlines()[2] == "  target: He kicked the bucket."


def test_json_lines_are_the_documented_records(run: Run) -> None:
    answer = align(run, "pairs.tsv", "--json")
    assert [to_json(record) for record in answer.records] == answer.out.splitlines()
    assert [record.id for record in answer.records] == ["1", "2"]
    assert all(record.phrases.reached_root and record.signature.startswith("forestalign ") for record in answer.records)


def test_the_signature_names_the_settings_that_differ(run: Run) -> None:
    answer = align(run, "pairs.tsv", "--json", "--beam", "7", "--set", "lifts=false")
    assert " beam=7 " in answer.records[0].signature
    assert answer.records[0].signature.endswith(" lifts=False")


def test_kbest_gives_alternatives_that_are_no_better(run: Run) -> None:
    record = align(run, "pairs.tsv", "--json", "--kbest", "3").records[0]
    assert 1 <= len(record.alternatives) <= 2
    assert all(other.log_score <= record.phrases.log_score for other in record.alternatives)


def test_constituents_that_were_not_chosen_are_given_on_demand(run: Run) -> None:
    Path("pairs.tsv").write_text(AMBIGUOUS_PAIR)
    Path("trees.mrg").write_text(AMBIGUOUS)
    record = align(run, "pairs.tsv", "--json", "--with-forests", "--set", "mutual=false").records[0]
    assert record.unchosen is not None
    assert [(node.begin, node.end, node.label) for node in record.unchosen.source] == [(2, 7, "NP")]
    assert record.unchosen.target == ()


# ---- where pairs, parses and links come from ----


def test_pairs_come_from_gzip_and_from_two_files(run: Run) -> None:
    expected = align(run, "pairs.tsv", "--json").out
    with gzip.open("pairs.tsv.gz", "wt") as file:
        file.write(PAIRS)
    Path("source.txt").write_text("The cat sat.\nHe died.\n")
    Path("target.txt").write_text("The cat was sitting.\nHe kicked the bucket.\n")
    assert align(run, "pairs.tsv.gz", "--json").out == expected
    assert align(run, "source.txt", "target.txt", "--json").out == expected


def test_forests_written_by_parse_can_be_given(run: Run) -> None:
    Path("sentences.txt").write_text("The cat sat.\nThe cat was sitting.\nHe died.\nHe kicked the bucket.\n")
    run("parse", "sentences.txt", "--trees", "trees.mrg", "--forest", "-o", "forests.jsonl")
    answer = run("align", "pairs.tsv", *PLAIN, "--forests", "forests.jsonl", "--json")
    assert [record.phrases for record in answer.records] == [
        record.phrases for record in align(run, "pairs.tsv", "--json").records
    ]


def test_links_of_a_file_take_the_place_of_our_own(run: Run) -> None:
    Path("links.txt").write_text("0-0 1-1\n0-0 1-1:0.5\n")
    answer = run("align", "pairs.tsv", "--model", "hand-set", "--links", "links.txt", "--trees", "trees.mrg", "--json")
    assert [[(word.source, word.target) for word in record.words] for record in answer.records] == [
        [(0, 0), (1, 1)]
    ] * 2


# ---- what goes wrong ----


def test_a_sentence_without_a_given_tree_fails_alone(run: Run) -> None:
    Path("pairs.tsv").write_text(f"Unknown words.\tHe died.\n{PAIRS}")
    answer = align(run, "pairs.tsv", "--json")
    assert answer.code == 1
    assert "line 1: the source cannot be parsed: no tree was given" in answer.err
    assert len(answer.records) == 2


# ---- long work ----


def test_a_finished_run_has_nothing_to_resume(run: Run) -> None:
    assert align(run, "pairs.tsv", "--json", "-o", "out.jsonl").code == 0
    whole = Path("out.jsonl").read_text()
    answer = align(run, "pairs.tsv", "--json", "-o", "out.jsonl", "--resume")
    assert answer.code != 0
    assert "nothing to resume" in answer.err
    assert Path("out.jsonl").read_text() == whole


# ---- rerank ----


def test_rerank_prints_the_one_best_next_to_the_chosen_tree(run: Run) -> None:
    answer = run("rerank", "pairs.tsv", *PLAIN, "--trees", "trees.mrg")
    assert answer.code == 0
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert [row[:2] for row in rows] == [["1", "source"], ["1", "target"], ["2", "source"], ["2", "target"]]
    for row, tree in zip(rows, TREES.splitlines(), strict=True):
        assert row[3] == row[5] == f"(TOP {tree})"  # with one tree there is nothing to choose
        assert float(row[2]) == float(row[4]) == 0.0


def test_rerank_lets_the_other_sentence_choose_the_attachment(run: Run) -> None:
    Path("pairs.tsv").write_text(AMBIGUOUS_PAIR)
    Path("trees.mrg").write_text(AMBIGUOUS)
    answer = run("rerank", "pairs.tsv", *PLAIN, "--trees", "trees.mrg", "--json", "--parse-weight", "0")
    found = json.loads(answer.out)
    trees = [line.split("\t")[2] for line in AMBIGUOUS.splitlines()]
    assert found["source"]["best"][1] == f"(TOP {trees[0]})"
    assert found["source"]["chosen"][1] == f"(TOP {trees[1]})"
    assert found["source"]["chosen"][0] < found["source"]["best"][0] < 0.0
    assert found["target"]["chosen"][1] == f"(TOP {trees[2]})"


# ---- all commands ----


def test_help_lists_exactly_the_commands_there_are(run: Run) -> None:
    answer = run("--help")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.partition("commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert listed == list(COMMANDS)
    folder = Path(import_module("forestalign.cli").__file__ or "").parent
    modules = {path.stem for path in folder.glob("*.py") if "def configure(" in path.read_text()}
    assert set(COMMANDS) == modules


def test_version_and_no_command(run: Run) -> None:
    assert run("--version").out == f"forestalign {version('forestalign')}\n"
    answer = run()
    assert answer.code == 2
    assert "commands:" in answer.err
    answer = run("allign")
    assert answer.code == 2
    assert "invalid choice: 'allign'" in answer.err
