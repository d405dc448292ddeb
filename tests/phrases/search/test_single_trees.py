"""Single trees searched beside the forests: never worse than without, and what they find is of the forests."""

from __future__ import annotations

import random

import pytest

from forestalign.config import AlignConfig
from forestalign.forest import NodeId
from forestalign.phrases.search.directed_search import WIDER, DirectedSearch, paper_search
from forestalign.phrases.search.hypotheses import Bounds, Derivation
from forestalign.phrases.search.region import EdgeId
from forestalign.phrases.search.single_trees import SingleTree
from tests.builders.small_forests import random_forest, random_links, random_scores

NARROW = AlignConfig(beam=2, cube=3, prospect_share=0.0)


def random_search(seed: int, **settings: object) -> DirectedSearch:
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(5, 9), 4), random_forest(rng, rng.randint(5, 9), 4)
    links, scores = random_links(rng, source, target, 0.3), random_scores(rng, source, target)
    return paper_search(source, target, links, scores, NARROW.replace(**settings))


def best(search: DirectedSearch) -> Derivation:
    return search.best().derivations[0]


def rank(derivation: Derivation) -> tuple[bool, float]:
    return not derivation.completed, round(derivation.score, 7)


@pytest.mark.parametrize("plain", [False, True])
def test_single_trees_never_lose_and_often_gain(plain: bool) -> None:
    gains = 0
    for seed in range(20 if plain else 60):
        beside = rank(best(random_search(seed, plain=plain)))
        alone = rank(best(random_search(seed, plain=plain, single_trees=False)))
        assert beside >= alone
        gains += beside > alone
    assert gains >= 2


def test_no_alignment_of_forests_is_worse_than_that_of_their_best_trees() -> None:
    for seed in range(60):
        search = random_search(seed, direction="directional")
        assert rank(best(search)) >= rank(best(search.on_best_trees()))


def test_the_trees_of_an_alignment_hold_all_its_edges() -> None:
    for seed in range(20):
        search = random_search(seed)
        found = best(search)
        root = found.pairs[-1]
        sides = ((search.source, root.source, found.source_edges), (search.target, root.target, found.target_edges))
        for forest, top, edges in sides:
            tree = SingleTree.with_edges(forest, top, edges)
            assert set(edges) <= {tree.edge(EdgeId(NodeId(node), 0)) for node in range(len(tree.forest))}
            assert len(tree.forest.arrays.log_prob) == len(tree.forest)


def test_a_beam_of_everything_stays_one_when_it_is_widened() -> None:
    assert Bounds().widened(WIDER) == Bounds()
    assert Bounds(beam=30, cube=60, variants=2).widened(3) == Bounds(beam=90, cube=180, variants=2)
