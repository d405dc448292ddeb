"""Shapes of words, for encoders that ignore case, and the file of what a model has beyond benepar's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import GrammarError
from forestalign.parsers.benepar import EncoderAdditions, read_additions, write_additions
from forestalign.parsers.encoder_words import FIRST, LOWER, SHAPE_NAMES, piece_shapes, word_shapes

WORDS = st.lists(st.text(min_size=1, max_size=40).filter(lambda word: not word.isspace()), min_size=1, max_size=12)


def names(text: str) -> list[str]:
    return [SHAPE_NAMES[shape] for shape in word_shapes(text.split())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did the WHO call Ann ?", "first lower upper lower capitalised stop"),
        ("who told us about the US", "lower lower lower lower lower upper"),
        ("an iPhone for McDonald at 5 p.m.", "lower mixed lower mixed lower digits lower"),
        ("The U.S. and B2B in 1990s", "first upper lower code lower code"),
        ("`` Go '' , he said --", "quote first quote comma lower lower dash"),
        ("-LRB- 3.5 % -RRB- ...", "bracket digits symbol bracket stop"),
        ("é Über ÉCOLE 日本", "lower capitalised upper lower"),
        ("'s n't @ann #tag", "lower lower lower lower"),
        ("“ Why ” ; A", "quote first quote comma capitalised"),
    ],
)
def test_shapes_are_what_their_names_say(text: str, expected: str) -> None:
    assert names(text) == expected.split()


@given(WORDS)
def test_every_word_has_one_shape_and_at_most_one_is_first(words: list[str]) -> None:
    shapes = word_shapes(words)
    assert len(shapes) == len(words)
    assert ((shapes >= 0) & (shapes < len(SHAPE_NAMES))).all()
    assert (shapes == FIRST).sum() <= 1


@given(st.lists(st.text(alphabet="abcXYZé", min_size=1, max_size=8), min_size=1, max_size=12))
def test_words_of_small_letters_have_no_shape(words: list[str]) -> None:
    assert (word_shapes([word.lower() for word in words]) == LOWER).all()


@given(WORDS)
def test_the_shape_of_a_word_behind_the_first_does_not_depend_on_others(words: list[str]) -> None:
    together = word_shapes(["x", *words])[1:]
    assert together.tolist() == [int(word_shapes(["x", word])[1]) for word in words]


def test_pieces_have_the_shape_of_their_word_and_marks_have_none() -> None:
    shapes = np.array([3, 1])
    assert piece_shapes(shapes, [0, 2, 3, 4]).tolist() == [0, 3, 3, 1, 0]
    assert piece_shapes(shapes, [0, 1, 1, 3]).tolist() == [0, 3, 0, 0]  # two words in one piece, and a piece of none


def test_additions_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    given = EncoderAdditions(
        rng.normal(size=(len(SHAPE_NAMES), 4)).astype(np.float32), np.array([0, 0.5, 0.5], np.float32), None
    )
    write_additions(tmp_path, given)
    found = read_additions(tmp_path)
    np.testing.assert_array_equal(found.shapes, given.shapes)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found.shares(2), given.layers)  # type: ignore[arg-type]
    assert found.projection is None
    write_additions(tmp_path, EncoderAdditions())
    assert read_additions(tmp_path) == EncoderAdditions()


def test_layers_half_way_are_taken_where_none_were_learned() -> None:
    assert EncoderAdditions().shares(6).tolist() == [0, 0, 0.5, 0.5, 0, 0, 0]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"shapes": np.zeros((2, 4))}, "2 shapes; expected 13"),
        ({"other": np.zeros(1)}, "not a file of additions"),
        (None, "not a file of additions"),
    ],
)
def test_a_file_of_additions_that_is_none_is_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray] | None, message: str
) -> None:
    if arrays is None:
        (tmp_path / "additions.npz").write_bytes(b"not a file of arrays")
    else:
        np.savez(tmp_path / "additions.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(GrammarError, match=message):
        read_additions(tmp_path)
