"""Packed forests against enumeration: weights, marginals, counts, the best tree, and the trees that went in."""

from __future__ import annotations

import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.chart import Chart, kbest
from forestalign.compiled import load_plain
from forestalign.errors import NoParseError
from forestalign.forest import (
    Forest,
    ForestDerivation,
    HyperEdge,
    Node,
    best_tree,
    count_trees,
    derivations,
    enumerate_trees,
    inside,
    kernels,
    log_partition,
    one_best,
    pack,
    pack_chart,
    tree_of,
    viterbi,
)
from forestalign.forest.forest import BLOCK
from forestalign.forest.packer import Labels, Packer
from forestalign.grammar import head_rules, semantic_head_rules
from forestalign.tokens import Sentence
from forestalign.trees import (
    ScoredTree,
    Tree,
    constituents,
    format_brackets,
    head_tokens,
    parse_brackets,
    postorder,
)
from tests.builders.grown_trees import tree_lists

SAW = [
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NNS stars)) (PP (IN with) (NP (NNS lenses))))))",
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS stars)) (PP (IN with) (NP (NNS lenses)))))",
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NNS stars)) (PP (IN with) (NP (VBZ lenses)))))",
]


def packed(trees: list[Tree], log_probs: list[float] | None = None) -> Forest:
    words = [leaf.word or "" for leaf in trees[0].leaves()]
    scores = log_probs or [-0.5 * index for index in range(len(trees))]
    return pack([ScoredTree(*pair) for pair in zip(trees, scores, strict=True)], Sentence.from_words(words))


def used_nodes(forest: Forest, derivation: ForestDerivation) -> list[int]:
    return [node for node in range(len(forest)) if derivation.choice[node] >= 0]


# ---- the trees that went in ----


@settings(max_examples=60, deadline=None)
@given(tree_lists())
def test_every_input_tree_comes_out(trees: list[Tree]) -> None:
    assert set(trees) <= set(enumerate_trees(packed(trees)))


@settings(max_examples=60, deadline=None)
@given(tree_lists())
def test_strict_gives_exactly_the_derivations_of_the_input_trees(trees: list[Tree]) -> None:
    found = Counter(enumerate_trees(packed(trees), strict=True))
    assert found == Counter(set(trees))


@settings(max_examples=40, deadline=None)
@given(tree_lists(most_trees=1))
def test_one_tree_gives_one_derivation_with_the_heads_of_the_rules(trees: list[Tree]) -> None:
    (tree,), forest = trees, packed(trees)
    tables = [head_tokens(tree, table) for table in (head_rules(), semantic_head_rules())]
    head_of = dict(zip(map(id, postorder(tree)), zip(*tables, strict=True), strict=True))
    phrases = () if tree.is_leaf else constituents(tree)
    expected = Counter((each.begin, each.end, each.label, *head_of[id(each.tree)]) for each in phrases)
    expected += Counter((word.begin, word.end, word.label, word.begin, word.begin) for word in tree.leaves())
    whole = [node for node in forest.nodes if not node.is_bar]
    assert Counter((node.begin, node.end, node.label, node.head, node.semantic_head) for node in whole) == expected
    assert count_trees(forest) == 1
    assert forest.marginals == pytest.approx([1.0] * len(forest))


def shape(forest: Forest, number: int) -> str:
    node, (edge,) = forest.nodes[number], forest.edges[number]
    if node.is_leaf:
        return forest.sentence.words[node.begin]
    return f"[{node.label}{chr(39) if node.is_bar else ''} {' '.join(shape(forest, below) for below in edge.children)}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(NP (DT the) (JJ fat) (NN cat))", "[NP the [NP' fat cat]]"),
        ("(NP (DT the) (NN cat) (PP (IN of)))", "[NP the [NP' cat [PP of]]]"),
        ("(VP (RB so) (VBD gave) (PRP him) (NN tea) (. .))", "[VP [VP' so [VP' [VP' gave him] tea]] .]"),
        ("(S (`` <<) (NP (NN a)) (VP (VB b)) ('' >>))", "[S << [S' [S' [NP a] [VP b]] >>]]"),
        ("(S (VP (VB go) (NP (NN on) (NN it))))", "[S+VP go [NP on it]]"),
        ("(VP (VB a) (, ,) (NN b))", "[VP [VP' a ,] b]"),
        ("(NP (NN cat))", "[NP cat]"),
    ],
)
def test_sisters_are_attached_head_outward_and_edge_punctuation_last(text: str, expected: str) -> None:
    forest = packed([parse_brackets(text)])
    assert shape(forest, forest.roots[0]) == expected


