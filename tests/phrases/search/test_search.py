"""The search against the oracle: everything that small forests allow, by both twins."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.compiled import core
from forestalign.config import AlignConfig
from forestalign.forest import Forest
from forestalign.parsers import load_parser
from forestalign.phrases.scoring.features import weigh_features
from forestalign.phrases.scoring.score import Step, Weights, weigh
from forestalign.phrases.scoring.seeds import PHRASE, Seeds, link_seeds
from forestalign.phrases.search.directed_search import compiled_search
from forestalign.phrases.search.hypotheses import Bounds, Derivation, Found
from forestalign.phrases.search.search import search
from forestalign.phrases.stage import load_stage
from forestalign.tokens import tokenize
from forestalign.words import WordAligner, analyse_parse
from tests.builders.oracle import Best, best_alignment
from tests.builders.places import DATA
from tests.builders.small_forests import random_forest, random_links, random_scores

UNBOUNDED = AlignConfig(
    beam=0, paths=0, variants=0, trace_states=0, cube=0, lifts=False, parse_weight=0.2, link_weight=0.0
)
OPTIONS = {
    "monotonic": {"monotonic": True},
    "no parse score": {"parse_weight": 0.0},
    "lifts": {"lifts": True},
}
# how the tables of values and the seeds are made, beside the settings
TABLES = ("paper", "phrase seeds", "steps", "phrase seeds and steps")


def tenfold(*arguments):
    """The compiled twin, which gets ten times the cases."""
    return compiled_search(*arguments)


ENGINES = [
    pytest.param(search, id="plain"),
    pytest.param(compiled_search, id="compiled"),
    pytest.param(tenfold, id="compiled tenfold", marks=pytest.mark.heavy),
]


def pairs_of(found: Found) -> frozenset[tuple[int, int]]:
    return frozenset((pair.source, pair.target) for pair in found.derivations[0].pairs)


@dataclass
class Case:
    """One random problem."""

    source: Forest
    target: Forest
    seeds: Seeds
    weights: Weights

    def found(self, engine, config: AlignConfig) -> Found:
        return engine(self.source, self.target, self.seeds, self.weights, Bounds.of(config))

    def best(self, config: AlignConfig, completing: bool = False) -> Best:
        return best_alignment(self.source, self.target, self.seeds, self.weights, Bounds.of(config), completing)


def random_case(
    rng: random.Random, sizes: tuple[int, int], trees: int, density: float, config: AlignConfig, tables: str = "paper"
) -> Case:
    source = random_forest(rng, rng.randint(*sizes), trees)
    target = random_forest(rng, rng.randint(*sizes), trees)
    scores, links = random_scores(rng, source, target), random_links(rng, source, target, density)
    weights, seeds = weigh(source, target, scores, config), link_seeds(source, target, links, config)
    if "phrase seeds" in tables:
        seeds = random_phrase_seeds(rng, source, target) + seeds
    if "steps" in tables:
        weights = random_steps(rng, weights)
    return Case(source, target, seeds, weights)


def random_phrase_seeds(rng: random.Random, source: Forest, target: Forest) -> Seeds:
    """Some pairs of nodes, at least one of several words."""
    rows = []
    for _ in range(rng.randint(1, 3)):
        x, y = rng.randrange(len(source)), rng.randrange(len(target))
        widths = [forest.nodes[v].end - forest.nodes[v].begin for forest, v in ((source, x), (target, y))]
        if max(widths) > 1:
            rows.append((x, y, rng.uniform(-2.0, 4.0), PHRASE))
    return Seeds.of(rows)


def random_steps(rng: random.Random, weights: Weights) -> Weights:
    """A value for each kind of step at each node, as a learned model has them."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    return replace(
        weights,
        source_step=numbers.normal(size=weights.source_step.shape),
        target_step=numbers.normal(size=weights.target_step.shape),
        source_inside=numbers.normal(size=weights.source_inside.shape),
        target_inside=numbers.normal(size=weights.target_inside.shape),
    )


def check_case(
    engine, seed: int, config: AlignConfig, words: int, trees: int, density: float, tables: str = "paper"
) -> str:
    """Compare one random case; says how the root was reached."""
    rng = random.Random(seed)
    config = config.replace(gap=rng.choice([1, 2, 3, 10]))
    case = random_case(rng, (2, words), trees, density, config, tables)
    found = case.found(engine, config)
    best = case.best(config)
    if best.score == -math.inf:
        if not (found.completed and found.derivations):
            return "gap" if found.derivations else "nothing"
        best = case.best(config, completing=True)
    else:
        assert not found.completed
    assert found.derivations[0].score == pytest.approx(best.score, abs=1e-7)
    assert pairs_of(found) in best.sets
    return "completed" if found.completed else "reached"


def cases(engine, plain: int) -> range:
    return range(10 * plain if engine is tenfold else plain)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_search_equals_the_oracle_on_trees(engine, monotonic):
    ends = [check_case(engine, seed, UNBOUNDED.replace(monotonic=monotonic), 5, 1, 0.3) for seed in cases(engine, 250)]
    assert ends.count("reached") > len(ends) / 5
    assert ends.count("completed") > len(ends) / 5


