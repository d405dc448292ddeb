"""The learned similarity of phrases: what it is asked about, what it is trained on, and what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from forestalign.aligner import Aligner
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import GrammarError, NoParseError
from forestalign.learning.similarity_training import UNKNOWN, label_of
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.phrases.evidence import span_pairs
from forestalign.phrases.evidence.logistic import Weighting
from forestalign.phrases.evidence.phrase_evidence import SIMILARITY, PhraseEvidence
from forestalign.phrases.evidence.phrase_similarity import (
    LONGEST,
    MOST_PHRASES,
    PhraseSimilarityModel,
    candidate_spans,
    is_composed,
    load_similarity,
    read_similarity,
    similar_phrases,
    similarity_record,
)
from forestalign.phrases.evidence.span_context import SpanContext, SpanLexicon, span_context
from forestalign.phrases.evidence.span_pairs import DIRECTED, NAMES, SYMMETRIC, span_features
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import NO_LINKS, WordAlignment, WordLink

PAIRS = (
    ("The shop put off the sale until spring.", "The store postponed the sale until the spring."),
    ("Add the butter, then stir it gently for a while.", "Put in the butter and give it a careful stir."),
    ("The old car broke down again near Lyon.", "Once more the car failed, close to Lyon."),
)


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(DEFAULT_CONFIG)


def prepared(aligner: Aligner, source: str, target: str) -> PreparedPair:
    (pair,) = aligner.prepare([("1", source, target, None)])
    assert not isinstance(pair, NoParseError)
    return pair


def context_of(aligner: Aligner, pair: PreparedPair) -> SpanContext:
    lexicon = SpanLexicon(load_wordnet(), load_vectors())
    return span_context(pair.source.sentence, pair.target.sentence, pair.words, (), lexicon)


# ---- features ----


@pytest.mark.parametrize("texts", PAIRS)
def test_features_are_mirrored_with_the_sentences(aligner: Aligner, texts: tuple[str, str]) -> None:
    forth, back = prepared(aligner, *texts), prepared(aligner, *reversed(texts))
    sides = [[range(*span) for span in candidate_spans(forest)] for forest in (forth.source, forth.target)]
    one = span_features(context_of(aligner, forth), sides[0], sides[1])
    other = span_features(context_of(aligner, back), sides[1], sides[0]).transpose(1, 0, 2)
    signs = np.array([1.0] * len(SYMMETRIC) + [-1.0] * len(DIRECTED))
    worst = np.abs(one - signs * other).max(axis=(0, 1))
    assert {name for name, error in zip(NAMES, worst, strict=True) if error > 1e-5} == set()


def test_a_span_next_to_itself_is_as_like_as_can_be(aligner: Aligner) -> None:
    text = "The committee rejected the plan."
    pair = prepared(aligner, text, text)
    values = dict(zip(NAMES, span_features(context_of(aligner, pair), [range(2)], [range(2)])[0, 0], strict=True))
    assert values["same words"] == values["same content"] == values["length ratio"] == values["no extra words"] == 1.0
    assert values["context"] == pytest.approx(1.0)
    assert all(values[name] == pytest.approx(0.0) for name in DIRECTED)


_MARKS = ((["!", "zzyx"], [".", "NN"]), (["?"], ["."]))


def test_features_are_finite_without_vectors_and_for_marks_alone() -> None:
    source, target = (Sentence.from_words(words).with_analysis(tags, words) for words, tags in _MARKS)
    lexicon = SpanLexicon(load_wordnet(), load_vectors())
    context = span_context(source, target, NO_LINKS, (), lexicon)
    assert np.isfinite(span_features(context, [range(1), range(2)], [range(1)])).all()


# ---- what is asked, what is said ----


@pytest.mark.parametrize("texts", PAIRS)
def test_candidates_are_short_and_begin_and_end_with_words(aligner: Aligner, texts: tuple[str, str]) -> None:
    forest = prepared(aligner, *texts).source
    spans = candidate_spans(forest)
    assert spans
    for begin, end in spans:
        assert end - begin <= LONGEST
        assert forest.sentence.words[begin] not in ",."
        assert forest.sentence.words[end - 1] not in ",."


@pytest.mark.parametrize("texts", PAIRS)
def test_proposals_are_few_and_never_cross(aligner: Aligner, texts: tuple[str, str]) -> None:
    pair = prepared(aligner, *texts)
    eager = PhraseSimilarityModel(load_similarity().weighting, 1e-6)
    spans = candidate_spans(pair.source), candidate_spans(pair.target)
    found = similar_phrases(context_of(aligner, pair), spans[0], spans[1], eager)
    assert len(found) <= MOST_PHRASES
    for one, other in combinations(found, 2):
        relations = [
            (set(left) <= set(right), set(left) >= set(right), set(left).isdisjoint(right))
            for left, right in ((one.source, other.source), (one.target, other.target))
        ]
        assert relations[0] == relations[1]
        assert sum(relations[0]) == 1
    for row in found:
        assert (row.kind, row.relation) == ("similarity", "similar")
        assert max(len(row.source), len(row.target)) > 1
        assert 0.0 <= row.strength <= 1.0


def test_phrases_without_links_are_proposed(aligner: Aligner) -> None:
    pair = prepared(aligner, "She works out three times a week.", "Thrice weekly she exercises.")
    eager = PhraseSimilarityModel(load_similarity().weighting, 1e-6)
    spans = candidate_spans(pair.source), candidate_spans(pair.target)
    assert similar_phrases(context_of(aligner, pair), spans[0], spans[1], eager)


def test_what_follows_from_its_parts_is_not_proposed() -> None:
    row = PhraseEvidence((0, 1, 2), (0, 1), SIMILARITY, "similar", 0.8)
    one, two = WordLink(0, 0, 0.9, "best"), WordLink(1, 1, 0.9, "best")
    unlikely, outside = WordLink(1, 1, 0.3, "best"), WordLink(4, 1, 0.9, "best")
    assert is_composed(row, WordAlignment((one, two)), ())
    assert not is_composed(row, WordAlignment((one, unlikely, outside)), ())
    part = PhraseEvidence((1, 2), (1,), "lexicon", "equal", 0.9)
    assert is_composed(row, WordAlignment(()), [part])
    assert not is_composed(row, WordAlignment(()), [replace(part, relation="more general")])
    assert not is_composed(row, WordAlignment(()), [replace(row, kind="lexicon", relation="equal")])


@pytest.mark.parametrize("texts", PAIRS)
def test_the_evidence_of_swapped_sentences_is_mirrored(aligner: Aligner, texts: tuple[str, str]) -> None:
    forth, back = prepared(aligner, *texts), prepared(aligner, *reversed(texts))
    found = aligner.stage.evidence(forth.source, forth.target, forth.words)
    turned = aligner.stage.evidence(back.source, back.target, back.words)
    assert set(found) == {row.turned() for row in turned}


def test_nothing_is_said_where_no_spans_are_asked_about(aligner: Aligner) -> None:
    pair = prepared(aligner, *PAIRS[0])
    assert similar_phrases(context_of(aligner, pair), (), (), load_similarity()) == ()


# ---- training ----

BLOCKS = ((frozenset({0}), frozenset({0})), (frozenset({1, 2}), frozenset({2})), (frozenset({4}), frozenset({3})))


@pytest.mark.parametrize(
    ("source", "target", "label"),
    [
        ((1, 3), (2, 3), 1.0),  # a block
        ((0, 3), (0, 3), 1.0),  # two blocks and a word without a partner between them
        ((0, 3), (0, 2), 0.0),  # a block is cut
        ((1, 2), (2, 3), UNKNOWN),  # a part of a block
        ((1, 4), (2, 3), UNKNOWN),  # word 3 has no partner: nobody knows whether it belongs there
        ((3, 4), (1, 2), 0.0),  # nothing inside
        ((0, 1), (3, 4), 0.0),  # partners of others
    ],
)
def test_labels_of_spans_by_blocks(source: tuple[int, int], target: tuple[int, int], label: float) -> None:
    assert label_of(Span(*source), Span(*target), BLOCKS) == label


def test_similarity_weights_are_read_back(tmp_path: Path) -> None:
    model = PhraseSimilarityModel(Weighting(np.linspace(-1.0, 1.0, len(SYMMETRIC)), 0.25), 0.5)
    (tmp_path / "model.json").write_text(json.dumps(similarity_record(model)))
    read = read_similarity(tmp_path / "model.json")
    assert read.weighting.weights == pytest.approx(model.weighting.weights, rel=1e-5)
    assert (read.weighting.bias, read.threshold) == (0.25, 0.5)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"threshold": 0.5}', '{"threshold": 2, "pair": {}}'])
def test_bad_similarity_weights_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(GrammarError):
        read_similarity(tmp_path / "model.json")


def test_relations_of_words_are_those_that_the_lexicon_has_pair_by_pair(aligner: Aligner) -> None:
    wordnet, found = load_wordnet(), 0
    for texts in (*PAIRS, ("A large dog ran fast.", "The small animal moved slowly, a puppy ran.")):
        context = context_of(aligner, prepared(aligner, *texts))
        for i, one in enumerate(context.source.keys):
            for j, other in enumerate(context.target.keys):
                is_asked = context.source.content[i] > 0 and context.target.content[j] > 0 and one != other
                antonyms = is_asked and wordnet.are_antonyms(one, other)
                hypernyms = wordnet.is_hypernym(one, other) - wordnet.is_hypernym(other, one)
                is_above = hypernyms if is_asked and not wordnet.are_synonyms(one, other) else 0
                assert (context.antonyms[i, j], context.hypernyms[i, j]) == (antonyms, is_above), (one, other)
                found += bool(antonyms) + bool(is_above)
    assert found >= 2


@pytest.mark.parametrize("cells", [1, 7, 1 << 20])
def test_features_do_not_depend_on_how_many_cells_are_looked_at_together(
    aligner: Aligner, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    context = context_of(aligner, prepared(aligner, *PAIRS[1]))
    sides = [[range(b, e) for b in range(len(side.keys)) for e in range(b + 1, b + 4) if e <= len(side.keys)]
             for side in (context.source, context.target)]  # fmt: skip
    whole = span_features(context, *sides)
    monkeypatch.setattr(span_pairs, "MOST_CELLS", cells)
    assert np.array_equal(span_features(context, *sides), whole)
