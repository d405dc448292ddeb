"""What surrounds a pair of words: the compiled core against the plain twins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.arrays import Float32Array, GenericArray, Int8Array
from forestalign.compiled import core
from forestalign.config import AlignConfig
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.lexicon.word_pairs import PairList
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize
from forestalign.words import Analysis, analyse_parse
from forestalign.words.learned import context_layers, lexical_layers
from forestalign.words.learned.metric import load_metric
from forestalign.words.learned.sides import CONTENT, WINDOW, Lexicon, WordSide, prepare

pytestmark = pytest.mark.skipif(core("words.learned._context_layers") is None, reason="the compiled core is not built")

SEEDS = st.integers(0, 10_000)
COUNTS = st.integers(1, 12)
Draw = np.random.Generator


def _side(draw: Draw, count: int, kinds: Int8Array | None = None) -> WordSide:
    """Random heads and relations, and random kinds unless they are given; one word is the root."""
    heads = np.array([draw.choice([-1, *(k for k in range(count) if k != i)]) for i in range(count)], dtype=np.int64)
    kinds = draw.integers(0, 3, count).astype(np.int8) if kinds is None else kinds
    nothing = np.zeros((count, 1), dtype=np.float32)
    relations = [str(name) for name in draw.choice(["nsubj", "obj", "nmod:in"], count)]
    words, no = [""] * count, np.zeros(count, dtype=bool)
    return WordSide(words, words, kinds, [], nothing, None, None, kinds == CONTENT, heads, relations, no)


def _values(draw: Draw, rows: int, columns: int) -> Float32Array:
    """From 0 to 1, with ties and zeros among them."""
    return (draw.integers(0, 5, (rows, columns)) / 4 * draw.choice([1.0, 0.7], (rows, columns))).astype(np.float32)


@pytest.mark.parametrize("layer", [context_layers.surroundings, context_layers.relatives])
@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_surroundings_and_relatives_of_both_twins_are_equal(
    layer: Callable[..., Float32Array], seed: int, rows: int, columns: int
) -> None:
    draw = np.random.default_rng(seed)
    pair, values = (_side(draw, rows), _side(draw, columns)), _values(draw, rows, columns)
    np.testing.assert_allclose(layer(*pair, values), layer(*pair, values, plain=True), atol=2e-6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_rivals_of_both_twins_are_equal(seed: int, rows: int, columns: int) -> None:
    belief = _values(np.random.default_rng(seed), rows, columns)
    np.testing.assert_allclose(context_layers.rivals(belief), context_layers.rivals(belief, plain=True), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_run_lengths_of_both_twins_are_equal(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    same, weight = (draw.integers(0, 2, (2, rows, columns))).astype(np.float32)
    plain = context_layers.run_lengths(same, same * weight, plain=True)
    assert (context_layers.run_lengths(same, same * weight) == plain).all()


@pytest.mark.parametrize("plain", [False, True])
def test_the_window_ends_after_three_tokens(plain: bool) -> None:
    side = _side(np.random.default_rng(0), 9, np.full(9, CONTENT, dtype=np.int8))
    values = np.zeros((9, 9), dtype=np.float32)
    values[0, 0] = 1.0
    window = context_layers.surroundings(side, side, values, plain)[context_layers.SURROUNDINGS.index("window")]
    assert window[WINDOW, WINDOW] > 0
    assert window[WINDOW + 1, WINDOW] == window[WINDOW, WINDOW + 1] == window[0, 0] == 0


@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_context_layers_of_both_twins_are_equal(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    pair, values = (_side(draw, rows), _side(draw, columns)), _values(draw, rows, columns)
    same, links = draw.integers(0, 2, (2, rows, columns)).astype(np.float32)
    plain = context_layers.context_layers(*pair, same, values, links, plain=True)
    assert len(plain) == len(context_layers.CONTEXT)
    np.testing.assert_allclose(context_layers.context_layers(*pair, same, values, links), plain, atol=2e-6)


@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_belief_layers_of_both_twins_are_equal(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    pair, belief = (_side(draw, rows), _side(draw, columns)), _values(draw, rows, columns)
    plain = context_layers.belief_layers(*pair, belief, plain=True)
    assert len(plain) == len(context_layers.BELIEF)
    np.testing.assert_allclose(context_layers.belief_layers(*pair, belief), plain, atol=1e-5)


# ---- lexical layers ----

PAIRS = (
    (
        "The big dogs of the UN barked at 12 well-known men.",
        "A large hound of the United Nations yelped at 13 known men.",
    ),
    ("He bought a car, and she bought a car.", "She purchased an automobile; the U.N. sold 12 cars."),
    ("Buying is a national creation.", "The nation's buyer creates a good thing, not a bad one."),
    ("Дом стоит.", "дома"),
    ("Yes", "No."),
)


@pytest.fixture(scope="module")
def analyses() -> list[tuple[Analysis, Analysis]]:
    parses = load_parser(AlignConfig()).parse([tokenize(text) for pair in PAIRS for text in pair])
    found = [analyse_parse(parse) for parse in parses]
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("contextual", [False, True])
def test_lexical_layers_of_both_twins_are_the_same(
    analyses: list[tuple[Analysis, Analysis]], listed: bool, contextual: bool
) -> None:
    pairs = PairList([("barked", "yelped"), ("man", "men"), ("the", "a")]) if listed else None
    lexicon = Lexicon(load_wordnet(), load_vectors(), pairs, load_metric())
    seen = np.zeros(len(lexical_layers.LEXICAL), bool)
    for source, target in analyses:
        sides = [prepare(analysis, lexicon) for analysis in (source, target)]
        if not contextual:
            sides = [replace(side, contextual=None) for side in sides]
        layers = lexical_layers.lexical_layers(source, target, *sides, lexicon)
        assert np.array_equal(layers, lexical_layers.lexical_layers(source, target, *sides, lexicon, plain=True))
        seen |= layers.any(axis=(1, 2))
    missing = {name for name, has_values in zip(lexical_layers.LEXICAL, seen, strict=True) if not has_values}
    switched_off = {name for name in missing if not listed and "listed" in name}
    switched_off |= {name for name in missing if not contextual and ("context" in name or "middle" in name)}
    assert missing == switched_off


def test_relations_are_those_that_the_lexicon_has_pair_by_pair(analyses: list[tuple[Analysis, Analysis]]) -> None:
    wordnet = load_wordnet()
    found = 0
    for source, target in analyses:
        left, right = (prepare(analysis, Lexicon(wordnet, load_vectors())) for analysis in (source, target))
        marks = lexical_layers._relation_marks(left, right, None)
        for i, one in enumerate(left.lemmas):
            for j, other in enumerate(right.lemmas):
                if one == other or not left.is_content[i] or not right.is_content[j]:
                    continue
                asked = {
                    "synonyms": wordnet.are_synonyms(one, other),
                    "derivations": wordnet.are_derivations(one, other) and one in wordnet and other in wordnet,
                    "hypernyms": wordnet.is_hypernym(one, other) or wordnet.is_hypernym(other, one),
                    "similar adjectives": other in wordnet.entry(one).similar and other in wordnet,
                    "antonyms": wordnet.are_antonyms(one, other) and other in wordnet,
                }
                assert {name: bool(marks[name][i, j]) for name in asked} == asked, (one, other)
                found += any(asked.values())
    assert found >= 4


# ---- cosines by the middle layers ----


def _middle(cosines: list[list[float]], same: list[list[bool]]) -> dict[str, list[list[float]]]:
    layers: dict[str, GenericArray] = {}
    lexical_layers._middle_layers(layers, np.array(cosines, dtype=np.float32), np.array(same))
    return {name: np.round(layer.astype(float), 3).tolist() for name, layer in layers.items()}


def test_leads_are_over_the_best_other_partner_of_either_word() -> None:
    found = _middle([[0.8, 0.5], [0.6, -0.2]], [[False, False], [False, False]])
    assert found["middle cosine"] == [[0.8, 0.5], [0.6, 0.0]]
    assert found["middle over rival"] == [[0.2, -0.3], [-0.2, -0.6]]
    assert found["middle over weak rival"] == [[0.3, 0.5], [0.6, -0.5]]
    assert found["middle best"] == [[1, 0], [0, 0]]


def test_the_best_of_different_words_leaves_out_the_same_word() -> None:
    found = _middle([[0.9, 0.1], [0.1, 0.7]], [[True, False], [False, False]])
    assert found["middle best"] == [[1, 0], [0, 1]]
    assert found["middle best of different"] == [[0, 0], [0, 1]]


def test_nothing_is_best_where_nothing_is_alike() -> None:
    assert _middle([[-0.3, -0.1]], [[False, False]])["middle best"] == [[0, 0]]


@settings(max_examples=60, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_layers_of_cosines_transpose_with_the_cosines(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    cosines, same = draw.uniform(-1, 1, (rows, columns)), draw.integers(0, 2, (rows, columns)) > 0
    forth, back = _middle(cosines.tolist(), same.tolist()), _middle(cosines.T.tolist(), same.T.tolist())
    assert all(np.array_equal(np.transpose(back[name]), layer) for name, layer in forth.items())