@pytest.mark.parametrize("engine", ENGINES)
def test_the_search_equals_the_oracle_on_larger_trees(engine):
    for seed in cases(engine, 25):
        check_case(engine, 10_000 + seed, UNBOUNDED, 6, 1, 0.22)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_search_equals_the_oracle_on_forests(engine):
    for seed in cases(engine, 30):
        check_case(engine, 20_000 + seed, UNBOUNDED, 4, 3, 0.28)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("option", OPTIONS)
def test_the_search_equals_the_oracle_with_each_option_alone(engine, option):
    for seed in cases(engine, 20):
        check_case(engine, 30_000 + seed, UNBOUNDED.replace(**OPTIONS[option]), 4, 2, 0.3)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tables", TABLES[1:])
@pytest.mark.parametrize("trees", [1, 2])
def test_the_search_equals_the_oracle_with_phrase_seeds_and_values_of_steps(engine, tables, trees):
    ends = [
        check_case(engine, 50_000 + seed, UNBOUNDED.replace(lifts=seed % 3 == 0), 4, trees, 0.25, tables)
        for seed in cases(engine, 30)
    ]
    assert ends.count("reached") > len(ends) / 6
    assert ends.count("completed") > len(ends) / 6


@pytest.mark.parametrize("tables", ["paper", "phrase seeds and steps"])
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(OPTIONS, 2)))
def test_the_search_equals_the_oracle_with_options_in_pairs(first, second, tables):
    for seed in range(20):
        config = UNBOUNDED.replace(**OPTIONS[first], **OPTIONS[second])
        check_case(compiled_search, 40_000 + seed, config, 3, 2, 0.35, tables)


def same(one: Found, other: Found) -> None:
    """Two results are equal, derivation by derivation."""
    assert (len(one.derivations), one.completed) == (len(other.derivations), other.completed)
    assert (one.states, one.trace_bounds) == (other.states, other.trace_bounds)
    for left, right in zip(one.derivations, other.derivations, strict=True):
        assert left.score == pytest.approx(right.score, abs=1e-8)
        assert [p.posterior for p in left.pairs] == pytest.approx([p.posterior for p in right.pairs], abs=1e-6)
        assert untied(left) == untied(right)


def untied(derivation: Derivation) -> Derivation:
    """Without the numbers that may differ in their last digits."""
    return replace(derivation, score=0.0, pairs=tuple(replace(pair, posterior=0.0) for pair in derivation.pairs))


@pytest.mark.parametrize("tables", TABLES)
def test_both_twins_find_the_same_derivations(tables):
    steps = set()
    for seed in range(100):
        rng = random.Random(seed)
        config = AlignConfig(beam=5000, variants=0, cube=0, kbest=20, gap=seed % 4 + 1)
        case = random_case(rng, (1, 6), 2, 0.22, config, tables)
        one, other = case.found(search, config), case.found(compiled_search, config)
        same(one, other)
        steps |= {pair.step for derivation in one.derivations for pair in derivation.pairs}
    assert steps | {Step.PHRASE_SEED} == set(Step)


@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize(
    "bounds",
    [{}, {"beam": 3}, {"beam": 8, "cube": 6}, {"beam": 4, "variants": 1, "paths": 1}, {"paths": 0, "trace_states": 1}],
    ids=str,
)
def test_both_twins_find_the_same_derivations_within_the_same_bounds(tables, bounds):
    for seed in range(20):
        rng = random.Random(1000 + seed)
        config = AlignConfig(kbest=10, gap=seed % 4 + 1).replace(**bounds)
        case = random_case(rng, (3, 10), 3, 0.2, config, tables)
        same(case.found(search, config), case.found(compiled_search, config))


@pytest.mark.parametrize("engine", ENGINES)
def test_no_beam_exceeds_the_unbounded_search(engine):
    cut = 0
    for seed in range(60):
        case = random_case(random.Random(seed), (1, 5), 3, 0.4, UNBOUNDED, "phrase seeds")
        whole = case.found(engine, UNBOUNDED)
        for beam, cube in ((1, 0), (3, 0), (8, 6)):
            found = case.found(engine, UNBOUNDED.replace(beam=beam, cube=cube, variants=2, paths=1))
            if found.derivations and found.completed == whole.completed:
                assert found.derivations[0].score <= whole.derivations[0].score + 1e-9
                cut += found.derivations[0].score < whole.derivations[0].score - 1e-9
    assert cut > 0, "a beam of one should lose something"


