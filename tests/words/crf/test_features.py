"""Words, chunks, feature layers, potentials of spans, synthetic phrases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.lexicon import PairList
from forestalign.tokens import Sentence
from forestalign.words.crf.cells import Chunk, Resources, chunk, words_of
from forestalign.words.crf.feature_space import (
    FAMILIES,
    SPAN_KINDS,
    STEPS,
    cell_layers,
    feature_space,
    transition_features,
)
from forestalign.words.crf.lattice import segment_scores, spread_segments
from forestalign.words.crf.pair_features import pair_features, span_kinds
from forestalign.words.crf.training import synthesise


def sentence(text: str) -> Sentence:
    """Words with tags after a slash; the lemma is the lower-cased word."""
    parts = [part.rsplit("/", 1) for part in text.split()]
    words, tags = [word for word, _ in parts], [tag for _, tag in parts]
    return Sentence.from_words(words).with_analysis(tags, [word.lower() for word in words])


SOURCE = sentence("The/DT old/JJ mayor/NN has/VBZ opened/VBN a/DT small/JJ bridge/NN in/IN Ghent/NNP ./.")
TARGET = sentence("A/DT little/JJ bridge/NN was/VBD opened/VBN by/IN the/DT Mayor/NN ./.")
sentences = st.lists(st.sampled_from(["a", "b", "Bc", "bcd", "the", ",", "x1"]), min_size=1, max_size=5).map(
    Sentence.from_words
)


def layer(
    name: str, source: Sentence = SOURCE, target: Sentence = TARGET, resources: Resources | None = None
) -> np.ndarray:
    return cell_layers(words_of(source), words_of(target), resources or Resources(), FAMILIES)[name]


@pytest.mark.parametrize(
    ("tags", "chunks"),
    [
        ("DT JJ NN VBZ VBN DT NN", [(0, 3, "NP"), (3, 5, "VP"), (5, 7, "NP")]),
        ("PRP MD RB VB IN NNP NNP", [(0, 1, "NP"), (1, 4, "VP"), (4, 5, "PP"), (5, 7, "NP")]),
        ("NN POS NN VBD RB JJ", [(0, 1, "NP"), (1, 3, "NP"), (3, 4, "VP"), (4, 6, "ADJP")]),
        (", . :", []),
    ],
)
def test_base_phrases_follow_the_tags(tags: str, chunks: list[tuple[int, int, str]]) -> None:
    assert chunk(tags.split()) == tuple(Chunk(*each) for each in chunks)


def test_identical_words_differ_from_similar_ones() -> None:
    identical, spelling = layer("identical"), layer("jaro_winkler")
    assert identical[4, 4] == 1  # opened
    assert identical[2, 7] == 0  # mayor, Mayor
    assert layer("identical_any_case")[2, 7] == 1
    assert spelling[2, 7] == 1
    assert spelling[1, 0] < 0.5


def test_the_pair_list_speaks_only_about_different_words() -> None:
    resources = Resources(ppdb=PairList([("small", "little"), ("opened", "opened")]))
    found = layer("ppdb", resources=resources)
    assert found[6, 1] == 1
    assert found.sum() == 1


def test_neighbours_are_read_along_the_diagonal() -> None:
    left, right = layer("left_same"), layer("right_same")
    assert left[7, 2] == 0  # small before bridge, little before bridge
    assert left[2, 7] == 0
    assert right[10, 8] == 1  # both end their sentences
    assert layer("left_same", TARGET, TARGET)[3, 3] == 1


@settings(max_examples=25, deadline=None)
@given(source=sentences, target=sentences)
def test_layers_lie_between_0_and_1_and_turn_over_with_the_pair(source: Sentence, target: Sentence) -> None:
    space = feature_space(FAMILIES, 2, 2)
    there = pair_features(source, target, Resources(), space)
    back = pair_features(target, source, Resources(), space)
    assert there.forward.cells.min() >= 0
    assert there.forward.cells.max() <= 1
    np.testing.assert_allclose(there.backward.cells, back.forward.cells, atol=1e-6)
    np.testing.assert_array_equal(there.backward.tag_pairs, back.forward.tag_pairs)
    np.testing.assert_allclose(there.backward.nulls, back.forward.nulls, atol=1e-6)
    np.testing.assert_allclose(there.backward.spans.layers, back.forward.spans.layers, atol=1e-5)


def test_each_step_between_words_has_one_jump() -> None:
    table = transition_features(5)
    jumps = table[:5, :5, : STEPS.index("jump_forward")]
    assert (jumps.sum(axis=2) == 1).all()
    assert table[2, 3, STEPS.index("jump+0")] == 1
    assert table[2, 2, STEPS.index("jump-1")] == 1
    assert table[5, 5, STEPS.index("null_to_null")] == 1
    assert table[4, 6, STEPS.index("last_to_end")] == 1


def test_spans_are_chunks_or_lie_inside_or_across() -> None:
    kinds = span_kinds(words_of(SOURCE), 3)
    assert SPAN_KINDS[kinds[0, 2]] == "NP"  # the old mayor
    assert SPAN_KINDS[kinds[0, 1]] == "inside"  # the old
    assert SPAN_KINDS[kinds[2, 1]] == "across"  # mayor has
    assert SPAN_KINDS[kinds[3, 1]] == "VP"  # has opened
    assert (span_kinds(words_of(Sentence.from_words(["old", "mayor"])), 2) == SPAN_KINDS.index("none")).all()


def random_parts(seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    rows, columns, longest, kinds = 4, 3, 3, len(SPAN_KINDS)
    return (
        random.normal(size=(rows, columns)),
        random.normal(size=(rows, columns)),
        random.normal(size=(longest, 2)),
        random.integers(0, kinds, (rows, longest)),
        random.integers(0, kinds, (columns, longest)),
        random.normal(size=(kinds, kinds)),
        random.normal(size=(rows, longest, columns, longest, 5)).astype(np.float32),
        random.normal(size=5),
    )


def test_a_span_pair_has_its_diagonal_its_block_its_size_its_chunks_and_its_layers() -> None:
    words, block, sizes, source_kinds, target_kinds, kind_scores, layers, span = parts = random_parts(3)
    scores = segment_scores(*parts)
    for i, s, b, t in np.ndindex(scores.shape):
        inside = i + s < scores.shape[0] and b + t < scores.shape[2]
        expected = sizes[s, t] + kind_scores[source_kinds[i, s], target_kinds[b, t]] + layers[i, s, b, t] @ span
        if s == t:
            expected += sum(words[i + k, b + k] for k in range(s + 1) if inside)
        if s or t:
            expected += max(s + 1, t + 1) * block[i : i + s + 1, b : b + t + 1].mean()
        assert scores[i, s, b, t] == pytest.approx(expected if inside else -np.inf, abs=1e-5)


def test_spreading_counts_is_the_gradient_of_the_span_potentials() -> None:
    """Potentials are linear in their parts, so <counts, scores> = <spread(counts), parts>."""
    words, block, sizes, source_kinds, target_kinds, kind_scores, layers, span = random_parts(7)
    scores = segment_scores(words, block, sizes, source_kinds, target_kinds, kind_scores, layers, span)
    counts = np.where(np.isfinite(scores), np.random.default_rng(1).normal(size=scores.shape), 0.0)
    parts = spread_segments(counts, source_kinds, target_kinds, len(SPAN_KINDS), layers)
    total = sum(
        (part * value).sum() for part, value in zip(parts, (words, block, sizes, kind_scores, span), strict=True)
    )
    assert total == pytest.approx((counts * np.where(np.isfinite(scores), scores, 0.0)).sum(), rel=1e-5)


def test_chunks_that_match_word_by_word_become_phrases() -> None:
    source = sentence("the/DT old/JJ mayor/NN slept/VBD")
    target = sentence("the/DT aged/JJ mayor/NN rested/VBD")
    links = ((0, 0), (1, 1), (2, 2), (3, 3))
    block = {(i, j) for i in range(3) for j in range(3)}
    assert set(synthesise(source, target, links)) == block | {(3, 3)}


@pytest.mark.parametrize(
    "links",
    [
        ((0, 0), (2, 2), (3, 3)),  # a word of the chunk is free
        ((0, 1), (1, 0), (2, 2), (3, 3)),  # not in order
        ((0, 0), (1, 1), (2, 2), (2, 3), (3, 3)),  # a link leaves the chunk
    ],
)
def test_other_chunks_stay_as_they_are(links: tuple[tuple[int, int], ...]) -> None:
    source = sentence("the/DT old/JJ mayor/NN slept/VBD")
    target = sentence("the/DT aged/JJ mayor/NN rested/VBD")
    assert synthesise(source, target, links) == links
