"""Small parts of the word aligners: sentence scores, chunks by tags, synthetic phrases, distortion, words as seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.lexicon.phrase_text import part_of_speech, parts_of_speech, take_apart
from forestalign.tokens import Sentence
from forestalign.words.alignment import MATCHING, NO_LINKS, WordAlignment, WordLink, is_content, sentence_scores
from forestalign.words.crf.cells import CHUNK_TYPES, CONTENT, FUNCTION, LETTERS, PUNCTUATION, chunk, words_of
from forestalign.words.crf.feature_space import JUMPS, STEPS, transition_features
from forestalign.words.crf.training import TrainingPair, synthesise, synthetic_phrases


def tagged(text: str) -> Sentence:
    """A sentence from `word/TAG word/TAG`, its lemmas the words in lower case."""
    rows = [token.rpartition("/") for token in text.split()]
    words = [word for word, _, _ in rows]
    return Sentence.from_words(words).with_analysis([tag for _, _, tag in rows], [word.lower() for word in words])


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


def test_nothing_linked_has_no_length() -> None:
    assert (len(NO_LINKS), list(NO_LINKS), NO_LINKS.pairs) == (0, [], ())


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


# ---- chunks by tags ----


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("DT JJ NN", ["NP 0-3"]),
        ("PRP VBD", ["NP 0-1", "VP 1-2"]),
        ("MD RB VB RP", ["VP 0-4"]),
        ("PRP VBZ TO VB", ["NP 0-1", "VP 1-2", "VP 2-4"]),
        ("IN DT NN", ["PP 0-1", "NP 1-3"]),
        ("NNP POS NN", ["NP 0-1", "NP 1-3"]),
        ("RB JJ", ["ADJP 0-2"]),
        ("WRB", ["ADVP 0-1"]),
        ("$ CD CD", ["NP 0-3"]),
        (", CC .", []),
        ("", []),
        ("UNKNOWN NN", ["NP 1-2"]),
    ],
)
def test_base_phrases_follow_the_tags(tags: str, expected: list[str]) -> None:
    assert [f"{each.type} {each.begin}-{each.end}" for each in chunk(tags.split())] == expected


@given(st.lists(st.sampled_from([*LETTERS, ",", "X"])))
def test_chunks_stand_side_by_side(tags: list[str]) -> None:
    end = 0
    for each in chunk(tags):
        assert end <= each.begin < each.end <= len(tags)
        assert each.type in CHUNK_TYPES
        end = each.end


# ---- synthetic phrases ----


SOURCE = tagged("the/DT old/JJ man/NN sleeps/VBZ")
TARGET = tagged("the/DT old/JJ fellow/NN is/VBZ sleeping/VBG")


def test_matching_chunks_become_one_phrase() -> None:
    found = synthesise(SOURCE, TARGET, [(0, 0), (1, 1), (2, 2)])
    assert found == tuple((i, j) for i in range(3) for j in range(3))


@pytest.mark.parametrize(
    "given_links",
    [
        [(0, 0), (2, 2)],  # a word of the chunk has no link
        [(0, 0), (1, 2), (2, 1)],  # not in order
        [(0, 0), (1, 1), (2, 2), (2, 3)],  # a link leaves the chunk
        [],
    ],
)
def test_chunks_that_do_not_match_stay_as_they_are(given_links: list[tuple[int, int]]) -> None:
    assert synthesise(SOURCE, TARGET, given_links) == tuple(sorted(given_links))


def test_a_training_pair_keeps_all_but_its_links() -> None:
    pair = TrainingPair(SOURCE, TARGET, ((3, 3), (3, 4)), 0.5)
    filled = synthetic_phrases(pair)
    assert (filled.source, filled.target, filled.weight) == (SOURCE, TARGET, 0.5)
    assert filled.links == ((3, 3), (3, 4))


# ---- distortion ----


@pytest.mark.parametrize(("e", "b", "name"), [(0, 1, "jump+0"), (2, 2, "jump-1"), (0, 5, "jump+3"), (5, 0, "jump-3")])
def test_a_step_between_words_has_one_jump(e: int, b: int, name: str) -> None:
    step = transition_features(6)[e, b]
    on = [STEPS[k] for k in range(len(JUMPS)) if step[k]]
    assert on == [name]


def test_steps_to_and_from_null_start_and_end_are_named() -> None:
    table, null = transition_features(3), 3
    names = lambda row: {STEPS[k] for k in np.flatnonzero(row)}  # noqa: E731
    assert names(table[0, null]) == {"align_to_null"}
    assert names(table[null, 0]) == {"null_to_align"}
    assert names(table[null, null]) == {"null_to_null"}
    assert names(table[null + 1, 0]) == {"start_to_first"}
    assert names(table[null + 1, 2]) == {"start_to_other", "start_place"}
    assert names(table[2, null + 1]) == {"last_to_end"}
    assert names(table[0, null + 1]) == {"other_to_end", "end_place"}


def test_jumps_forward_and_backward_are_measured_against_the_length() -> None:
    step = dict(zip(STEPS, transition_features(10)[0, 6], strict=True))
    back = dict(zip(STEPS, transition_features(10)[6, 0], strict=True))
    assert step["jump_forward"] == pytest.approx(0.5)
    assert step["jump_backward"] == 0.0
    assert back["jump_backward"] == pytest.approx(0.6)


# ---- words as features see them ----


def test_kinds_come_from_tags_where_there_are_some() -> None:
    words = words_of(tagged("He/PRP saw/VBD Rome/NNP ,/, three/CD times/NNS"))
    assert words.kinds.tolist() == [FUNCTION, CONTENT, CONTENT, PUNCTUATION, FUNCTION, CONTENT]
    assert words.names.tolist() == [False, False, True, False, False, False]


def test_without_tags_capitals_inside_the_sentence_are_names() -> None:
    words = words_of(Sentence.from_words(["The", "man", "from", "Rome", "."]))
    assert words.kinds.tolist() == [FUNCTION, CONTENT, FUNCTION, CONTENT, PUNCTUATION]
    assert words.names.tolist() == [False, False, False, True, False]
    assert words.tags.tolist() == [0] * 5


def test_unknown_tags_have_the_number_of_no_tag() -> None:
    assert words_of(tagged("a/XX")).tags.tolist() == [0]


# ---- sentences taken apart ----


def test_hyphens_part_words_and_disappear() -> None:
    parts = take_apart(tagged("The/DT well-known/JJ US/NNP -/HYPH based/VBN man/NN"))
    assert parts.forms == ("the", "well", "known", "us", "based", "man")
    assert parts.tokens == (0, 1, 1, 2, 4, 5)
    assert parts.capitals == frozenset({3})
    assert parts.is_split
    assert len(parts) == 6


def test_a_token_is_given_back_whole_or_not_at_all() -> None:
    parts = take_apart(tagged("a/DT well-known/JJ man/NN"))
    assert parts.whole_tokens([1, 2]) == (1,)
    assert parts.whole_tokens([2, 3]) == ()
    assert parts.whole_tokens([0, 3]) == (0, 2)


def test_a_part_is_known_by_form_and_lemma() -> None:
    sentence = Sentence.from_words(["cities"]).with_analysis(["NNS"], ["city"])
    parts = take_apart(sentence)
    assert parts.readings(0) == ("cities", "city")
    assert parts.is_word(0, "city")
    assert parts.is_word(0, "cities")
    assert not parts.is_word(0, "town")


def test_nothing_taken_apart_is_nothing() -> None:
    assert len(take_apart(Sentence.from_words([]))) == 0


@pytest.mark.parametrize(
    ("tag", "letters"), [("NNS", ["n"]), ("VBN", ["v", "a"]), ("VBD", ["v"]), ("RBR", ["r"]), ("IN", [])]
)
def test_a_tag_stands_for_parts_of_speech(tag: str, letters: list[str]) -> None:
    assert list(parts_of_speech(tag)) == letters
    assert part_of_speech(tag) == (letters[0] if letters else "")


def test_links_as_a_matrix_of_their_scores() -> None:
    links = WordAlignment((WordLink(0, 2, 0.5), WordLink(1, 0)))
    assert links.matrix(2, 3).tolist() == [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0]]
    assert links.matrix(2, 3).T.tolist() == links.mirrored().matrix(3, 2).tolist()
