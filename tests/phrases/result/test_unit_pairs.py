"""Stretches of text that are partners though the trees do not know them as phrases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import forestalign
from forestalign import Alignment
from forestalign.errors import GrammarError
from forestalign.formats.codec import from_json, to_json
from forestalign.grammar import grammar_root
from forestalign.inputs import read_arrays
from forestalign.phrases.evidence.phrase_evidence import RULE, SPAN, PhraseEvidence, read_forest
from forestalign.phrases.result.alignment import DiscontinuousPair
from forestalign.phrases.result.discontinuous_pairs import AlignedSpans, with_likely
from forestalign.phrases.result.unit_pairs import MOST_WORDS, SURE, load_unit_weights, read_unit_weights, stretches_of
from forestalign.phrases.scoring.schema import NodeArrays
from forestalign.phrases.scoring.span_scores import SpansToScore
from forestalign.tokens import Span

PAIR = "Few of the islanders disagreed with the plan .", "The plan had the backing of nearly everyone on the island ."


@pytest.fixture(scope="module")
def result() -> Alignment:
    return forestalign.align(*PAIR)


def likely(result: Alignment) -> list[DiscontinuousPair]:
    return [one for one in result.phrases.scattered if one.is_likeness]


def test_partners_that_are_no_pair_are_given_when_they_are_sure(result: Alignment) -> None:
    found, pairs = likely(result), {(tuple(pair.source), tuple(pair.target)) for pair in result.phrases.pairs}
    assert found
    assert all(one.confidence is not None and one.confidence >= SURE for one in found)
    assert all(((a[0], a[-1] + 1), (b[0], b[-1] + 1)) not in pairs for a, b, *_ in found)
    assert [len({one[number] for one in found}) for number in (0, 1)] == [len(found)] * 2
    turned = likely(forestalign.align(*PAIR[::-1]))
    assert sorted((b, a, *more) for a, b, *more in turned) == sorted(map(tuple, found))


def test_all_else_is_as_it_is_without_them(result: Alignment) -> None:
    alone = forestalign.load(evidence="list,acronym,name,quantity,rule").align(*PAIR)
    assert not likely(alone)
    assert alone.phrases.pairs == result.phrases.pairs
    assert alone.phrases.source_nulls == result.phrases.source_nulls
    assert (alone.verdict, alone.probability) == (result.verdict, result.probability)
    assert alone.edits().edits == result.edits().edits
    assert from_json(to_json(result)).phrases.scattered == result.phrases.scattered


def test_stretches_are_what_the_dependencies_say(result: Alignment) -> None:
    assert result.forests is not None
    weights, forest = load_unit_weights(), result.forests[0]
    reading, side = read_forest(forest), SpansToScore.of(NodeArrays.of(forest))
    found = stretches_of(side, reading, weights.tags, weights.relations)
    words = [any(map(str.isalnum, word)) for word in forest.sentence.words]
    spans = [(k, m) for k in range(len(words)) for m in range(k + 1, len(words) + 1) if words[k] and words[m - 1]]
    assert list(zip(found.begin, found.end, strict=True)) == [span for span in spans if span[1] - span[0] <= MOST_WORDS]
    heads = reading.dependencies.heads
    for begin, end, inward, outward in zip(found.begin, found.end, found.inward, found.outward, strict=True):
        arcs = [(begin <= k < end, begin <= head < end) for k, head in enumerate(heads) if head >= 0]
        assert (inward.sum(), outward.sum()) == (arcs.count((False, True)), arcs.count((True, False)))


def test_what_a_pair_or_other_evidence_has_is_not_given_again() -> None:
    names = {SPAN: "similarity", RULE: "lexicon"}
    rows = [PhraseEvidence(words, (0, 1), SPAN, "similar", 0.8) for words in ((0, 1), (1, 2))]
    known = [AlignedSpans(Span(0, 2), Span(0, 2))]
    assert [one.source for one in with_likely((), rows, known, names)] == [(1, 2)]
    joined = (DiscontinuousPair((1, 3), (0, 1), "lexicon", "equal", 0.9),)
    assert with_likely(joined, rows, known, names) == joined


def test_a_bad_file_is_refused(tmp_path: Path) -> None:
    arrays = dict(read_arrays(grammar_root() / "unit_scores.npz"))
    np.savez(tmp_path / "bad.npz", **arrays | {"layer": arrays["layer"][:, 1:]})
    with pytest.raises(GrammarError, match=r"bad.npz: .*has no array 'layer' of the shape"):
        read_unit_weights(tmp_path / "bad.npz")


def test_unrelated_sentences_have_no_partners() -> None:
    texts = (
        "The cat sat on the mat .",
        "Stock prices fell sharply on Monday .",
        "I like tea .",
        "Paris is in France .",
    )
    assert not any(likely(forestalign.align(one, other)) for one in texts for other in texts if one != other)
