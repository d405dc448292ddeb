"""The search against the oracle: everything that small forests allow, by both twins."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from oracle import best_alignment
from small_forests import random_forest, random_links, random_scores

from forestalign.config import AlignConfig
from forestalign.fast_search import fast_search
from forestalign.hypotheses import Found, Step, weigh
from forestalign.search import search

UNBOUNDED = AlignConfig(
    beam=0, paths=0, variants=0, trace_states=0, cube=0, phrase_seeds=False, lifts=False, parse_weight=0.2
)
OPTIONS = {
    "monotonic": {"monotonic": True},
    "strict": {"strict": True},
    "literal": {"penalty": "literal"},
    "local": {"parse_score": "local"},
    "no parse score": {"parse_weight": 0.0},
    "phrase seeds": {"phrase_seeds": True},
    "lifts": {"lifts": True},
}
ENGINES = [pytest.param(search, id="plain"), pytest.param(fast_search, id="compiled")]


def pairs_of(found: Found) -> frozenset[tuple[int, int]]:
    return frozenset((pair.source, pair.target) for pair in found.roots[0].pairs.parts())


def check_case(engine, seed: int, config: AlignConfig, words: int, trees: int, density: float) -> str:
    """Compare one random case; says how the root was reached."""
    rng = random.Random(seed)
    source = random_forest(rng, rng.randint(2, words), trees)
    target = random_forest(rng, rng.randint(2, words), trees)
    scores, links = random_scores(rng, source, target), random_links(rng, source, target, density)
    config = config.with_(gap=rng.choice([1, 2, 3, 10]))
    found = engine(source, target, links, scores, config)
    weights = weigh(source, target, scores, config)
    best = best_alignment(source, target, links, weights, config)
    if best.score == -math.inf:
        if not (found.completed and len(links)):
            return "gap" if found.roots else "nothing"
        best = best_alignment(source, target, links, weights, config, completing=True)
    else:
        assert not found.completed
    assert found.roots[0].score == pytest.approx(best.score, abs=1e-7)
    assert pairs_of(found) in best.sets
    return "completed" if found.completed else "reached"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_search_equals_the_oracle_on_trees(engine, monotonic):
    ends = [check_case(engine, seed, UNBOUNDED.with_(monotonic=monotonic), 5, 1, 0.3) for seed in range(500)]
    assert ends.count("reached") > 120
    assert ends.count("completed") > 120


@pytest.mark.parametrize("engine", ENGINES)
def test_the_search_equals_the_oracle_on_larger_trees(engine):
    for seed in range(60):
        check_case(engine, 10_000 + seed, UNBOUNDED, 6, 1, 0.22)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("strict", [False, True])
def test_the_search_equals_the_oracle_on_forests(engine, strict):
    for seed in range(70):
        check_case(engine, 20_000 + seed, UNBOUNDED.with_(strict=strict), 4, 3, 0.28)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("option", OPTIONS)
def test_the_search_equals_the_oracle_with_each_option_alone(engine, option):
    for seed in range(25):
        check_case(engine, 30_000 + seed, UNBOUNDED.with_(**OPTIONS[option]), 4, 2, 0.3)


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in itertools.combinations(OPTIONS, 2) if pair != ("local", "no parse score")]
)
def test_the_search_equals_the_oracle_with_options_in_pairs(first, second):
    for seed in range(6):
        config = UNBOUNDED.with_(**OPTIONS[first], **OPTIONS[second])
        check_case(fast_search, 40_000 + seed, config, 3, 2, 0.35)


def random_case(seed: int, words: int = 7, trees: int = 3, density: float = 0.25):
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(1, words), trees), random_forest(rng, rng.randint(1, words), trees)
    return source, target, random_links(rng, source, target, density), random_scores(rng, source, target)


def test_both_twins_find_the_same_derivation():
    steps = set()
    for seed in range(150):
        config = AlignConfig(beam=5000, variants=0, cube=0, phrase_seeds=True, gap=seed % 4 + 1)
        source, target, links, scores = random_case(seed, words=6, trees=2, density=0.22)
        one = search(source, target, links, scores, config)
        other = fast_search(source, target, links, scores, config)
        assert (len(one.roots), one.completed) == (len(other.roots), other.completed)
        if one.roots:
            left, right = one.derive(0), other.derive(0)
            assert left.score == pytest.approx(right.score)
            assert {p.step for p in left.pairs.parts()} == {p.step for p in right.pairs.parts()}
            assert (left.source_edges, left.target_edges) == (right.source_edges, right.target_edges)
            assert sorted(left.source_nulls) == sorted(right.source_nulls)
            steps |= {pair.step for pair in left.pairs.parts()}
    assert steps == set(Step)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_beam_exceeds_the_unbounded_search(engine):
    cut = 0
    for seed in range(60):
        source, target, links, scores = random_case(seed, words=5, density=0.4)
        config = UNBOUNDED.with_(phrase_seeds=True)
        whole = engine(source, target, links, scores, config)
        for beam, cube in ((1, 0), (3, 0), (8, 6)):
            found = engine(source, target, links, scores, config.with_(beam=beam, cube=cube, variants=2, paths=1))
            if found.roots and found.completed == whole.completed:
                assert found.roots[0].score <= whole.roots[0].score + 1e-9
                cut += found.roots[0].score < whole.roots[0].score - 1e-9
    assert cut > 0, "a beam of one should lose something"


def test_without_non_compositional_steps_the_search_is_monotonic():
    changed = 0
    for seed in range(80):
        source, target, links, scores = random_case(seed, words=6, trees=1, density=0.35)
        free = fast_search(source, target, links, scores, UNBOUNDED.with_(beam=10_000))
        bound = fast_search(source, target, links, scores, UNBOUNDED.with_(beam=10_000, monotonic=True))
        if bound.roots:
            assert all(pair.step is not Step.NON_COMPOSITIONAL for pair in bound.roots[0].pairs.parts())
        changed += bool(free.roots and bound.roots and pairs_of(free) != pairs_of(bound))
    assert changed > 0
