"""Confidence: its features by hand and mirrored, what scores without it say, and its part of a file of scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import forestalign
from forestalign.aligner import Aligner
from forestalign.arrays import FloatArray
from forestalign.config import DEFAULT_CONFIG
from forestalign.phrases.evidence.logistic import Weighting
from forestalign.phrases.result.pair_confidence import confidence_features, judge_derivations, pair_kinds
from forestalign.phrases.scoring.features import DerivationFeatures, weigh_features
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import (
    CONFIDENCE,
    KINDS,
    PairConfidence,
    ScoreModel,
    load_score_model,
    score_model_text,
)
from forestalign.phrases.search.directed_search import DirectedSearch
from forestalign.phrases.search.hypotheses import Found
from forestalign.words.alignment import WordAlignment

PAIRS = (
    ("They put off the meeting until Monday.", "The meeting was postponed until Monday."),
    ("The old man who lives next door sold his boat.", "His boat was sold by our old neighbour."),
)
Searched = tuple[Found, DerivationFeatures]


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return forestalign.load(nbest=10)


@pytest.fixture(scope="module")
def weights() -> FloatArray:
    return load_score_model().weights


def searched(aligner: Aligner, weights: FloatArray, source: str, target: str, is_mirrored: bool = False) -> Searched:
    result = aligner.align(source, target)
    one, other = result.forests
    links = WordAlignment(tuple(sorted([*result.words, *result.candidates])))
    if is_mirrored:
        one, other, links = other, one, links.mirrored()
    features = aligner.stage.derivation_features(one, other, links)
    search = DirectedSearch(one, other, *weigh_features(features, weights), DEFAULT_CONFIG)
    return search.best(), features


@pytest.fixture(scope="module", params=PAIRS, ids=str)
def found(request: pytest.FixtureRequest, aligner: Aligner, weights: FloatArray) -> Searched:
    return searched(aligner, weights, *request.param)


def column(table: FloatArray, name: str) -> list[float]:
    return table[:, CONFIDENCE.index(name)].tolist()


def test_features_say_where_a_pair_stands(found: Searched, weights: FloatArray) -> None:
    best, features = found[0].derivations[0], found[1]
    table = confidence_features(best, features, weights)
    assert table.shape == (len(best.pairs), len(CONFIDENCE))
    assert np.isfinite(table).all()
    assert column(table, "posterior") == [pair.posterior for pair in best.pairs]
    one, other = features.source.nodes.lengths, features.target.nodes.lengths
    sizes = [one[pair.source] + other[pair.target] for pair in best.pairs]
    for k, pair in enumerate(best.pairs):
        below = sum(sizes[each] for each in pair.supports)
        expected = 1.0 - below / sizes[k] if pair.supports else 0.0
        assert column(table, "null inside")[k] == pytest.approx(expected)
        for each in pair.supports:
            assert column(table, "posterior above")[each] == pair.posterior
    assert column(table, "posterior above")[-1] == 1.0  # nothing stands above the last


def test_features_of_links_by_hand(found: Searched, weights: FloatArray) -> None:
    best, features = found[0].derivations[0], found[1]
    table, links = confidence_features(best, features, weights), features.links.links
    for k, pair in enumerate(best.pairs):
        i, j = int(features.source.nodes.begin[pair.source]), int(features.target.nodes.begin[pair.target])
        if pair_kinds([pair], features) == [0]:
            rivals = [*np.delete(links[i], j), *np.delete(links[:, j], i)]
            assert column(table, "strongest rival")[k] == max(rivals)
            assert column(table, "strongest partners")[k] == np.mean(
                [links[i, j] >= max(np.delete(links[i], j)), links[i, j] >= max(np.delete(links[:, j], i))]
            )


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_no_feature_tells_the_source_from_the_target(aligner: Aligner, weights: FloatArray, pair: tuple[str, str]):
    forth, features = searched(aligner, weights, *pair)
    _, back_features = searched(aligner, weights, *pair, is_mirrored=True)
    best = forth.derivations[0]
    table = confidence_features(best, features, weights)
    assert table == pytest.approx(confidence_features(best.mirrored(), back_features, weights), abs=1e-9)
    assert pair_kinds(best.pairs, features) == pair_kinds(best.mirrored().pairs, back_features)


def test_scores_without_confidence_say_the_posterior(found: Searched, weights: FloatArray) -> None:
    plain = judge_derivations(*found, ScoreModel(weights, ((0.0, 0.0), (1.0, 0.5))))
    for before, after in zip(found[0].derivations[0].pairs, plain.derivations[0].pairs, strict=True):
        assert after == replace(before, posterior=before.posterior / 2)


def model_of(name: str, weight: float, bias: tuple[float, ...] = (0.0, 1.0, 2.0)) -> PairConfidence:
    vector = np.array([weight * (each == name) for each in CONFIDENCE])
    return PairConfidence(tuple(Weighting(vector, each) for each in bias))


def test_each_kind_of_pair_has_weights_of_its_own(found: Searched, weights: FloatArray) -> None:
    model = ScoreModel(weights, confidence=model_of("length ratio", 0.0))
    after, features = judge_derivations(*found, model).derivations[0], found[1]
    shares = [1 / (1 + np.exp(-bias)) for bias in (0.0, 1.0, 2.0)]
    kinds = pair_kinds(after.pairs, features)
    assert len(set(kinds)) > 1
    assert [pair.posterior for pair in after.pairs] == pytest.approx([shares[kind] for kind in kinds])


def test_confidence_survives_its_file_and_other_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    model = ScoreModel(np.zeros(len(NAMES)), confidence=model_of("margin", 0.25))
    path.write_text(score_model_text(model), encoding="utf-8")
    again = load_score_model(str(path)).confidence
    assert again is not None
    assert model.confidence is not None
    assert again.record() == model.confidence.record()
    for change, message in (
        ({"words": {"bias": 0.0, "weights": {}}}, "other kinds of pairs"),
        ({key: {"bias": 0.0, "weights": {"luck": 1.0}} for key in KINDS}, "'luck' has a weight and is not a feature"),
        ({key: {"bias": "much", "weights": {}} for key in KINDS}, "bias"),
    ):
        content = json.loads(path.read_text(encoding="utf-8")) | {"confidence": change}
        other = tmp_path / "other.json"
        other.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(forestalign.ForestAlignError, match=message):
            load_score_model(str(other))