def test_bar_nodes_carry_label_head_and_semantic_head() -> None:
    forest = packed([parse_brackets("(S (VP (MD will) (RB not) (VP (VB go))))")])
    assert forest.nodes[-1] == Node(0, 3, "S+VP", 0, 2)
    assert Node(0, 2, "VP", 0, 0, is_bar=True) in forest.nodes


def test_a_packed_forest_holds_more_trees_than_the_list() -> None:
    texts = [
        "(S (NP (NN a) (NN b)) (VP (VB c) (NN d)))",
        "(S (NML (NN a) (NN b)) (VP (VB c) (NN d)))",
        "(S (NP (NN a) (NN b)) (VP (VB c) (JJ d)))",
    ]
    forest = packed([parse_brackets(text) for text in texts])
    assert count_trees(forest) == 4
    assert len(list(enumerate_trees(forest, strict=True))) == 3


def test_equal_nodes_are_shared_and_their_trees_recorded() -> None:
    forest = packed([parse_brackets(text) for text in SAW])
    phrases = Counter((node.begin, node.end, node.label) for node in forest.nodes if not node.is_bar)
    assert phrases[3, 5, "PP"] == 1
    stars = next(i for i, node in enumerate(forest.nodes) if (node.begin, node.label) == (2, "NP") and node.end == 3)
    assert [edge.trees for edge in forest.edges[stars]] == [0b111]
    verb_phrase = next(
        i for i, node in enumerate(forest.nodes) if (node.begin, node.label, node.is_bar) == (1, "VP", False)
    )
    assert sorted(edge.trees for edge in forest.edges[verb_phrase]) == [0b001, 0b110]


@settings(max_examples=40, deadline=None)
@given(tree_lists())
def test_children_come_before_parents_and_fill_their_span(trees: list[Tree]) -> None:
    forest = packed(trees)
    for number, edges in enumerate(forest.edges):
        node = forest.nodes[number]
        assert edges
        for edge in edges:
            assert all(child < number for child in edge.children)
            if edge.children:
                below = [forest.nodes[child] for child in edge.children]
                assert (below[0].begin, below[-1].end) == (node.begin, node.end)
            else:
                assert node.is_leaf


def test_packing_does_not_depend_on_shared_objects() -> None:
    trees = [parse_brackets(text) for text in SAW]
    again = [parse_brackets(format_brackets(tree)) for tree in trees]
    assert packed([trees[0], trees[0], trees[1]]) == packed([trees[0], again[0], again[1]])


# ---- weights ----


