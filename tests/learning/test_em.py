"""The M step and stepwise EM: gradient by finite differences, likelihood by hand, early stopping."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.learning.em import EmSettings, EmState, held_out_objective, step_size, stepwise_update
from forestalign.learning.m_step import (
    Events,
    collect_events,
    join_events,
    maximise,
    objective,
    weights_of,
    with_weights,
)
from forestalign.lexicon import WordNet, WordVectors
from forestalign.phrases.scoring.model import PhraseModel
from forestalign.phrases.scoring.pair_features import CATEGORY_PAIRS, DENSE, FeatureExtractor, FeatureSet, PairFeatures
from forestalign.phrases.search.directed_search import paper_search
from forestalign.phrases.search.hypotheses import Derivation
from tests.builders.small_forests import random_forest, random_links

KEYS = tuple((f"w{i}", "OTHER", f"w{j}", "OTHER") for i in range(3) for j in range(i, 3))
SHAPE = PhraseModel(FeatureSet(), np.zeros(len(DENSE)), np.zeros(len(CATEGORY_PAIRS)), KEYS, np.zeros(len(KEYS)))
EXTRACTOR = FeatureExtractor(
    WordNet(), WordVectors(["w0", "w1"], np.eye(2, dtype=np.float32)), SHAPE.features, SHAPE.vocabulary
)
PLAIN = AlignConfig(plain=True, parse_weight=0.0, direction="directional")


def random_weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(weights_of(SHAPE)))


def aligned(seed: int, config: AlignConfig = PLAIN) -> tuple[PairFeatures, Derivation]:
    """A random pair, aligned with random weights."""
    rng = random.Random(seed)
    source, target = random_forest(rng, rng.randint(2, 5), 2), random_forest(rng, rng.randint(2, 5), 2)
    words = random_links(rng, source, target, 0.4)
    pairs = EXTRACTOR.extract(source, target, words)
    scores = with_weights(SHAPE, random_weights(seed)).score(pairs, config)
    return pairs, paper_search(source, target, words, scores, config).best().derivations[0]


def events_of(seed: int) -> Events:
    return collect_events(*aligned(seed))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_the_likelihood_of_events_is_that_of_the_model_in_decoding(seed):
    pairs, alignment = aligned(seed)
    weights = random_weights(seed + 1)
    scores = with_weights(SHAPE, weights).score(pairs, PLAIN)
    expected = sum(scores.pair[pair.source, pair.target] for pair in alignment.pairs)
    expected += sum(scores.source_null[v] for v in alignment.source_nulls)
    expected += sum(scores.target_null[v] for v in alignment.target_nulls)
    events = collect_events(pairs, alignment)
    assert objective(weights, events, l2=0.0)[0] == pytest.approx(expected)
    assert len(events) == len(alignment.pairs) + len(alignment.source_nulls) + len(alignment.target_nulls)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_agrees_with_finite_differences(seed):
    events = join_events([events_of(seed), events_of(seed + 10)])
    weights, step = random_weights(seed + 5), 1e-6
    gradient = objective(weights, events, l2=0.3)[1]
    for k in range(len(weights)):
        up, down = weights.copy(), weights.copy()
        up[k] += step
        down[k] -= step
        slope = (objective(up, events, 0.3)[0] - objective(down, events, 0.3)[0]) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-5), k


def test_the_penalty_is_lambda_times_the_square_of_the_weights():
    events, weights = events_of(3), random_weights(3)
    difference = objective(weights, events, 0.0)[0] - objective(weights, events, 0.7)[0]
    assert difference == pytest.approx(0.7 * float(weights @ weights))


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_maximising_raises_the_objective_and_leaves_no_slope(seed):
    pairs, alignment = aligned(seed)
    one, other = (replace(side, group=np.arange(side.count)) for side in (pairs.source, pairs.target))
    events = collect_events(replace(pairs, source=one, target=other), alignment)  # no best of a group: no kinks
    start = random_weights(seed)
    found = maximise(start, events, l2=0.5, iterations=200)
    assert objective(found, events, 0.5)[0] > objective(start, events, 0.5)[0]
    assert np.abs(objective(found, events, 0.5)[1]).max() < 0.05


# ---- stepwise EM ----


def test_the_first_batch_is_taken_whole_and_later_ones_less_and_less():
    sizes = [step_size(steps, EmSettings(decay=0.7)) for steps in range(5)]
    assert sizes[0] == 1.0
    assert sizes[1:] == pytest.approx([3**-0.7, 4**-0.7, 5**-0.7, 6**-0.7])


def test_a_later_batch_moves_the_weights_part_of_the_way():
    settings_, batch = EmSettings(), [events_of(2)]
    start = random_weights(2)
    moved = stepwise_update(EmState(start, 3), batch, settings_)
    whole = maximise(start, batch[0], settings_.l2, settings_.iterations)
    assert moved.weights == pytest.approx(start + 5**-0.7 * (whole - start))
    assert moved.steps == 4


def test_learning_stops_when_the_held_out_objective_falls_and_keeps_the_best_weights():
    batch, settings_ = [events_of(4)], EmSettings(l2=0.1)
    good = maximise(random_weights(4), batch[0], 0.1, 100)
    first = held_out_objective(EmState(random_weights(4), 0), batch, settings_)
    second = held_out_objective(EmState(good, 1, first.history, first.best), batch, settings_)
    third = held_out_objective(EmState(random_weights(9), 2, second.history, second.best), batch, settings_)
    assert [first.finished, second.finished, third.finished] == [False, False, True]
    assert second.best is good
    assert third.best is good
    assert [step for step, _ in third.history] == [0, 1, 2]
    expected = objective(good, batch[0], 0.1)[0] / len(batch[0])
    assert math.isclose(third.history[1][1], expected)
