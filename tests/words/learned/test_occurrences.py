"""Function words go with their heads, and a word that stands once on both sides with itself."""

from __future__ import annotations

import pytest

import forestalign

SWAPPED = [
    (
        "The food was great and the service was slow.",
        "The service was slow and the food was great.",
        {(0, 5), (2, 7), (5, 0), (7, 2)},
    ),
    (
        "The rooms were clean and the staff was friendly.",
        "The staff was friendly and the rooms were clean.",
        {(0, 5), (2, 7), (5, 0), (7, 2)},
    ),
]


@pytest.fixture(scope="module")
def aligner() -> forestalign.Aligner:
    return forestalign.load()


@pytest.mark.parametrize(("source", "target", "links"), SWAPPED)
def test_articles_and_copulas_follow_their_clauses(aligner, source, target, links) -> None:
    assert links <= set(aligner.align(source, target).words.pairs)


@pytest.mark.parametrize(("source", "target", "links"), SWAPPED)
def test_swapped_clauses_are_pairs_as_wholes(aligner, source, target, links) -> None:
    pairs = {(pair.source_text, pair.target_text.lower()) for pair in aligner.align(source, target).phrases.pairs}
    first, second = source.rstrip(".").split(" and ")
    assert {(first, first.lower()), (second, second.lower())} <= pairs


def test_a_word_in_the_place_of_another_goes_with_itself(aligner) -> None:
    result = aligner.align("She sold the boat and kept the car.", "She kept the car and sold the boat.")
    assert {(1, 5), (5, 1)} <= set(result.words.pairs)
