"""Commands that look at results take pairs and sentences as well, align them first, and say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forestalign.cli import main
from forestalign.cli.options import is_results
from forestalign.formats.pairs import read_pairs
from forestalign.formats.word_links import read_gold_links
from tests.builders.commands import Run, runner

SENTENCES = "He bought a car.", "He purchased an automobile."
pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("\t".join(SENTENCES) + "\n")
    return runner(capfd)


def outputs(run: Run, command: str, *inputs: str) -> tuple[str, str]:
    """What a command makes of an input, and what it says."""
    if command == "similarity":
        answer = run(command, *inputs)
        return answer.out, answer.err
    answer = run(command, *inputs, "-o", "made", "--force", "-q" if command == "none" else "--jobs=1")
    assert answer.code == 0, answer.err
    return Path("made").read_text(), answer.err


@pytest.mark.parametrize(
    "command", ["edits", *(pytest.param(name, marks=pytest.mark.heavy) for name in ("extract", "view"))]
)
def test_results_pairs_and_sentences_come_to_the_same(command: str, run: Run) -> None:
    assert run("align", "pairs.tsv", "--json", "-q", "-o", "results.jsonl").code == 0
    Path("results.jsonl").rename("pairs.jsonl")  # the page and the report have the name of the file
    expected, said = outputs(run, command, "pairs.jsonl")
    assert "align" not in said
    made, said = outputs(run, command, "pairs.tsv")
    assert made.replace("pairs.tsv", "pairs.jsonl") == expected
    assert f"forestalign {command}: pairs.tsv holds pairs of sentences; aligning them first" in said
    made, _ = outputs(run, command, *SENTENCES)
    assert "automobile" in made


@pytest.mark.heavy
def test_similarity_takes_all_three(run: Run) -> None:
    assert run("align", "pairs.tsv", "--json", "-q", "-o", "results.jsonl").code == 0
    judged = [run("similarity", *inputs) for inputs in (["pairs.tsv"], SENTENCES, ["results.jsonl"])]
    assert [answer.code for answer in judged] == [0, 0, 0]
    assert judged[0].out == judged[1].out
    assert judged[2].out == run("similarity", "--results", "results.jsonl").out


@pytest.mark.heavy
def test_a_pair_that_fails_is_told_and_the_rest_is_done(run: Run) -> None:
    Path("pairs.tsv").write_text("one column\n" + "\t".join(SENTENCES) + "\n")
    answer = run("edits", "pairs.tsv", "--json")
    assert answer.code == 1
    assert "line 1: one column" in answer.err
    assert [json.loads(line)["id"] for line in answer.out.splitlines()] == ["2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ('{"version": 1, "phrases": []}\n', True),
        ('\n{"version": 1', True),
        ("a\tb\n", False),
        ('{"id": "1", "source": "a", "target": "b"}\n', False),
    ],
)
def test_results_are_told_from_pairs_by_their_first_line(text: str, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_text(text)
    assert is_results(str(path)) == expected


def test_the_sample_has_pairs_and_gold_for_them(run: Run) -> None:
    Path("sample.tsv").write_text(run("sample").out)
    Path("gold.jsonl").write_text(run("sample", "--gold").out)
    pairs, gold = list(read_pairs("sample.tsv")), list(read_gold_links("gold.jsonl"))
    assert len(pairs) == len(gold) == 12
    for pair, linked in zip(pairs, gold, strict=True):
        assert (pair.source.words, pair.target.words) == (linked.gold.source, linked.gold.target)  # type: ignore[union-attr]
        assert linked.gold.sure


def test_a_short_form_of_the_sample_reads_well(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["align", "She turned the offer down.", "She refused the offer.", "--short", "-q"]) == 0
    assert capfd.readouterr().out.splitlines()[1:3] == [
        "  [1 She] [2 turned] [3 the offer] [2 down].",
        "  [1 She] [2 refused] [3 the offer].",
    ]
