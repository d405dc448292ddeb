"""Sentences of two versions of a text paired: in order, many to many, moved; the program against an enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.aligner import Aligner, load
from forestalign.texts import sentence_likeness, sentence_pairing
from forestalign.texts.sentence_likeness import LONGEST_STRETCH, Likeness, _encode
from forestalign.texts.sentence_pairing import JOIN, LEAST_LIKE, STEPS, SentencePair, pair_sentences
from forestalign.tokens import Sentence
from tests.builders.work import count_calls

SOURCE_TEXT = [
    "The harbour was closed in May.",
    "Fishermen complained to the council about prices and weather.",
    "He left.",
]


def test_sentences_are_paired_in_order() -> None:
    target = ["In May the harbour closed.", "A new line.", "Fishermen complained about weather and prices."]
    assert pair_sentences(SOURCE_TEXT, target) == [
        SentencePair((0, 1), (0, 1)),
        SentencePair((1, 1), (1, 2)),
        SentencePair((1, 2), (2, 3)),
        SentencePair((2, 3), (3, 3)),
    ]


def test_a_sentence_can_be_paired_with_two() -> None:
    target = [
        "The harbour was closed in May.",
        "Fishermen complained to the council.",
        "It was about prices and weather.",
    ]
    assert ((1, 2), (1, 3)) in [pair[:2] for pair in pair_sentences(SOURCE_TEXT, target)]


def test_texts_of_very_different_length_keep_all_their_sentences() -> None:
    long = [f"Word{number} stands alone here{number}." for number in range(200)]
    found = pair_sentences(long, ["Word77 stands alone here77."])
    assert SentencePair((77, 78), (0, 1), is_same=True) in found
    assert [number for pair in found for number in range(*pair.source)] == list(range(200))


Sentences = st.lists(
    st.sampled_from(["red cars", "old red boats", "green trees", "tall green trees", "it"]), max_size=6
)


@given(Sentences, Sentences)
def test_pairs_cover_both_texts_and_the_target_in_order(source: list[str], target: list[str]) -> None:
    found = pair_sentences(source, target)
    assert sorted(number for pair in found for number in range(*pair.source)) == list(range(len(source)))
    assert [number for pair in found for number in range(*pair.target)] == list(range(len(target)))


@given(Sentences)
def test_a_text_is_paired_with_itself_sentence_by_sentence(source: list[str]) -> None:
    found = pair_sentences(source, source)
    assert all(pair.source == pair.target for pair in found if len(range(*pair.source)) and len(range(*pair.target)))


A, B, C, D = (
    "The harbour was closed in May.",
    "Fishermen complained to the council.",
    "Nobody answered the phone at night.",
    "Apples were cheap that year.",
)


def places(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Source, target and whether it moved, of pairs of single sentences."""
    pairs = [pair for pair in pair_sentences(source, target) if pair.has_both]
    return [(pair.source[0], pair.target[0], pair.is_moved) for pair in pairs]


def test_a_sentence_that_moved_is_found_word_for_word() -> None:
    assert places([A, B, C, D], [D, A, B, C]) == [(3, 0, True), (0, 1, False), (1, 2, False), (2, 3, False)]


def test_a_sentence_that_moved_and_was_reworded_is_found() -> None:
    reworded = "That year apples were very cheap."
    assert (3, 0, True) in places([A, B, C, D], [reworded, A, B, C])


def test_the_lighter_part_moves() -> None:
    assert [moved for *_, moved in places([A, B, C], [C, A, B])] == [True, False, False]


def test_sentences_that_occur_often_are_paired_beside_their_neighbours() -> None:
    source, target = ["Yes.", A, "Yes.", B, "Yes."], ["Yes.", B, "Yes."]
    assert places(source, target) == [(2, 0, False), (3, 1, False), (4, 2, False)]


def test_a_moved_sentence_may_be_split() -> None:
    long = "The minister resigned on Friday because a newspaper had printed letters to his brother in Spain."
    halves = ["The minister resigned on Friday.", "A newspaper had printed letters to his brother in Spain."]
    found = pair_sentences([long, A, B, C, D], [A, B, C, D, *halves])
    assert SentencePair((0, 1), (4, 6), False, True) in found


def test_a_weak_pair_on_the_other_side_of_the_text_is_none() -> None:
    weak = "Ships of fishermen were closed to the council in winter."
    assert places([B, A, C, D], [A, C, D, weak]) == [(1, 0, False), (2, 1, False), (3, 2, False)]


def test_of_many_copies_as_many_take_part_as_can_have_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    copies, other = ["The dog slept in the sun."] * 5_000, ["The dog slept in the hot sun.", "Nobody came."]
    sizes = []

    def seen(source: Sequence[str], target: Sequence[str], aligner: None) -> Likeness:
        sizes.append((len(source), len(target)))
        return Likeness(source, target, aligner)

    monkeypatch.setattr(sentence_pairing, "Likeness", seen)
    for source, target in ((copies, other), (other, copies)):
        found = pair_sentences(source, target)
        assert sum(pair.has_both for pair in found) == 1
        assert [number for pair in found for number in range(*pair.target)] == list(range(len(target)))
        assert sorted(number for pair in found for number in range(*pair.source)) == list(range(len(source)))
    assert sizes == [(2, 2), (2, 2)]


