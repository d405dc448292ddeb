"""What the subcommands of score.py count: readings, trees, spans, parts of treebanks."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import ablate
import pytest
import score
from scoring import parser, trees
from scoring.ambiguous_pairs import AmbiguousPair, LabelledSpan, Reading

from forestalign.config import AlignConfig
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence
from forestalign.reranking import Reranked, RerankedPair
from forestalign.tokens import Span
from forestalign.trees import ScoredTree, Tree, format_brackets, parse_brackets
from tests.builders.annotations import SOURCE, TARGET, record, write

LOW = parse_brackets("(S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS lenses))))))")
HIGH = parse_brackets("(S (NP (PRP We)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS lenses)))))")


def sentence(tree: Tree) -> AnnotatedSentence:
    tokens = tuple(str(leaf.word) for leaf in tree.leaves())
    return AnnotatedSentence(" ".join(tokens), tokens, tree)


@pytest.mark.parametrize("name", score.COMMANDS)
def test_every_subcommand_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        score.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: score.py {name}" in capsys.readouterr().out


def test_no_row_of_the_ablation_asks_for_a_setting_that_is_gone() -> None:
    known = {field.name for field in fields(AlignConfig)}
    assert [each.name for each in ablate.VARIANTS if not each.settings.keys() <= known] == []


# ---- rerank ----


def answer(best: Tree, chosen: Tree) -> Reranked:
    return Reranked(ScoredTree(best, -1.0), ScoredTree(chosen, -2.0))


def test_readings_are_counted_on_the_ambiguous_side_alone() -> None:
    pair = AnnotatedPair("1", (), sentence(HIGH), sentence(HIGH), ())
    reading = Reading((LabelledSpan(2, 3, "NP"),), (Span(2, 5),))
    pairs = [AmbiguousPair(pair, "dev", "pp-attachment", side, reading) for side in ("source", "target", "source")]
    answers = [
        RerankedPair(answer(LOW, HIGH), answer(HIGH, LOW)),  # put right
        RerankedPair(answer(LOW, HIGH), answer(HIGH, LOW)),  # broken
        RerankedPair(answer(LOW, LOW), answer(HIGH, HIGH)),
    ]
    lines = [" ".join(line.split()) for line in trees.format_readings(pairs, answers).splitlines()]
    assert lines[0] == "pp-attachment 1 of 2 wrong put right 1 of 1 right broken"
    assert lines[1] == "relative-clause 0 of 0 wrong put right 0 of 0 right broken"
    assert lines[-1] == "whole trees 1 of 2 wrong put right 1 of 1 right broken"


def test_brackets_and_heads_are_scored_before_and_after() -> None:
    rows = [line.split() for line in trees.format_tree_scores([trees.Choice(HIGH, LOW, HIGH)], 10).splitlines()]
    assert rows[0][:5] == ["bracket", "F1", "92.31", "->", "100.00"]
    assert rows[1][:4] == ["UAS", "80.00", "->", "100.00"]


# ---- the others ----


def test_phrases_in_other_words_are_counted_by_their_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "source": "[1 She] [2a turned] [3 the offer] [2b down] again .",
        "target": "[1 She] [2 rejected] [3 the offer] again .",
    }
    more = {"id": "1", "split": "dev", "genre": "news", "phenomena": [], "relation": "same"}
    path = tmp_path / "written.jsonl"
    path.write_text(json.dumps(texts | more), encoding="utf-8")
    score.main(["reworded", str(path)])
    assert capsys.readouterr().out.splitlines()[:3] == [
        "several words    100.0 % (1 of 1)",
        "one word         0.0 % (0 of 0)",
        "the same words   100.0 % (2 of 2)",
    ]


def test_both_trees_of_annotated_pairs_are_scored_by_the_corpus_of_each(tmp_path: Path) -> None:
    origin = {"corpus": "web", "licence": "free", "number": 3, "side": "target"}
    path = write(tmp_path / "set.jsonl", record(origin=origin), record(id="p2"))
    gold = parser.read_gold(str(path))
    assert [each.part for each in gold] == [parser.WRITTEN, "web", "", ""]
    brackets = [format_brackets(parse_brackets(tree)) for tree in (SOURCE, TARGET)]
    assert [format_brackets(each.tree) for each in gold] == brackets * 2


def test_treebanks_have_the_parts_that_are_named(tmp_path: Path) -> None:
    path = str(write(tmp_path / "trees.mrg", SOURCE, TARGET))
    assert [each.part for each in parser.read_gold(path)] == ["", ""]
    assert [each.part for each in parser.read_gold(path, ["one", "other"])] == ["one", "other"]
    with pytest.raises(SystemExit, match="2 trees cannot be cut into 3 equal groups"):
        parser.read_gold(path, ["a", "b", "c"])