def test_without_non_compositional_steps_the_search_is_monotonic():
    changed = 0
    for seed in range(80):
        config = UNBOUNDED.replace(beam=10_000)
        case = random_case(random.Random(seed), (1, 6), 1, 0.35, config)
        free, bound = case.found(compiled_search, config), case.found(compiled_search, config.replace(monotonic=True))
        if bound.derivations:
            assert all(pair.step is not Step.NON_COMPOSITIONAL for pair in bound.derivations[0].pairs)
        changed += bool(free.derivations and bound.derivations and pairs_of(free) != pairs_of(bound))
    assert changed > 0


def test_what_was_cut_is_counted_by_both_twins():
    for engine in (search, compiled_search):
        config = AlignConfig(beam=2)
        found = random_case(random.Random(3), (8, 8), 2, 0.4, config).found(engine, config)
        assert found.states > 0
        assert found.beam_cuts > 0


@pytest.mark.parametrize("seed", range(12))
def test_both_twins_count_the_same_cuts_where_nothing_is_left_out_unbuilt(seed):
    """With a beam the counts differ: the compiled twin counts a combination that cannot enter it once, unbuilt."""
    config = AlignConfig(beam=0, variants=1, paths=2)
    case = random_case(random.Random(seed), (5, 6), 2, 0.4, config, "phrase seeds")
    plain, compiled = case.found(search, config), case.found(compiled_search, config)
    assert (plain.states, plain.beam_cuts, plain.trace_bounds) == (
        compiled.states, compiled.beam_cuts, compiled.trace_bounds,
    )  # fmt: skip


@pytest.mark.skipif(core("phrases.search._search") is None, reason="the compiled search was not built")
@given(
    seed=st.integers(0, 1 << 30),
    beam=st.integers(1, 6),
    gap=st.integers(1, 5),
    variants=st.integers(0, 2),
    paths=st.integers(0, 2),
    options=st.sampled_from([{}, *OPTIONS.values()]),
    tables=st.sampled_from(TABLES),
    tied=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_what_cannot_enter_a_beam_is_left_out_without_loss(seed, beam, gap, variants, paths, options, tables, tied):
    """`_ranking.pyx` says why; `lifts` and everything else that is bounded is on in most of the cases."""
    config = AlignConfig(kbest=10, beam=beam, gap=gap, variants=variants, paths=paths, cube=0).replace(**options)
    case = random_case(random.Random(seed), (3, 9), 3, 0.35, config, tables)
    if tied:
        case = replace(case, weights=replace(case.weights, pair=np.round(case.weights.pair)))
    given_all = case.source, case.target, case.seeds, case.weights, Bounds.of(config)
    pruned, whole = compiled_search(*given_all), compiled_search(*given_all, prunes=False)
    assert (pruned.derivations, pruned.completed, pruned.states) == (whole.derivations, whole.completed, whole.states)


@pytest.mark.skipif(core("phrases.search._search") is None, reason="the compiled search was not built")
def test_much_is_left_out():
    config = AlignConfig(beam=8, gap=10, paths=0, cube=0, prospect_share=0.0)
    cuts = {True: 0, False: 0}
    for seed in range(10):
        case = random_case(random.Random(seed), (10, 14), 3, 0.3, config)
        for prunes in cuts:
            found = compiled_search(
                case.source, case.target, case.seeds, case.weights, Bounds.of(config), prunes=prunes
            )
            cuts[prunes] += found.beam_cuts
    assert cuts[True] < 0.85 * cuts[False], "a combination that is left out counts once, and gives several if built"


@pytest.mark.parametrize("bounds", [{}, {"beam": 8, "variants": 1, "paths": 1, "cube": 10}], ids=["default", "small"])
@pytest.mark.parametrize("scoring", ["paper", "best"])
def test_both_twins_find_the_same_derivations_of_real_pairs(scoring, bounds):
    stage = load_stage(AlignConfig(nbest=6, kbest=5, scoring=scoring).replace(**bounds))
    pairs = [line.split("\t")[-2:] for line in (DATA / "pairs.tsv").read_text().splitlines()]
    short = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))[:3]
    parses = load_parser(stage.config).parse([tokenize(text) for pair in short for text in pair])
    for one, other in zip(parses[::2], parses[1::2], strict=True):
        links = WordAligner(stage.config).candidates(analyse_parse(one), analyse_parse(other))
        if scoring == "best":
            weights, seeds = weigh_features(
                stage.derivation_features(one.forest, other.forest, links), stage.score_model.weights
            )
        else:
            weights = weigh(one.forest, other.forest, stage.score(one.forest, other.forest, links), stage.config)
            seeds = link_seeds(one.forest, other.forest, links, stage.config)
        case = Case(one.forest, other.forest, seeds, weights)
        same(case.found(search, stage.config), case.found(compiled_search, stage.config))


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_beam_full_of_ties_keeps_the_same_ones_in_both_twins(beam):
    for seed in range(25):
        config = AlignConfig(kbest=10, beam=beam, variants=2)
        case = random_case(random.Random(seed), (4, 8), 3, 0.5, config)
        weights = replace(case.weights, pair=np.round(case.weights.pair))
        tied = replace(case, weights=weights)
        same(tied.found(search, config), tied.found(compiled_search, config))
