"""The log-linear model: normalisers by brute force, directions, and the model file."""

from __future__ import annotations

import gzip
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.errors import GrammarError, UsageError
from forestalign.lexicon import WordNet, WordVectors
from forestalign.phrases.scoring.model import PairScores, PhraseModel, load_model, save_model, untrained_model
from forestalign.phrases.scoring.pair_features import CATEGORY_PAIRS, DENSE, FeatureExtractor, FeatureSet, PairFeatures
from tests.builders.hand_forests import hand_forest, hand_links
from tests.builders.small_forests import random_forest, random_links

NO_WORDNET = WordNet()
NO_VECTORS = WordVectors(["w0"], np.array([[1.0, 0.0]], np.float32))
CONFIG = AlignConfig(direction="directional")
KEYS = (("w0", "OTHER", "w0", "OTHER"), ("w0", "OTHER", "w1", "OTHER"))


def random_model(rng: random.Random) -> PhraseModel:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    return PhraseModel(
        FeatureSet(),
        numbers.normal(size=len(DENSE)),
        numbers.normal(size=len(CATEGORY_PAIRS)),
        KEYS,
        numbers.normal(size=2),
    )


def random_pair(seed: int) -> tuple[PhraseModel, PairFeatures]:
    rng = random.Random(seed)
    model = random_model(rng)
    source, target = random_forest(rng, rng.randint(1, 5), 2), random_forest(rng, rng.randint(1, 5), 2)
    extractor = FeatureExtractor(NO_WORDNET, NO_VECTORS, model.features, model.vocabulary)
    return model, extractor.extract(source, target, random_links(rng, source, target, 0.3))


def potential(model: PhraseModel, pairs: PairFeatures, i: int, j: int) -> float:
    """w · F, feature by feature."""
    dense = sum(float(w) * float(f) for w, f in zip(model.dense, pairs.dense[i, j], strict=True))
    number = pairs.lexical[i, j]
    return dense + float(model.category[pairs.category[i, j]]) + (float(model.lexical[number]) if number >= 0 else 0.0)


def log_z(potentials: list[float], groups: list[object]) -> float:
    """Candidates of one group count once, by the best of them."""
    best: dict[object, float] = {}
    for value, group in zip(potentials, groups, strict=True):
        best[group] = max(value, best.get(group, -math.inf))
    return math.log(sum(math.exp(value) for value in best.values()))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_probabilities_are_normalised_over_the_other_side_and_null(seed):
    model, pairs = random_pair(seed)
    scores = model.score(pairs, CONFIG)
    rows, columns = range(pairs.source.count), range(pairs.target.count)
    target_groups = [int(pairs.target.group[j]) for j in columns]
    source_groups = [int(pairs.source.group[i]) for i in rows]
    for i in rows:
        values = [potential(model, pairs, i, j) for j in (*columns, -1)]
        z = log_z(values, [*target_groups, "null"])
        assert scores.pair[i] == pytest.approx([value - z for value in values[:-1]])
        assert scores.source_null[i] == pytest.approx(values[-1] - z)
    for j in columns:
        values = [potential(model, pairs, i, j) for i in (*rows, -1)]
        assert scores.target_null[j] == pytest.approx(values[-1] - log_z(values, [*source_groups, "null"]))


def test_projections_of_one_head_do_not_split_the_mass():
    source, target = hand_forest("(NP (NN a))"), hand_forest("(NP (NN b))")
    pairs = FeatureExtractor(NO_WORDNET, NO_VECTORS).extract(source, target, hand_links())
    model = PhraseModel(FeatureSet(), np.zeros(len(DENSE)), np.zeros(64), (), np.zeros(0))
    assert np.exp(model.score(pairs, CONFIG).source_null) == pytest.approx([1 / 2, 1 / 2])


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_symmetric_scores_are_the_mean_of_both_directions_and_mirror_each_other(seed):
    model, pairs = random_pair(seed)
    mirrored = PairFeatures(pairs.dense.swapaxes(0, 1), pairs.category.T, pairs.lexical.T, pairs.target, pairs.source)
    forward, backward = model.score(pairs, CONFIG), model.score(mirrored, CONFIG)
    symmetric = model.score(pairs, CONFIG.replace(direction="symmetric"))
    assert symmetric.pair == pytest.approx((forward.pair + backward.pair.T) / 2)
    assert symmetric.source_null == pytest.approx(forward.source_null)
    assert symmetric.target_null == pytest.approx(backward.source_null)