@settings(max_examples=60, deadline=None)
@given(tree_lists(), st.lists(st.floats(-5, 0), min_size=5, max_size=5))
def test_marginals_are_sums_over_trees(trees: list[Tree], scores: list[float]) -> None:
    forest = packed(trees, scores[: len(trees)])
    weights, total = [0.0] * len(forest), 0.0
    for derivation in derivations(forest):
        weight = math.exp(derivation.log_prob)
        total += weight
        for node in used_nodes(forest, derivation):
            weights[node] += weight
    assert log_partition(forest) == pytest.approx(math.log(total), abs=1e-9)
    assert forest.marginals == pytest.approx([weight / total for weight in weights], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(tree_lists())
def test_counting_equals_enumeration(trees: list[Tree]) -> None:
    forest = packed(trees)
    assert count_trees(forest) == len(list(derivations(forest)))


@settings(max_examples=40, deadline=None)
@given(tree_lists(), st.lists(st.floats(-5, 0), min_size=5, max_size=5))
def test_viterbi_is_the_heaviest_derivation(trees: list[Tree], scores: list[float]) -> None:
    forest = packed(trees, scores[: len(trees)])
    best = max(derivation.log_prob for derivation in derivations(forest))
    found = viterbi(forest)
    assert found.log_prob == pytest.approx(best, abs=1e-9)
    assert best_tree(forest) == tree_of(forest, found.root, found.choice)
    single = one_best(forest)
    assert list(enumerate_trees(single)) == [best_tree(forest)]
    assert inside(single)[single.roots[0]] == pytest.approx(best, abs=1e-9)


def test_relative_frequencies_keep_the_probability_of_trees_without_shared_choices() -> None:
    trees = [parse_brackets("(S (NN a) (VB b))"), parse_brackets("(FRAG (NN a) (VB b))")]
    forest = packed(trees, [math.log(0.75), math.log(0.25)])
    assert sorted(math.exp(derivation.log_prob) for derivation in derivations(forest)) == pytest.approx([0.25, 0.75])
    assert log_partition(forest) == pytest.approx(0.0)


def test_a_tree_has_the_words_of_its_sentence_in_whatever_characters() -> None:
    tree = parse_brackets("(S (`` “) (NN oﬃce))")
    assert len(pack([ScoredTree(tree, 0.0)], Sentence.from_words(["“", "oﬃce"]))) == 3
    with pytest.raises(NoParseError, match="expected 'door'"):
        pack([ScoredTree(tree, 0.0)], Sentence.from_words(["“", "door"]))


def test_hopeless_trees_keep_finite_weights() -> None:
    forest = packed([parse_brackets(text) for text in SAW], [0.0, -2000.0, -5000.0])
    assert all(math.isfinite(edge.log_prob) for edges in forest.edges for edge in edges)
    assert best_tree(forest) == parse_brackets(SAW[0])
    assert max(forest.marginals) == pytest.approx(1.0)


# ---- errors and size ----


def test_a_tree_of_another_length_is_refused() -> None:
    with pytest.raises(NoParseError, match="covers 0-1, expected 0-2"):
        pack([ScoredTree(parse_brackets("(NP (NN a))"), 0.0)], Sentence.from_words(["a", "c"]))


def test_nothing_to_pack_is_refused() -> None:
    with pytest.raises(NoParseError, match="no trees"):
        pack([], Sentence.from_words(["a"]))


def test_large_and_deep_forests_are_no_problem() -> None:
    count = 1500
    words = ["go"] * count + ["on"]
    tails = [f"({label} on)" + ")" * count for label in ("NN", "RB")]
    trees = [parse_brackets("(VP (VB go) " * count + tail) for tail in tails]
    forest = pack([ScoredTree(tree, 0.0) for tree in trees], Sentence.from_words(words))
    assert count_trees(forest) == 2
    assert set(enumerate_trees(forest)) == set(trees)
    assert log_partition(forest) == pytest.approx(0.0)


def test_unknown_tree_sets_are_all_ones() -> None:
    assert HyperEdge((), 0.0).trees == -1


def random_chart(n: int, seed: int, is_tied: bool) -> Chart:
    """A chart over labels and tags that head rules know, with and without ties."""
    generator = np.random.default_rng(seed)
    labels = ("", "NP", "VP", "S", "S::VP", "PP", "NP-SBJ", "UCP")
    tags = ("NN", "VBD", "IN", ",", "CC", "DT")
    potentials = generator.normal(scale=2.0, size=(n, n, len(labels))).astype(np.float32)
    potentials = np.round(potentials) if is_tied else potentials
    potentials[:, :, 0] = 0.0
    return Chart(potentials, labels, generator.normal(size=(n, len(tags))).astype(np.float32), tags)


@given(st.integers(1, 9), st.integers(0, 10_000), st.sampled_from([1, 7, 30, 70]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_packing_a_chart_is_packing_its_best_trees(n: int, seed: int, k: int, is_tied: bool) -> None:
    chart = random_chart(n, seed, is_tied)
    sentence = Sentence.from_words([f"w{i}" for i in range(n)])
    trees = kbest(chart, sentence.words, k)
    forest, listed = pack_chart(chart, trees, sentence), pack(trees, sentence)
    assert (forest.nodes, forest.roots) == (listed.nodes, listed.roots)
    number = {label.replace("::", "+"): place for place, label in enumerate(chart.labels)}
    for node, edges, others in zip(forest.nodes, forest.edges, listed.edges, strict=True):
        assert [(edge.children, edge.trees) for edge in edges] == [(edge.children, edge.trees) for edge in others]
        label = 0 if node.is_bar or node.is_leaf else number[node.label]
        assert {edge.log_prob for edge in edges} == {float(chart.potentials[node.begin, node.end - 1, label])}


@given(st.integers(1, 9), st.integers(0, 10_000), st.sampled_from([1, 30, 70]))
@settings(max_examples=40, deadline=None)
def test_the_compiled_packer_gives_what_its_source_says(n: int, seed: int, k: int) -> None:
    chart, source = random_chart(n, seed, is_tied=True), load_plain("forest.packer")
    shared = kbest(chart, [f"w{i}" for i in range(n)], k).shared
    label = np.where(shared.label == 0, -1 - shared.begin % 6, shared.label)
    chains = [x.split("::") for x in chart.labels]
    found = []
    for labels, packer in ((Labels, Packer), (source.Labels, source.Packer)):
        packed = packer(labels(chains, chart.tags), shared, label, n)
        tables = packed.node_rows(), *packed.edge_rows(), packed.edge_trees(shared.roots, BLOCK)
        found.append([np.asarray(table).tolist() for table in (*tables, packed.nodes_of(shared.roots))])
    assert found[0] == found[1]


@given(st.integers(2, 9), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_compiled_passes_compute_what_their_source_says(n: int, seed: int) -> None:
    chart = random_chart(n, seed, is_tied=True)
    sentence = Sentence.from_words([f"w{i}" for i in range(n)])
    arrays = pack_chart(chart, kbest(chart, sentence.words, 20), sentence).arrays
    plain, edges = load_plain("forest.kernels"), (arrays.edge_start, arrays.children, arrays.log_prob)
    inner = kernels.inside(*edges)
    np.testing.assert_allclose(inner, plain.inside(*edges), atol=1e-9)
    outer = [module.outside(*edges, arrays.roots, inner) for module in (kernels, plain)]
    np.testing.assert_allclose(*outer, atol=1e-9)
    for fast, slow in zip(kernels.viterbi(*edges), plain.viterbi(*edges), strict=True):
        np.testing.assert_array_equal(fast, slow)


def test_a_forest_is_the_same_after_pickling_and_keeps_its_views_out_of_the_pickle() -> None:
    chart = random_chart(6, 1, is_tied=False)
    sentence = Sentence.from_words([f"w{i}" for i in range(6)])
    forest = pack_chart(chart, kbest(chart, sentence.words, 5), sentence)
    before = len(pickle.dumps(forest))
    assert pickle.loads(pickle.dumps(forest)) == forest
    assert len(forest.edges) == len(forest)
    assert len(pickle.dumps(forest)) == before


@given(st.lists(st.integers(0, 2**70), min_size=1, max_size=4), st.booleans())
def test_sets_of_trees_of_any_size_come_back_from_the_arrays(masks: list[int], is_known: bool) -> None:
    masks = masks if is_known else [*masks, -1]
    edges = [HyperEdge((), 0.0, mask) for mask in masks]
    node = Node(0, 1, "NN", 0, 0, is_leaf=True)
    assert [edge.trees for edge in Forest(Sentence.from_words(["w"]), (node,), (edges,), (0,)).edges[0]] == masks
