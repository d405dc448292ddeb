"""TRACE, GAP and DOWN: what was known of them before they were written."""

from __future__ import annotations

import random

import pytest

from forestalign.config import AlignConfig
from forestalign.phrases.scoring.score import weigh
from forestalign.phrases.scoring.seeds import link_seeds
from forestalign.phrases.search.hypotheses import Bounds, Hypothesis
from forestalign.phrases.search.search import Search
from forestalign.phrases.search.trace import Bound, State, Tracer, place
from tests.builders.small_forests import random_forest, random_links, random_scores

CONFIG = AlignConfig(beam=0, paths=0, variants=0, trace_states=0, lifts=False, gap=50)


def hypotheses_of_trees(seed: int) -> tuple[Search, list[Hypothesis]]:
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(4, 6), 1), random_forest(rng, rng.randint(3, 5), 1)
    links = random_links(rng, source, target, 0.3)
    weights = weigh(source, target, random_scores(rng, source, target), CONFIG)
    run = Search(source, target, link_seeds(source, target, links, CONFIG), weights, Bounds.of(CONFIG))
    run.run()
    return run, [h for beam in run.beams for h in beam]


def nested_pairs(seed: int):
    """Hypotheses of disjoint source phrases, the second one's target inside the first one's."""
    run, hypotheses = hypotheses_of_trees(seed)
    nodes = run.target.nodes
    for outer in hypotheses:
        for inner in hypotheses:
            one, other = run.source.nodes[outer.source], run.source.nodes[inner.source]
            apart = one.end <= other.begin or other.end <= one.begin
            holds = nodes[outer.target].begin <= nodes[inner.target].begin
            holds = holds and nodes[inner.target].end <= nodes[outer.target].end
            if apart and holds and outer.supports:
                yield run, inner, outer


def span(run: Search, hypothesis: Hypothesis) -> int:
    node = run.target.nodes[hypothesis.target]
    return (1 << node.end) - (1 << node.begin)


def survivors(hypothesis: Hypothesis, forbidden: int, run: Search) -> set[int]:
    return {id(part) for part in hypothesis.parts() if not span(run, part) & forbidden}


@pytest.mark.parametrize("seed", range(12))
def test_trace_succeeds_exactly_when_the_linked_words_are_disjoint(seed):
    for run, inner, outer in nested_pairs(seed):
        placed = place(inner, outer, run.above, Bound(0))
        assert bool(placed) == (not inner.target_words & outer.target_words)


@pytest.mark.parametrize("seed", range(12))
def test_a_pair_survives_exactly_when_its_target_holds_no_word_of_the_other(seed):
    for run, inner, outer in nested_pairs(seed):
        for state in place(inner, outer, run.above, Bound(0)):
            kept = {id(part) for top in state.aligned for part in top.parts()}
            expected = survivors(inner, outer.target_words, run) | survivors(outer, inner.target_words, run)
            assert kept == expected


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_supports_does_not_matter(seed):
    for run, inner, outer in nested_pairs(seed):
        backwards = State(outer.supports[::-1], outer.segment_nulls[::-1])
        one = place(inner, outer, run.above, Bound(0))
        other = Tracer(inner, run.above).trace(inner, backwards, outer.target_region.edges, Bound(0))
        ids = [{id(h) for h in state.aligned} for state in one]
        if not inner.target_words & outer.target_words:
            assert ids == [{id(h) for h in state.aligned} for state in other]
            assert [set(state.nulls) for state in one] == [set(state.nulls) for state in other]


def test_a_bound_on_states_is_counted():
    states = [State((), ()) for _ in range(5)]
    bound = Bound(3)
    assert len(bound.cut(states)) == 3
    assert bound.hits == 1
    assert len(Bound(0).cut(states)) == 5