def test_copies_of_a_sentence_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []

    def seen(aligner: Aligner, sentences: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
        encoded.extend(sentences)
        return _encode(aligner, sentences)

    monkeypatch.setattr(sentence_likeness, "_encode", seen)
    texts = ["It rained.", "He left.", "It rained.", "It rained."]
    likeness = Likeness(texts, ["He left.", "It rained."], load())
    assert len(encoded) == 2
    same = [likeness.of((i, i + 1), (j, j + 1)) for i, j in ((0, 1), (1, 0), (2, 1), (3, 1))]
    assert same == pytest.approx([1.0] * 4)


def test_the_work_of_pairing_does_not_grow_with_the_square_of_the_sentences() -> None:
    def work(count: int) -> int:
        source = [f"Word{n} stood alone near place{n} and thing{n}." for n in range(count)]
        target = [text.replace("stood alone", "was by itself") for text in source]
        assert all(pair.source == pair.target for pair in pair_sentences(source, target))
        return count_calls(lambda: list(pair_sentences(source, target)))

    assert work(400) < 3 * work(200)


# ---- likeness ----


Bags = st.lists(st.sampled_from(["red car", "old red boat", "green tree", "tall green tree", "car boat"]), min_size=4)


@given(Bags.filter(lambda bags: len(bags) < 8), st.data())
def test_the_likeness_of_stretches_is_that_of_their_words_together(bags: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(bags) - LONGEST_STRETCH))
    likeness = Likeness(bags, bags)
    rows = np.asarray(likeness._words._source.toarray())
    one, other = rows[0], rows[begin : begin + LONGEST_STRETCH].sum(axis=0)
    expected = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    assert likeness.of((0, 1), (begin, begin + LONGEST_STRETCH)) == pytest.approx(expected)


# ---- the program ----


def ways(rows: int, columns: int) -> Iterator[list[tuple[tuple[int, int], tuple[int, int]]]]:
    """All sets of steps in order."""
    steps = [
        ((i, i + a), (j, j + b))
        for i in range(rows)
        for j in range(columns)
        for a, b in STEPS
        if i + a <= rows and j + b <= columns
    ]
    for count in range(min(rows, columns) + 1):
        for chosen in combinations(steps, count):
            ordered = sorted(chosen)
            if all(one[0][1] <= two[0][0] and one[1][1] <= two[1][0] for one, two in pairwise(ordered)):
                yield ordered


Few = st.lists(st.sampled_from(["red car", "old red boat", "green tree", "tall green tree"]), min_size=1, max_size=3)


@given(Few, Few)
def test_the_program_finds_the_best_pairs_in_order(source: list[str], target: list[str]) -> None:
    likeness, free = Likeness(source, target), (list(range(len(source))), list(range(len(target))))

    def value(way: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> float:
        return sum(
            likeness.of(one, other) - LEAST_LIKE - JOIN * (one[1] - one[0] + other[1] - other[0] - 2)
            for one, other in way
        )

    found = list(sentence_pairing._paired_in_order(likeness, free))
    assert value(found) == pytest.approx(max(map(value, ways(len(source), len(target)))))


@given(st.lists(st.integers(0, 20), unique=True, max_size=7), st.data())
def test_the_heaviest_sequence_is_the_heaviest(targets: list[int], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(targets), max_size=len(targets)))
    found = sentence_pairing._heaviest_sequence(targets, weights)
    chains = [
        chain
        for size in range(len(targets) + 1)
        for chain in combinations(range(len(targets)), size)
        if [targets[k] for k in chain] == sorted(targets[k] for k in chain)
    ]
    assert tuple(sorted(found)) in chains
    assert sum(weights[k] for k in found) == max(sum(weights[k] for k in chain) for chain in chains)


def test_texts_of_few_different_words_take_memory_in_proportion_to_their_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[tuple[int, int]] = []
    match = sentence_pairing.min_weight_full_bipartite_matching

    def measure(costs: Any) -> Any:
        sizes.append((costs.shape[0], costs.nnz))
        return match(costs)

    monkeypatch.setattr(sentence_pairing, "min_weight_full_bipartite_matching", measure)
    source = [f"cars boats kind{number % 20} sort{number // 20}" for number in range(400)]
    target = [sentence.replace("cars boats", "boats cars") for sentence in reversed(source)]
    monkeypatch.setattr(sentence_pairing, "LEAST_LIKE", 2.0)  # nothing is paired in order
    monkeypatch.setattr(sentence_pairing, "LEAST_MOVED", 0.01)
    assert len(pair_sentences(source, target)) == 400
    ((rows, entries),) = sizes
    assert rows == 400
    assert entries == rows * (sentence_pairing.MOST_PARTNERS + 1)


def test_a_free_paraphrase_is_paired_between_its_neighbours() -> None:
    source = ["It rained all day.", "Alpha beta budget.", "Nobody was hurt."]
    target = ["It rained all day.", "Epsilon zeta budget.", "Nobody was hurt."]
    assert [pair.has_both for pair in pair_sentences(source, target)] == [True, True, True]
    target[1] = "Snow fell elsewhere."
    assert [pair.has_both for pair in pair_sentences(source, target)] == [True, False, False, True]
