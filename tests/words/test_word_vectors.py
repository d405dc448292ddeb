"""Cosines of words and phrases by the middle layers of the encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.arrays import AnyFloatArray, GenericArray
from forestalign.config import AlignConfig
from forestalign.errors import GrammarError
from forestalign.parsers import Parser, load_parser
from forestalign.tokens import Sentence, tokenize
from forestalign.words import word_vectors
from forestalign.words.word_vectors import (
    CENTRE_WEIGHT,
    centre_of,
    centred_cosines,
    load_centre,
    read_centre,
    write_centre,
)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser(AlignConfig(nbest=1))


def parsed(parser: Parser, *texts: str) -> list[Sentence]:
    return [parse.sentence for parse in parser.parse([tokenize(text) for text in texts], forests=False)]


def sentence(rows: AnyFloatArray) -> Sentence:
    return replace(Sentence.from_words(["w"] * len(rows)), context_vectors=rows.astype(np.float32))


def random_pair(seed: int, size: int) -> tuple[Sentence, Sentence]:
    draw = np.random.default_rng(seed)
    source, target = (sentence(draw.normal(1.0, 2.0, size=(draw.integers(1, 6), size))) for _ in range(2))
    return source, target


@settings(deadline=None)
@given(st.integers(0, 999), st.sampled_from([4, 384]))
def test_cosines_are_those_of_the_definition(seed: int, size: int) -> None:
    source, target = random_pair(seed, size)
    found, rows = centred_cosines(source, target), [*source.context_vectors.tolist(), *target.context_vectors.tolist()]  # type: ignore[union-attr]
    if size == len(load_centre()):
        rows += [load_centre().tolist()] * CENTRE_WEIGHT
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    assert found is not None
    for i, left in enumerate(source.context_vectors.tolist()):  # type: ignore[union-attr]
        for j, right in enumerate(target.context_vectors.tolist()):  # type: ignore[union-attr]
            a, b = (np.subtract(row, mean) for row in (left, right))
            expected = a @ b / max(np.sqrt((a @ a) * (b @ b)), 1e-9)
            assert found[i, j] == pytest.approx(expected, abs=1e-4)


@settings(deadline=None)
@given(st.integers(0, 999))
def test_exchanging_the_sentences_transposes(seed: int) -> None:
    source, target = random_pair(seed, 7)
    forth, back = centred_cosines(source, target), centred_cosines(target, source)
    assert forth is not None
    assert back is not None
    np.testing.assert_allclose(forth, back.T, atol=1e-5)


def test_without_vectors_or_with_those_of_two_encoders_there_is_nothing_to_compare() -> None:
    source, target = random_pair(1, 6)
    assert centred_cosines(source, replace(target, context_vectors=None)) is None
    assert centred_cosines(source, random_pair(1, 5)[1]) is None


@pytest.mark.parametrize("text", ["Yes", "Dogs bark", "She sold the house to her brother ."])
def test_a_sentence_is_like_itself_however_short(parser: Parser, text: str) -> None:
    source, target = parsed(parser, text, text)
    cosines = centred_cosines(source, target)
    assert cosines is not None
    np.testing.assert_allclose(cosines.diagonal(), 1.0, atol=1e-5)


@pytest.mark.parametrize(
    ("source", "target", "link", "rival"),
    [
        ("The firm hired three lawyers .", "Three attorneys were taken on by the company .", (4, 1), (4, 7)),
        ("He bought a car .", "A vehicle was purchased by him .", (1, 3), (1, 1)),
        ("The film begins at noon .", "At midday the movie starts .", (1, 3), (1, 1)),
        ("The doctor examined the child .", "A kid was seen by the physician .", (1, 6), (1, 1)),
    ],
)
def test_words_of_like_meaning_are_nearer_than_others(
    parser: Parser, source: str, target: str, link: tuple[int, int], rival: tuple[int, int]
) -> None:
    cosines = centred_cosines(*parsed(parser, source, target))
    assert cosines is not None
    assert cosines[link] > cosines[rival] + 0.1


def test_the_centre_is_the_mean_over_all_words(tmp_path: Path) -> None:
    rows = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 9.0]])]
    write_centre(tmp_path / "c.npy", centre_of([*map(sentence, rows), Sentence.from_words(["no", "vectors"])]))
    assert read_centre(tmp_path / "c.npy").tolist() == [3.0, 5.0]


@pytest.mark.parametrize("value", [np.ones((2, 2)), np.array([1.0, np.nan]), np.array([1, 2])])
def test_a_file_that_is_no_centre_is_named(tmp_path: Path, value: GenericArray) -> None:
    np.save(tmp_path / "c.npy", value)
    with pytest.raises(GrammarError, match=r"c\.npy.*(expected one row|not a finite number)"):
        read_centre(tmp_path / "c.npy")
    (tmp_path / "c.npy").write_bytes(b"nothing of the kind")
    with pytest.raises(GrammarError, match="is not a centre of word vectors"):
        read_centre(tmp_path / "c.npy")


def test_the_centre_belongs_to_the_shipped_parser(parser: Parser) -> None:
    (one,) = parsed(parser, "The bridge will be closed until May .")
    assert one.context_vectors is not None
    assert word_vectors.load_centre().shape == one.context_vectors.shape[1:]
