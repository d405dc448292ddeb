"""The figures of `rerank`: what counts as put right and as broken, and what stands below phrases in a treebank."""

from __future__ import annotations

from pathlib import Path

import score_rerank
import train_rerank

from forestalign.evaluation.ambiguous_pairs import AmbiguousPair, LabelledSpan, Reading
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence
from forestalign.reranking import Reranked, RerankedPair
from forestalign.tokens import Span
from forestalign.trees import ScoredTree, Tree, parse_brackets

LOW = parse_brackets("(S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS lenses))))))")
HIGH = parse_brackets("(S (NP (PRP We)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS lenses)))))")
WORDS = ("We", "saw", "men", "with", "lenses")


def ambiguous(side: str) -> AmbiguousPair:
    sentence = AnnotatedSentence(" ".join(WORDS), WORDS, HIGH)
    pair = AnnotatedPair("1", (), sentence, sentence, ())
    return AmbiguousPair(pair, "dev", "pp-attachment", side, Reading((LabelledSpan(2, 3, "NP"),), (Span(2, 5),)))


def answer(best: Tree, chosen: Tree) -> Reranked:
    return Reranked(ScoredTree(best, -1.0), ScoredTree(chosen, -2.0))


def test_readings_are_counted_on_the_ambiguous_side_alone() -> None:
    found = [
        RerankedPair(answer(LOW, HIGH), answer(HIGH, LOW)),  # put right
        RerankedPair(answer(LOW, HIGH), answer(HIGH, LOW)),  # broken
        RerankedPair(answer(LOW, LOW), answer(HIGH, HIGH)),
    ]
    lines = score_rerank.readings([ambiguous("source"), ambiguous("target"), ambiguous("source")], found).splitlines()
    plain = [" ".join(line.split()) for line in lines]
    assert plain[0] == "pp-attachment 1 of 2 wrong put right 1 of 1 right broken"
    assert plain[1] == "relative-clause 0 of 0 wrong put right 0 of 0 right broken"
    assert plain[-1] == "whole trees 1 of 2 wrong put right 1 of 1 right broken"


def test_brackets_and_heads_are_scored_before_and_after() -> None:
    table = score_rerank.tree_scores([score_rerank.Scored(HIGH, LOW, HIGH)], seed=0, samples=10)
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][:5] == ["bracket", "F1", "92.31", "->", "100.00"]
    assert rows[1][:4] == ["UAS", "80.00", "->", "100.00"]


def test_known_children_are_those_that_occur_often_enough(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("(S (NP-SBJ (PRP We)) (VP (VBD left)))\n" * 3 + "(S (NN dog) (VP (VBD left)))\n", encoding="utf-8")
    assert train_rerank.children_rows(str(path))[1:] == ["NP\tPRP", "S\tNP VP", "VP\tVBD"]