def test_pair_scores_refuse_wrong_shapes_and_infinite_numbers():
    with pytest.raises(UsageError, match="shape"):
        PairScores(np.zeros((2, 3)), np.zeros(3), np.zeros(2))
    with pytest.raises(UsageError, match="finite"):
        PairScores(np.full((1, 1), -np.inf), np.zeros(1), np.zeros(1))


# ---- the file ----


def saved(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "model.json.gz"
    save_model(random_model(random.Random(1)), path, {"data": ["by hand"]})
    if changes:
        content = json.loads(gzip.decompress(path.read_bytes())) | changes
        content = {name: value for name, value in content.items() if value is not None}
        path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path


def test_a_model_is_read_back_as_it_was_written(tmp_path):
    model, again = random_model(random.Random(1)), load_model(str(saved(tmp_path)))
    assert again.features == model.features
    assert again.lexical_keys == model.lexical_keys
    assert again.dense == pytest.approx(model.dense, abs=1e-5)
    assert again.category == pytest.approx(model.category, abs=1e-5)
    assert again.lexical == pytest.approx(model.lexical, abs=1e-4)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json.gz"]


def test_writing_what_was_read_gives_the_same_bytes(tmp_path):
    first = saved(tmp_path)
    second = tmp_path / "again.json.gz"
    save_model(load_model(str(first)), second, {"data": ["by hand"]})
    assert first.read_bytes() == second.read_bytes()


def test_lexical_weights_that_do_nothing_are_left_out(tmp_path):
    model = untrained_model()
    model = PhraseModel(model.features, model.dense, model.category, KEYS, np.array([0.001, 0.5]))
    save_model(model, tmp_path / "m.json.gz", {})
    assert load_model(str(tmp_path / "m.json.gz")).lexical_keys == KEYS[1:]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 1}, "version 1"),
        ({"version": None}, "version None"),
        ({"dense_names": ["surface"]}, "other features"),
        ({"categories": ["N"]}, "other features"),
        ({"extras": ["colour"]}, "unknown features.*colour"),
        ({"dense": [1.0]}, "dense has 1 value; expected 10"),
        ({"category": [1.0]}, "category has 1 value; expected 36"),
        ({"lexical_weights": [1.0]}, "lexical_weights has 1 value; expected 2"),
        ({"category": [math.nan] * len(CATEGORY_PAIRS)}, "found NaN"),
        ({"dense": ["x"] * len(DENSE)}, "is 'x'; expected `float`"),
        ({"lexical_keys": None}, "no field `lexical_keys`"),
        ({"lexical_keys": [["a", "N"]]}, "expected `array` of length 4, got 2"),
        ({"lexical_keys": [["a", "N", "b", "V"]] * 2}, "twice"),
        ({"lexical_keys": [["a", "N", "b", "V"], ["b", "V", "a", "N"]]}, "not in its order"),
        ({"embedding_threshold": "high"}, "expected `float`, got `str`"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(tmp_path, changes, message):
    path = saved(tmp_path, **changes)
    with pytest.raises(GrammarError, match=message) as refused:
        load_model(str(path))
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [b"plain text", gzip.compress(b"no json"), gzip.compress(b"[1, 2]"), gzip.compress(b"{}" * 99)[:-9], b""],
    ids=["plain text", "no JSON", "a list", "torn", "empty"],  # gzip writes the time: its bytes are no fixed name
)
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "model.json.gz"
    path.write_bytes(content)
    with pytest.raises(GrammarError, match=r"model\.json\.gz"):
        load_model(str(path))
