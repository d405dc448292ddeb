"""Small parts of the word aligners: sentence scores, chunks by tags, synthetic phrases, distortion, words as seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.tokens import Sentence
from forestalign.words.alignment import MATCHING, WordAlignment, WordLink, is_content, sentence_scores


def links(*pairs: tuple[int, int], stage: str = "") -> WordAlignment:
    return WordAlignment(tuple(WordLink(i, j, 1.0, stage) for i, j in pairs))


# ---- links ----


def test_links_are_told_apart_by_their_words_alone() -> None:
    assert WordLink(0, 1, 0.3, "names") == WordLink(0, 1)
    assert sorted([WordLink(1, 0), WordLink(0, 2), WordLink(0, 1)]) == [WordLink(0, 1), WordLink(0, 2), WordLink(1, 0)]


def test_mirroring_twice_changes_nothing() -> None:
    alignment = links((0, 2), (1, 0), (2, 1))
    assert alignment.mirrored().pairs == ((0, 1), (1, 2), (2, 0))
    assert alignment.mirrored().mirrored() == alignment


# ---- sentence scores ----


def flat(_word: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("word", "expected"), [("car", True), ("3", True), ("the", False), ("The", False), ("--", False), ("", False)]
)
def test_content_is_neither_stop_word_nor_punctuation(word: str, expected: bool) -> None:
    assert is_content(word) is expected


def test_shares_are_of_content_words() -> None:
    source, target = (
        Sentence.from_words(["the", "red", "car", "stopped", "."]),
        Sentence.from_words(["a", "car", "stopped"]),
    )
    scores = sentence_scores(source, target, links((0, 0), (2, 1), (3, 2)), flat)
    assert scores.source == pytest.approx(2 / 3)
    assert scores.target == 1.0
    assert scores.proportion == pytest.approx(5 / 6)
    assert scores.harmonic == pytest.approx(2 * (2 / 3) / (5 / 3))
    assert scores.weighted == pytest.approx(4 / 5)


def test_rare_words_count_more() -> None:
    source, target = Sentence.from_words(["red", "zebra"]), Sentence.from_words(["red", "zebra"])
    rare = sentence_scores(source, target, links((1, 1)), {"red": 1.0, "zebra": 9.0}.__getitem__)
    assert rare.weighted == pytest.approx(0.9)
    assert rare.proportion == 0.5


def test_links_by_context_alone_do_not_count() -> None:
    source, target = Sentence.from_words(["cats"]), Sentence.from_words(["dogs"])
    assert sentence_scores(source, target, links((0, 0), stage=MATCHING), flat).proportion == 0.0
    assert sentence_scores(source, target, links((0, 0), stage="names"), flat).proportion == 1.0


def test_nothing_to_align_scores_zero() -> None:
    empty = Sentence.from_words(["the", "."])
    scores = sentence_scores(empty, empty, links((0, 0)), flat)
    assert (scores.source, scores.target, scores.harmonic, scores.weighted) == (0.0, 0.0, 0.0, 0.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), unique=True))
def test_scores_mirror_with_the_sentences(pairs: list[tuple[int, int]]) -> None:
    source, target = (
        Sentence.from_words(["red", "cars", "stop", "here"]),
        Sentence.from_words(["cars", "wait", "there", "now"]),
    )
    alignment = links(*sorted(pairs))
    one = sentence_scores(source, target, alignment, flat)
    other = sentence_scores(target, source, alignment.mirrored(), flat)
    assert (one.source, one.target) == (other.target, other.source)
    assert (one.proportion, one.harmonic, one.weighted) == (other.proportion, other.harmonic, other.weighted)
    assert 0.0 <= one.harmonic <= one.proportion <= 1.0
