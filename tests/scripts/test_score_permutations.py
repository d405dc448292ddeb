"""What of a permuted sentence counts as found again."""

from __future__ import annotations

from collections import Counter

import score_permutations

import forestalign
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence, Annotation, NamedPair, NodeName
from forestalign.tokens import Span
from forestalign.trees import parse_brackets

SOURCE = parse_brackets("(S (S (NP (NNS Dogs)) (VP (VBP bark))) (CC and) (S (NP (NNS cats)) (VP (VBP run))) (. .))")
TARGET = parse_brackets("(S (S (NP (NNS Cats)) (VP (VBP run))) (CC and) (S (NP (NNS dogs)) (VP (VBP bark))) (. .))")
LINKS = {0: 3, 1: 4, 2: 2, 3: 0, 4: 1, 5: 5}


def permuted() -> AnnotatedPair:
    sides = [
        AnnotatedSentence(" ".join(words), words, tree)
        for tree in (SOURCE, TARGET)
        for words in [tuple(str(leaf.word) for leaf in tree.leaves())]
    ]
    words = [NamedPair(NodeName(i, i + 1, "X", False), NodeName(j, j + 1, "X", False)) for i, j in LINKS.items()]
    clauses = [((0, 2), (3, 5)), ((3, 5), (0, 2)), ((0, 6), (0, 6))]
    wholes = [NamedPair(NodeName(*s, "S", False), NodeName(*t, "S", False)) for s, t in clauses]
    bar = NamedPair(NodeName(0, 5, "S", True), NodeName(0, 5, "S", True))
    return AnnotatedPair("1", (), *sides, (Annotation("rules", (*words, *wholes, bar)),))


def test_words_without_punctuation_and_constituents_without_bars_are_looked_for() -> None:
    parts = score_permutations.shared_parts(permuted())
    assert len(parts.words) == 5
    assert parts.constituents == {
        (Span(0, 2), Span(3, 5)),
        (Span(3, 5), Span(0, 2)),
        (Span(0, 6), Span(0, 6)),
    }


def test_swapped_clauses_are_found_whole() -> None:
    ((pair, found),) = score_permutations.aligned([permuted()], forestalign.load())
    counts = score_permutations.counted(pair, found)
    assert counts["words found"] == counts["words"] == 5
    assert counts["constituents found"] == counts["constituents parsed"] == counts["constituents"] == 3
    assert counts["whole found"] == counts["pairs"] == 1
    assert counts["linked in no pair"] == counts["function words elsewhere"] == 0


def test_shares_are_of_what_was_looked_for() -> None:
    counts = Counter({"pairs": 4, "whole found": 3, "words": 8, "words found": 7})
    rows = {line[:38].strip(): line[38:].split() for line in score_permutations.table(counts).splitlines()}
    assert rows["whole pairs"] == ["75.00", "%", "(3", "of", "4)"]
    assert rows["words"] == ["87.50", "%", "(7", "of", "8)"]
    assert rows["constituents"] == ["0.00", "%", "(0", "of", "0)"]
