"""What parsers share: words as encoders see them, tags that shapes rule out, given trees, sizes of forests."""

from __future__ import annotations

import numpy as np
import pytest

from forestalign.config import DEFAULT_CONFIG
from forestalign.parsers.encoder_words import IMPOSSIBLE, TagShapes, middle_layers, plain_words
from forestalign.parsers.parse_result import GivenTrees
from forestalign.tokens import Sentence
from forestalign.trees import ScoredTree, parse_brackets

LOW = "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
HIGH = "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))"
OTHER = "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS men) (IN with) (NNS dogs))))"
WORDS = Sentence.from_words(["I", "saw", "men", "with", "dogs"])


# ---- words and tags ----


@pytest.mark.parametrize(
    ("word", "plain"),
    [("-LRB-", "("), ("-RCB-", "}"), ("``", '"'), (":-RRB-", ":)"), ("’s", "'s"), ("“", '"'), ("car", "car")],
)
def test_an_encoder_sees_characters_and_not_escapes(word: str, plain: str) -> None:
    assert plain_words([word]) == [plain]


@pytest.mark.parametrize(("count", "expected"), [(1, (1,)), (2, (1,)), (6, (2, 3)), (12, (4, 6)), (24, (8, 12))])
def test_the_middle_is_a_third_and_a_half_of_the_way_up(count: int, expected: tuple[int, ...]) -> None:
    assert middle_layers(count) == expected


def test_a_word_is_no_mark_and_a_stop_is_nothing_else() -> None:
    tags = ["NN", ".", ",", "NFP"]
    scores = np.zeros((4, 4), np.float32)
    found = TagShapes(tags).possible(["car", ".", ",", "p.m."], scores)
    allowed = [[tag for tag, score in zip(tags, row, strict=True) if score != IMPOSSIBLE] for row in found]
    assert allowed == [["NN"], [".", ",", "NFP"], ["NN", ".", ",", "NFP"], ["NN"]]


@pytest.mark.parametrize(
    ("word", "is_face"), [(":D", True), (";-P", True), ("D:", True), ("p.m.", False), ("D", False), (":data", False)]
)
def test_a_face_with_letters_may_be_a_mark_of_its_own_kind_only(word: str, is_face: bool) -> None:
    found = TagShapes(["NN", ".", "NFP"]).possible([word], np.zeros((1, 3), np.float32))
    assert list(found[0] != IMPOSSIBLE) == [True, False, is_face]


def test_no_word_has_a_tag_of_transcripts_or_is_a_stop_without_one() -> None:
    tags = ["SU", "CODE", ".", "NFP"]
    found = TagShapes(tags).possible(["/", ":)", "!!", ":"], np.zeros((4, 4), np.float32))
    allowed = [[tag for tag, score in zip(tags, row, strict=True) if score != IMPOSSIBLE] for row in found]
    assert allowed == [[".", "NFP"], ["NFP"], [".", "NFP"], [".", "NFP"]]


def test_a_tag_set_without_marks_stays_as_it_is() -> None:
    scores = np.ones((2, 2), np.float32)
    assert TagShapes(["NOUN", "VERB"]).possible([".", "a"], scores) is scores


# ---- given trees ----


def test_only_as_many_trees_are_taken_as_asked_for() -> None:
    given_trees = [ScoredTree(parse_brackets(text), -float(k)) for k, text in enumerate((LOW, HIGH, OTHER))]
    (parse,) = GivenTrees([given_trees], DEFAULT_CONFIG.replace(nbest=2)).parse([WORDS])
    assert len(parse.trees) == 2


def test_of_two_parses_of_the_same_words_the_first_counts() -> None:
    parser = GivenTrees([[ScoredTree(parse_brackets(text), 0.0)] for text in (LOW, HIGH)], DEFAULT_CONFIG)
    (parse,) = parser.parse([WORDS])
    assert parse.trees[0].tree == parse_brackets(LOW)
