"""Every feature of a phrase pair against a value worked out by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.forest import NodeId
from forestalign.grammar import Category
from forestalign.lexicon import WordNet, WordVectors, load_wordnet
from forestalign.phrases.scoring import pair_features
from forestalign.phrases.scoring.pair_features import (
    CATEGORY_PAIRS,
    DENSE,
    FeatureExtractor,
    FeatureSet,
    PairFeatures,
    attributes,
    linked_keys,
    parts,
)
from forestalign.words.alignment import WordAlignment, WordLink
from tests.builders.hand_forests import find_node, hand_forest, hand_links
from tests.builders.small_forests import random_forest, random_links

# shop and store share a synset; sell and seller are derivations
WORDNET = WordNet(["shop\ts1\t\t\t\t", "store\ts1\t\t\t\t", "sell\ts2\t\tseller\t\t", "seller\ts3\t\tsell\t\t"])
VECTORS = WordVectors(
    ["shop", "store", "sell", "trade", "fruit"],
    np.array([[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 0.1, 0.9], [0, 1, 0]], np.float32),
)
SOURCE = hand_forest("(S (NP (DT the) (NN shop)) (VP (VBP sell) (NP (NN fruit)) (PP (IN in) (NP (NN bulk)))))")
TARGET = hand_forest("(S (NP (DT the) (NN store)) (VP (VBP trade) (NP (NNS fruits)) (PP (IN at) (NP (NN length)))))")


LINKS = hand_links((0, 0), (1, 1), (2, 2), (3, 3))
EVERYTHING = FeatureSet()


def extracted(features: FeatureSet = EVERYTHING, links: WordAlignment = LINKS) -> PairFeatures:
    return FeatureExtractor(WORDNET, VECTORS, features).extract(SOURCE, TARGET, links)


def value(pairs: PairFeatures, name: str, source: NodeId, target: NodeId) -> float:
    return float(pairs.dense[source, target, DENSE.index(name)])


SHOP, STORE = find_node(SOURCE, 0, 2, "NP"), find_node(TARGET, 0, 2, "NP")
FRUIT, FRUITS = find_node(SOURCE, 3, 4, "NP"), find_node(TARGET, 3, 4, "NP")
SELL, TRADE = find_node(SOURCE, 2, 6, "VP"), find_node(TARGET, 2, 6, "VP")
IN, AT = find_node(SOURCE, 4, 5, "IN"), find_node(TARGET, 4, 5, "IN")
BULK, LENGTH = find_node(SOURCE, 4, 6, "PP"), find_node(TARGET, 4, 6, "PP")
NULL = NodeId(-1)


def test_the_head_of_a_phrase_is_its_semantic_head():
    nodes = attributes(SOURCE)
    assert [nodes.lemmas[nodes.lemma[v]] for v in (SHOP, SELL, BULK)] == ["shop", "sell", "bulk"]


def test_surface_holds_for_equal_heads_and_for_a_head_inside_another():
    pairs = extracted()
    the, other = find_node(SOURCE, 0, 1, "DT"), find_node(TARGET, 0, 1, "DT")
    assert value(pairs, "surface", the, other) == 1.0
    assert value(pairs, "surface", FRUIT, FRUITS) == 1.0
    assert value(pairs, "surface", SHOP, STORE) == 0.0


def test_wordnet_holds_for_synonyms_and_derivations():
    pairs = extracted()
    assert value(pairs, "wordnet", SHOP, STORE) == 1.0
    assert value(pairs, "wordnet", SELL, TRADE) == 0.0
    sellers = hand_forest("(NP (DT the) (NN seller))")
    pairs = FeatureExtractor(WORDNET, VECTORS).extract(SOURCE, sellers, hand_links())
    assert value(pairs, "wordnet", SELL, find_node(sellers, 0, 2, "NP")) == 1.0


def test_embedding_holds_above_the_threshold_only():
    # cosine of shop and store 0.6, of sell and trade 0.9 / sqrt(0.82) = 0.994
    for threshold, expected in ((0.5, (1.0, 1.0)), (0.7, (0.0, 1.0)), (0.999, (0.0, 0.0))):
        pairs = extracted(FeatureSet(embedding_threshold=threshold))
        assert (value(pairs, "embedding", SHOP, STORE), value(pairs, "embedding", SELL, TRADE)) == expected


def test_preposition_holds_for_two_prepositions_whatever_they_are():
    pairs = extracted()
    assert value(pairs, "preposition", IN, AT) == 1.0
    assert value(pairs, "preposition", IN, FRUITS) == 0.0
    assert value(pairs, "preposition", BULK, LENGTH) == 0.0  # their semantic heads are nouns


def test_category_pairs_are_the_same_in_both_orders():
    pairs = extracted()
    number = {frozenset(pair): k for k, pair in enumerate(CATEGORY_PAIRS)}
    assert pairs.category[SHOP, TRADE] == number[frozenset({Category.N, Category.V})]
    assert pairs.category[SELL, STORE] == number[frozenset({Category.N, Category.V})]
    assert pairs.category[SELL, TRADE] == number[frozenset({Category.V})]
    assert pairs.category[SHOP, NULL] == number[frozenset({Category.N, Category.NULL})]
    assert pairs.category[NULL, TRADE] == number[frozenset({Category.V, Category.NULL})]
    assert len(number) == len(CATEGORY_PAIRS) == 36


def test_same_category_holds_for_equal_categories_and_never_for_null():
    pairs = extracted()
    assert value(pairs, "same_category", SHOP, FRUITS) == 1.0
    assert value(pairs, "same_category", SHOP, TRADE) == 0.0
    assert not pairs.dense[-1, :, DENSE.index("same_category")].any()
    assert not pairs.dense[:, -1, DENSE.index("same_category")].any()


def test_links_count_by_their_probability():
    # the links of shop and store: 1 + 0.5 inside both, 0.25 leaves the store for "bulk"
    links = WordAlignment((WordLink(0, 0), WordLink(1, 1, 0.5), WordLink(5, 1, 0.25)))
    pairs = extracted(links=links)
    assert value(pairs, "coverage", SHOP, STORE) == pytest.approx(2 * 1.5 / (1.5 + 1.75))
    assert value(pairs, "null_linked", SHOP, NULL) == pytest.approx((1 + 0.5) / 2)
    assert value(pairs, "null_linked", NULL, STORE) == pytest.approx((1 + 0.5) / 2)  # the likelier link of "store"
    assert value(pairs, "null_linked", BULK, NULL) == pytest.approx(0.25 / 2)


def test_link_is_the_probability_that_the_heads_are_linked():
    pairs = extracted(links=WordAlignment((WordLink(0, 0), WordLink(1, 1, 0.5), WordLink(1, 2, 0.25))))
    assert value(pairs, "link", SHOP, STORE) == 0.5
    assert value(pairs, "link", SHOP, TRADE) == 0.25
    assert value(pairs, "link", FRUIT, FRUITS) == 0.0


def test_cosine_is_that_of_the_sums_of_unit_vectors_and_never_negative():
    pairs = extracted()
    # "the" and "bulk" have no vector; sell + fruit against trade alone
    trade = np.array([0, 0.1, 0.9]) / np.sqrt(0.82)
    assert value(pairs, "cosine", SHOP, STORE) == pytest.approx(0.6, abs=1e-5)
    assert value(pairs, "cosine", SELL, TRADE) == pytest.approx((trade[1] + trade[2]) / np.sqrt(2), abs=1e-5)
    opposite = WordVectors(["shop", "store"], np.array([[1.0, 0.0], [-1.0, 0.1]], np.float32))
    pairs = FeatureExtractor(WORDNET, opposite).extract(SOURCE, TARGET, hand_links())
    assert value(pairs, "cosine", SHOP, STORE) == 0.0


def test_length_is_the_shorter_over_the_longer():
    pairs = extracted()
    assert value(pairs, "length", SHOP, TRADE) == pytest.approx(2 / 4)
    assert value(pairs, "length", SELL, STORE) == pytest.approx(2 / 4)
    assert value(pairs, "length", SHOP, LENGTH) == 1.0


@pytest.mark.parametrize("extra", EVERYTHING.extras)
def test_an_extra_feature_that_is_off_is_zero_everywhere(extra):
    others = tuple(name for name in EVERYTHING.extras if name != extra)
    off, on = extracted(FeatureSet(extras=others)), extracted()
    assert not off.dense[:, :, DENSE.index(extra)].any()
    assert on.dense[:, :, DENSE.index(extra)].any()


def test_lexical_features_are_found_by_both_lemmas_and_categories():
    vocabulary = {("shop", "N", "store", "N"): 0, ("shop", "V", "store", "N"): 1, ("sell", "V", "trade", "V"): 2}
    pairs = FeatureExtractor(WORDNET, VECTORS, vocabulary=vocabulary).extract(SOURCE, TARGET, hand_links())
    assert pairs.lexical[SHOP, STORE] == 0
    assert pairs.lexical[SELL, TRADE] == 2
    assert pairs.lexical[SHOP, TRADE] == pairs.lexical[SHOP, NULL] == pairs.lexical[NULL, STORE] == -1
    swapped = FeatureExtractor(WORDNET, VECTORS, vocabulary=vocabulary).extract(TARGET, SOURCE, hand_links())
    assert (swapped.lexical == pairs.lexical.T).all()
    off = FeatureExtractor(WORDNET, VECTORS, FeatureSet(lexical=False), vocabulary).extract(
        SOURCE, TARGET, hand_links()
    )
    assert (off.lexical == -1).all()


def test_linked_keys_are_those_of_phrases_with_linked_semantic_heads():
    keys = linked_keys(SOURCE, TARGET, hand_links((1, 1)))
    assert keys == {("shop", "N", "store", "N")} == linked_keys(TARGET, SOURCE, hand_links((1, 1)))
    assert ("bulk", "PREP", "length", "PREP") in linked_keys(SOURCE, TARGET, hand_links((5, 5)))


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_coverage_equals_counting_links_one_by_one(seed):
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(1, 6), 2), random_forest(rng, rng.randint(1, 6), 2)
    links = random_links(rng, source, target, 0.3)
    pairs = FeatureExtractor(WORDNET, VECTORS).extract(source, target, links)
    v, u = rng.randrange(len(source)), rng.randrange(len(target))
    one, other = source.nodes[v], target.nodes[u]
    left = [link for link in links if one.begin <= link.source < one.end]
    right = [link for link in links if other.begin <= link.target < other.end]
    expected = 2 * len(set(left) & set(right)) / max(len(left) + len(right), 1)
    assert value(pairs, "coverage", NodeId(v), NodeId(u)) == pytest.approx(expected, abs=1e-6)
    linked = len({link.source for link in left}) / (one.end - one.begin)
    assert value(pairs, "null_linked", NodeId(v), NULL) == pytest.approx(linked, abs=1e-6)


LEMMAS = (
    "buy",
    "buyer",
    "purchase",
    "be",
    "a",
    "an",
    "creation",
    "create",
    "creator",
    "big",
    "large",
    "bigger",
    "x\ny",
)


@given(st.lists(st.sampled_from(LEMMAS), max_size=6), st.lists(st.sampled_from(LEMMAS), max_size=6))
@settings(max_examples=100, deadline=None)
def test_lemmas_are_compared_all_at_once_as_one_by_one(left: list[str], right: list[str]) -> None:
    wordnet = load_wordnet()
    related, found = FeatureExtractor(wordnet, VECTORS).related(left, right), parts(left, right)
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            assert related[i, j] == (wordnet.are_synonyms(one, other) or wordnet.are_derivations(one, other))
            shorter, longer = sorted((one, other), key=len)
            assert found[i, j] == (one == other or (len(shorter) >= 3 and shorter in longer))


def test_columns_follow_their_names_in_whatever_order_these_stand(monkeypatch):
    expected = extracted().dense
    monkeypatch.setattr(pair_features, "DENSE", pair_features.DENSE[::-1])
    np.testing.assert_array_equal(extracted().dense, expected[..., ::-1])
