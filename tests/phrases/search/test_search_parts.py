"""What the search is made of, each alone and by hand: regions, paths and LCAs, seeds, prices, hypotheses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.forest import Forest, NodeId
from forestalign.phrases.scoring.model import PairScores
from forestalign.phrases.scoring.score import Step, alignment_share, best_inside, edge_log_probs, weigh
from forestalign.phrases.scoring.seeds import LEAST_LINK, PHRASE, WORD, Seeds, link_seeds
from forestalign.phrases.search.directed_search import WIDER
from forestalign.phrases.search.hypotheses import (
    Bounds,
    Derivation,
    Hypothesis,
    distinct,
    grains,
    posteriors,
)
from forestalign.phrases.search.lca import UNLIMITED, Ancestry, EdgeId, Region, null_nodes, unopened
from forestalign.words.alignment import WordAlignment, WordLink
from tests.builders.hand_forests import find_node, hand_forest

BRACKETS = "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NNS dogs))))"
PAPER = DEFAULT_CONFIG.replace(scoring="paper")


@pytest.fixture
def forest() -> Forest:
    return hand_forest(BRACKETS)


def ancestry(forest: Forest, null: float = -1.0, edge: float = -0.25) -> Ancestry:
    """Every null phrase and every edge has the same price."""
    edges = sum(len(ways) for ways in forest.edges)
    return Ancestry(forest, np.full(len(forest), null), np.full(edges, edge), 0)


# ---- regions ----


def test_children_that_are_neither_opened_nor_covered_are_null(forest: Forest) -> None:
    top, verb_phrase = find_node(forest, 0, 4, "S"), find_node(forest, 2, 4, "VP")
    subject, verb, dogs = find_node(forest, 0, 2, "NP"), find_node(forest, 2, 3, "VBD"), find_node(forest, 3, 4, "NP")
    edges = [EdgeId(top, 0), EdgeId(verb_phrase, 0)]
    assert sorted(unopened(forest, edges)) == sorted([subject, verb, dogs])
    assert null_nodes(forest, edges, 0b0000) == tuple(sorted([subject, verb, dogs]))
    assert null_nodes(forest, edges, 0b1011) == (verb,)
    assert null_nodes(forest, edges, 0b1111) == ()


# ---- paths and common ancestors ----


def test_a_unary_step_is_no_generation(forest: Forest) -> None:
    dogs, phrase = find_node(forest, 3, 4, "NNS"), find_node(forest, 3, 4, "NP")
    assert phrase in ancestry(forest).paths_from(dogs, 0)


def test_in_a_forest_two_nodes_may_meet_in_several_ways() -> None:
    low = "(S (PRP I) (VP (VBD saw) (NP (NP (NNS men)) (PP (IN with) (NP (NNS dogs))))))"
    high = "(S (PRP I) (VP (VBD saw) (NP (NNS men)) (PP (IN with) (NP (NNS dogs)))))"
    forest = hand_forest(low, high)
    men, dogs = find_node(forest, 2, 3, "NNS"), find_node(forest, 4, 5, "NNS")
    tops = {meeting.node for meeting in ancestry(forest).meetings(men, dogs, UNLIMITED)}
    spans = {(forest.nodes[node].begin, forest.nodes[node].end) for node in tops}
    assert spans == {(2, 5), (1, 5)}


# ---- seeds ----


def test_links_become_seeds_of_leaves_with_their_log_probability(forest: Forest) -> None:
    words = WordAlignment((WordLink(0, 0, 0.5), WordLink(1, 1, 0.0)))
    seeds = link_seeds(forest, forest, words, PAPER.replace(parse_weight=0.0, link_weight=2.0))
    assert len(seeds) == 2
    assert seeds.value.tolist() == pytest.approx([2 * math.log(0.5), 2 * math.log(LEAST_LINK)])
    assert set(seeds.kind.tolist()) == {WORD}


def test_of_two_links_of_the_same_words_the_likelier_counts(forest: Forest) -> None:
    words = WordAlignment((WordLink(0, 0, 0.2), WordLink(0, 0, 0.9)))
    seeds = link_seeds(forest, forest, words, PAPER)
    assert len(seeds) == 1
    assert seeds.value[0] == pytest.approx(alignment_share(PAPER) * PAPER.link_weight * math.log(0.9))


def test_seeds_join_and_turn_around() -> None:
    one = Seeds.of([(1, 2, -0.5, WORD)])
    both = one + Seeds.of([(3, 4, 0.5, PHRASE)])
    assert len(both) == 2
    turned = both.transposed()
    assert (turned.source.tolist(), turned.target.tolist()) == ([2, 4], [1, 3])
    assert len(Seeds.of([])) == 0


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ((99, 0, 0.0, WORD), "is out of range; the forests have"),
        ((0, -1, 0.0, WORD), "is out of range"),
        ((0, 0, math.nan, WORD), "has a value that is not a finite number"),
        ((0, 0, math.inf, PHRASE), "has a value that is not a finite number"),
        ((0, 0, 0.0, Step.LIFT), "has a kind that is not 0 or 4"),
    ],
)
def test_seeds_that_cannot_be_are_refused(forest: Forest, row: tuple[int, int, float, Step], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Seeds.of([row]).check(forest, forest)


def test_a_phrase_is_no_word_seed(forest: Forest) -> None:
    phrase = find_node(forest, 0, 2, "NP")
    with pytest.raises(UsageError, match="is of kind WORD, but not both its nodes are words"):
        Seeds.of([(phrase, phrase, 0.0, WORD)]).check(forest, forest)
    Seeds.of([(phrase, phrase, 0.0, PHRASE)]).check(forest, forest)


# ---- prices ----


def scores_of(forest: Forest) -> PairScores:
    count = len(forest)
    return PairScores(np.full((count, count), -2.0), np.full(count, -3.0), np.full(count, -4.0))


def test_without_the_parser_a_null_phrase_costs_its_probability_and_its_words(forest: Forest) -> None:
    config = PAPER.replace(parse_weight=0.0, null_penalty=5.0)
    weights = weigh(forest, forest, scores_of(forest), config)
    subject = find_node(forest, 0, 2, "NP")
    assert weights.source_null[subject] == pytest.approx(-3.0 - 2 * 5.0)
    assert weights.target_null[subject] == pytest.approx(-4.0 - 2 * 5.0)
    assert weights.pair[subject, subject] == -2.0
    assert not weights.source_edge.any()


def test_a_non_compositional_pair_costs_its_penalty_once(forest: Forest) -> None:
    config = PAPER.replace(parse_weight=0.0, null_penalty=5.0, noncompositional_penalty=2.0)
    weights = weigh(forest, forest, scores_of(forest), config)
    assert set(weights.source_step[Step.NON_COMPOSITIONAL].tolist()) == {-10.0}
    assert not weights.source_step[Step.STRAIGHT].any()
    assert not weights.target_step.any()


def test_the_parser_gets_its_share(forest: Forest) -> None:
    config = PAPER.replace(parse_weight=0.25)
    weights = weigh(forest, forest, scores_of(forest), config)
    assert alignment_share(config) == 0.75
    assert weights.pair.max() == pytest.approx(0.75 * -2.0)
    np.testing.assert_allclose(weights.source_edge, 0.25 * edge_log_probs(forest))


def test_turning_the_weights_around_exchanges_the_sides(forest: Forest) -> None:
    weights = weigh(forest, forest, scores_of(forest), PAPER)
    turned = weights.transposed()
    np.testing.assert_array_equal(turned.pair, weights.pair.T)
    np.testing.assert_array_equal(turned.source_null, weights.target_null)
    np.testing.assert_array_equal(turned.transposed().source_edge, weights.source_edge)


def test_the_best_tree_below_a_node_is_the_sum_of_its_edges(forest: Forest) -> None:
    best = best_inside(forest)
    top = find_node(forest, 0, 4, "S")
    assert best[top] == pytest.approx(sum(edge.log_prob for edges in forest.edges for edge in edges))


@pytest.mark.parametrize(
    ("step", "label", "is_opaque"),
    [
        (Step.SEED, "seed", False),
        (Step.STRAIGHT, "straight", False),
        (Step.INVERTED, "inverted", False),
        (Step.NON_COMPOSITIONAL, "non-compositional", False),
        (Step.PHRASE_SEED, "phrase seed", True),
        (Step.LIFT, "lift", True),
        (Step.COMPLETION, "completion", True),
    ],
)
def test_a_step_has_a_name_and_may_be_opaque(step: Step, label: str, is_opaque: bool) -> None:
    assert (step.label, step.is_opaque) == (label, is_opaque)


# ---- hypotheses ----


def hypothesis(source: int, target: int, value: float, *supports: Hypothesis) -> Hypothesis:
    return Hypothesis(
        source=NodeId(source),
        target=NodeId(target),
        step=Step.STRAIGHT if supports else Step.SEED,
        supports=supports,
        value=value,
        source_words=1 << source,
        target_words=1 << target,
        source_region=Region(-0.25),
        target_region=Region(-0.5),
    )


def test_the_score_of_a_hypothesis_is_that_of_its_pairs_and_regions() -> None:
    below = hypothesis(0, 0, -1.0), hypothesis(1, 1, -2.0)
    top = hypothesis(2, 2, -4.0, *below)
    assert top.pairs == -7.0
    assert top.score == -7.75
    assert [part.source for part in top.parts()] == [0, 1, 2]
    assert top.aligned_nodes() == {(0, 0), (1, 1), (2, 2)}


def test_alternatives_differ_in_their_pairs() -> None:
    ranked = [hypothesis(0, 0, 0.0), hypothesis(0, 0, -1.0), hypothesis(0, 1, -2.0), hypothesis(1, 1, -3.0)]
    assert [h.value for h in distinct(ranked, 10)] == [0.0, -2.0, -3.0]
    assert [h.value for h in distinct(ranked, 2)] == [0.0, -2.0]


def test_posteriors_share_the_mass() -> None:
    ranked = [hypothesis(0, 0, 0.0), hypothesis(0, 1, math.log(0.25))]
    shares = posteriors(ranked)
    assert shares[NodeId(0), NodeId(0)] == pytest.approx(0.8)
    assert shares[NodeId(0), NodeId(1)] == pytest.approx(0.2)


def test_values_closer_than_a_grain_are_equal() -> None:
    assert grains(1.0) == grains(1.0 + 1e-12)
    assert grains(1.0) != grains(1.0 + 1e-8)
    assert grains(math.inf) == grains(1e30)
    assert grains(-math.inf) < grains(-1e9)


def test_a_mirrored_derivation_is_mirrored_back() -> None:
    edges = (EdgeId(NodeId(3), 0),)
    derivation = Derivation(-1.0, (), edges, (), (NodeId(1),), ())
    turned = derivation.mirrored()
    assert (turned.target_edges, turned.target_nulls) == (edges, (1,))
    assert turned.mirrored() == derivation


def test_bounds_come_from_the_settings() -> None:
    bounds = Bounds.of(DEFAULT_CONFIG.replace(beam=7, gap=3, monotonic=True))
    assert (bounds.beam, bounds.gap, bounds.monotonic, bounds.kbest) == (7, 3, True, 1)


def test_a_beam_of_everything_stays_one_when_it_is_widened() -> None:
    assert Bounds().widened(WIDER) == Bounds()
    assert Bounds(beam=30, cube=60, variants=2).widened(3) == Bounds(beam=90, cube=180, variants=2)
