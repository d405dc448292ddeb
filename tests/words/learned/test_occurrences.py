"""Function words go with their heads, and a word that stands once on both sides with itself."""

from __future__ import annotations

import numpy as np
import pytest

import forestalign
from forestalign.words.learned.evidence import best_others

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


REPEATED = [  # words that stand twice belong to what stands around them
    (
        "The paint looked like glass and the interior looked new.",
        "The interior looked new and the paint looked like glass.",
        {("looked", 2, 7), ("looked", 8, 2)},
    ),
    (
        "He gave it to a rest home for seniors and an old soldiers' home.",
        "He gave it to an old soldiers' home and a rest home for seniors.",
        {("home", 6, 12), ("home", 14, 8)},
    ),
    (
        'He likes "Hamlet" and she loves "Emma".',
        'She loves "Emma" and he likes "Hamlet".',
        {('"', 2, 8), ('"', 4, 10), ('"', 8, 2), ('"', 10, 4)},
    ),
]
SAME_PLACE = [  # words in each other's place, which both stand elsewhere
    ("The food was excellent and the service was terrific.", "The service was terrific and the food was excellent."),
    ("The kitchen has specials and puts out good food.", "The kitchen puts out good food and has specials."),
]


@pytest.fixture(scope="module")
def aligner() -> forestalign.Aligner:
    return forestalign.load()


@pytest.mark.parametrize(("source", "target", "links"), SWAPPED)
def test_articles_and_copulas_follow_their_clauses(aligner, source, target, links) -> None:
    assert links <= set(aligner.align(source, target).words.pairs)


@pytest.mark.parametrize(("source", "target", "links"), SWAPPED)
def test_swapped_clauses_are_pairs_as_wholes(aligner, source, target, links) -> None:
    pairs = {(pair.source.text, pair.target.text.lower()) for pair in aligner.align(source, target).phrases.pairs}
    first, second = source.rstrip(".").split(" and ")
    assert {(first, first.lower()), (second, second.lower())} <= pairs


def test_a_word_in_the_place_of_another_goes_with_itself(aligner) -> None:
    result = aligner.align("She sold the boat and kept the car.", "She kept the car and sold the boat.")
    assert {(1, 5), (5, 1)} <= set(result.words.pairs)


@pytest.mark.parametrize(("source", "target", "links"), REPEATED)
def test_a_word_that_stands_twice_goes_with_the_one_in_its_surroundings(aligner, source, target, links) -> None:
    result = aligner.align(source, target)
    places = {(str(result.source[link.source]), link.source, link.target) for link in result.words}
    words = {word for word, _, _ in links}
    assert {place for place in places if place[0] in words} == links


@pytest.mark.parametrize(("source", "target"), SAME_PLACE)
def test_words_with_identical_partners_are_not_linked_with_each_other(aligner, source, target) -> None:
    result = aligner.align(source, target)
    written = [(result.source.words[link.source], result.target.words[link.target]) for link in result.words]
    assert all(left.lower() == right.lower() for left, right in written)
    assert len(written) == len(result.source)


def test_the_best_of_the_other_columns() -> None:
    values = np.array([[0.2, 0.9, 0.9], [0.5, 0.1, 0.3]])
    assert best_others(values).tolist() == [[0.9, 0.9, 0.9], [0.3, 0.5, 0.5]]
    assert best_others(np.array([[0.7]])).tolist() == [[0.0]]


def test_a_word_that_stands_once_on_both_sides_in_the_same_context_is_linked(aligner) -> None:
    result = aligner.align(
        "The company sold the factory and bought a farm.", "The company bought a farm and sold the factory."
    )
    assert (6, 2) in result.words.pairs
    pairs = {(pair.source.text, pair.target.text) for pair in result.phrases.pairs}
    assert {("bought a farm", "bought a farm"), ("sold the factory", "sold the factory")} <= pairs


@pytest.mark.parametrize(
    ("source", "target", "links", "wrong"),
    [
        ("She sold him the house.", "He bought the house from her.", {(0, 5), (2, 0)}, (0, 0)),
        ("You lent me a pen.", "I borrowed a pen from you.", {(0, 5), (2, 0)}, (0, 0)),
        ("He hit me.", "I hit him.", {(0, 2), (2, 0)}, (0, 0)),
    ],
)
def test_pronouns_go_with_their_own_person_where_both_sentences_have_two(aligner, source, target, links, wrong) -> None:
    found = set(aligner.align(source, target).words.pairs)
    assert links <= found
    assert wrong not in found


def test_another_person_is_a_partner_where_the_sentences_share_one_person_only(aligner) -> None:
    assert (0, 0) in aligner.align("We think he is wrong.", "They think he is wrong.").words.pairs
