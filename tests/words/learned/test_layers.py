"""The layers of word evidence: what surrounds two words, and what they are to each other, against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.arrays import Float32Array, GenericArray, Int8Array
from forestalign.config import AlignConfig
from forestalign.lexicon import load_vectors, load_wordnet
from forestalign.lexicon.pair_lists import PairList
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize
from forestalign.words import Analysis, analyse_parse
from forestalign.words.learned import evidence
from forestalign.words.learned.sides import CONTENT, NEAR, REGION, WINDOW, Lexicon, WordSide, prepare
from forestalign.words.word_vectors import load_metric

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


@settings(max_examples=40, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_surroundings_are_the_sums_over_other_pairs(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    left, right, values = _side(draw, rows), _side(draw, columns), _values(draw, rows, columns)
    found = dict(zip(evidence.SURROUNDINGS, evidence.surroundings(left, right, values), strict=True))
    for i, j in np.ndindex(rows, columns):
        others = [(k, l) for k in range(rows) for l in range(columns) if k != i and l != j]
        window = sum(
            values[k, l]
            for k, l in others
            if abs(k - i) <= WINDOW and abs(l - j) <= WINDOW and left.is_content[k] and right.is_content[l]
        )
        assert found["window"][i, j] == pytest.approx(min(window, 4.0) / 4.0, abs=1e-5)
        for name, scale in (("near", NEAR), ("region", REGION)):
            total = sum(values[k, l] * np.exp(-(abs(k - i) + abs(l - j)) / scale) for k, l in others)
            assert found[name][i, j] == pytest.approx(np.log1p(total), abs=1e-5)
        assert found["left"][i, j] == _beside(values, i - 1, j - 1)
        assert found["right"][i, j] == _beside(values, i + 1, j + 1)


def _beside(values: Float32Array, i: int, j: int) -> float:
    rows, columns = values.shape
    if 0 <= i < rows and 0 <= j < columns:
        return float(values[i, j])
    return float((i, j) in ((-1, -1), (rows, columns)))


@settings(max_examples=40, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_relatives_are_the_values_of_parents_and_children(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    left, right, values = _side(draw, rows), _side(draw, columns), _values(draw, rows, columns)
    found = dict(zip(evidence.RELATIVES, evidence.relatives(left, right, values), strict=True))
    expected = {name: np.zeros((rows, columns)) for name in evidence.RELATIVES}
    for i, j in np.ndindex(rows, columns):
        above, over = left.heads[i], right.heads[j]
        is_related = left.relations[i] == right.relations[j]
        if above >= 0 and over >= 0:
            expected["parents"][i, j] = values[above, over]
            expected["parents related"][i, j] = values[above, over] * is_related
            expected["children"][above, over] += values[i, j]
            expected["children related"][above, over] += values[i, j] * is_related
            expected["crossed"][i, over] += values[above, j]
            expected["crossed"][above, j] += values[i, over]
    for name, most in (("children", 3.0), ("children related", 3.0), ("crossed", 2.0)):
        expected[name] = np.minimum(expected[name], most) / most
    for name, values_of in expected.items():
        np.testing.assert_allclose(found[name], values_of, atol=1e-5, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_rivals_are_the_best_other_partners_and_the_rest(seed: int, rows: int, columns: int) -> None:
    belief = _values(np.random.default_rng(seed), rows, columns)
    strong, weak, more, less = evidence.rivals(belief)
    for i, j in np.ndindex(rows, columns):
        others = np.delete(belief[i], j), np.delete(belief[:, j], i)
        best = [float(other.max()) if len(other) else 0.0 for other in others]
        rest = [min(max(float(other.sum()) - top, 0.0), 2.0) for other, top in zip(others, best, strict=True)]
        assert (strong[i, j], weak[i, j]) == pytest.approx((max(best), min(best)), abs=1e-6)
        assert (more[i, j], less[i, j]) == pytest.approx((max(rest), min(rest)), abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(SEEDS, COUNTS, COUNTS)
def test_a_run_goes_along_the_diagonal_until_words_differ(seed: int, rows: int, columns: int) -> None:
    draw = np.random.default_rng(seed)
    same, weight = (draw.integers(0, 2, (2, rows, columns))).astype(np.float32)
    lengths, weights = evidence.run_lengths(same, same * weight)
    for i, j in np.ndindex(rows, columns):
        run = [(i, j)] if same[i, j] else []
        for step in (-1, 1):
            k = step
            while 0 <= i + k < rows and 0 <= j + k < columns and run and same[i + k, j + k]:
                run.append((i + k, j + k))
                k += step
        assert (lengths[i, j], weights[i, j]) == (len(run), sum(weight[place] for place in run))


def test_the_window_ends_after_three_tokens() -> None:
    side = _side(np.random.default_rng(0), 9, np.full(9, CONTENT, dtype=np.int8))
    values = np.zeros((9, 9), dtype=np.float32)
    values[0, 0] = 1.0
    window = evidence.surroundings(side, side, values)[evidence.SURROUNDINGS.index("window")]
    assert window[WINDOW, WINDOW] > 0
    assert window[WINDOW + 1, WINDOW] == window[WINDOW, WINDOW + 1] == window[0, 0] == 0


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


def test_every_lexical_layer_says_something_where_it_is_asked(analyses: list[tuple[Analysis, Analysis]]) -> None:
    seen = {
        (listed, contextual): _layers_with_values(analyses, listed, contextual)
        for listed in (False, True)
        for contextual in (False, True)
    }
    assert seen[True, True] == set(evidence.LEXICAL)
    for (listed, contextual), names in seen.items():
        missing = set(evidence.LEXICAL) - names
        switched_off = {name for name in missing if not listed and "listed" in name}
        switched_off |= {name for name in missing if not contextual and ("context" in name or "middle" in name)}
        assert missing == switched_off


def _layers_with_values(analyses: list[tuple[Analysis, Analysis]], listed: bool, contextual: bool) -> set[str]:
    pairs = PairList([("barked", "yelped"), ("man", "men"), ("the", "a")]) if listed else None
    lexicon = Lexicon(load_wordnet(), load_vectors(), pairs, load_metric())
    seen = np.zeros(len(evidence.LEXICAL), bool)
    for source, target in analyses:
        sides = [prepare(analysis, lexicon) for analysis in (source, target)]
        if not contextual:
            sides = [replace(side, contextual=None) for side in sides]
        layers = evidence.lexical_layers(source, target, *sides, lexicon)
        turned = evidence.lexical_layers(target, source, *reversed(sides), lexicon)
        np.testing.assert_allclose(turned, layers.transpose(0, 2, 1), atol=1e-6)
        seen |= layers.any(axis=(1, 2))
    return {name for name, has_values in zip(evidence.LEXICAL, seen, strict=True) if has_values}


def test_relations_are_those_that_the_lexicon_has_pair_by_pair(analyses: list[tuple[Analysis, Analysis]]) -> None:
    wordnet = load_wordnet()
    found = 0
    for source, target in analyses:
        left, right = (prepare(analysis, Lexicon(wordnet, load_vectors())) for analysis in (source, target))
        marks = evidence._relation_marks(left, right, None)
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
    evidence._middle_layers(layers, np.array(cosines, dtype=np.float32), np.array(same))
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
