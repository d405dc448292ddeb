"""Gold, objective, training, model file, aligner and command, on sentences made up here.

Files of the CRF aligners: models, journals of training runs; and gold as the CRF needs it.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError
from forestalign.learning.checkpoints import Checkpoint
from forestalign.learning.crf_run import KEPT_EVERY, _Answers
from forestalign.tokens import Sentence
from forestalign.words.crf import CrfAligner
from forestalign.words.crf.cells import Resources
from forestalign.words.crf.crf_aligner import CrfModel, ModelCard, format_model, read_model, write_model
from forestalign.words.crf.feature_space import FAMILIES, FeatureSpace, feature_space
from forestalign.words.crf.pair_features import lattice_of, pair_features
from forestalign.words.crf.training import (
    Costs,
    PartlyFree,
    TrainingPair,
    TrainSettings,
    example_of,
    examples_of,
    fingerprint,
    gold_of,
    gold_path,
    loss_and_gradient,
    train,
)
from tests.builders.bad_files import with_field
from tests.builders.processes import is_alive
from tests.builders.work import wait_until

TOKEN = feature_space(FAMILIES, 1, 1)
PHRASE = feature_space(FAMILIES, 3, 3)
BY_KIND = feature_space(FAMILIES, 1, 1, by_kind=True)
SETTINGS = TrainSettings(l2=0.1, iterations=30)


def sentence(words: str, tags: str = "") -> Sentence:
    plain = Sentence.from_words(words.split())
    return plain.with_analysis(tags.split(), words.lower().split()) if tags else plain


def pairs() -> list[TrainingPair]:
    """Copies with one word changed and another added: enough to learn that equal words align."""
    made = []
    for subject, verb, place in (("dog", "sleeps", "garden"), ("girl", "reads", "house"), ("boat", "waits", "bay")):
        source = sentence(f"the {subject} {verb} in the {place} .", "DT NN VBZ IN DT NN .")
        target = sentence(f"in the {place} the {subject} rests .", "IN DT NN DT NN VBZ .")
        links = ((0, 3), (1, 4), (2, 5), (3, 0), (4, 1), (5, 2), (6, 6))
        made.append(TrainingPair(source, target, links))
        made.append(
            TrainingPair(source, sentence(f"the {subject} {verb} .", "DT NN VBZ ."), ((0, 0), (1, 1), (2, 2), (6, 3)))
        )
    return made


@pytest.mark.parametrize("space", [TOKEN, PHRASE, BY_KIND], ids=["token", "phrase", "token by kind"])
@pytest.mark.parametrize("direction", ["s2t", "t2s"])
def test_the_gradient_agrees_with_finite_differences(space: object, direction: str) -> None:
    costs = Costs(miss=1.5, false=0.7, wrong=1.1)
    example = examples_of(pairs()[:1], direction, space, Resources(), costs)[0]
    features = replace(example.features, cells=example.features.cells.astype(np.float64))
    example = example_of(features, example.gold, space)
    random = np.random.default_rng(0)
    weights = random.normal(0, 0.3, len(space))
    _, gradient = loss_and_gradient(example, space, weights)
    moving = np.flatnonzero(gradient)
    assert len(moving) > 60
    for place in random.choice(moving, 25, replace=False):
        step = np.zeros(len(space))
        step[place] = 1e-4
        above, _ = loss_and_gradient(example, space, weights + step)
        below, _ = loss_and_gradient(example, space, weights - step)
        assert gradient[place] == pytest.approx((above - below) / 2e-4, rel=1e-3, abs=1e-5), space.names[place]


def test_each_kind_of_pair_adds_weights_of_its_own() -> None:
    kinds = {
        "even": ("The dog sleeps", "The dog rests"),
        "uneven": ("The dog sleeps in the garden", "The dog rests"),
        "uncased": ("the dog sleeps in the garden", "the dog rests"),
    }
    place = TOKEN.names.index("cell:identical_any_case")
    for kind in kinds:
        weights = np.zeros(len(BY_KIND))
        weights[place], weights[BY_KIND.names.index(f"{kind}/cell:identical_any_case")] = 1.0, 2.0
        scores = {}
        for other, (source, target) in kinds.items():
            features = pair_features(sentence(source), sentence(target), Resources(), BY_KIND).forward
            scores[other] = lattice_of(features, BY_KIND, weights).segments[1, 0, 1, 0]
        assert scores == {other: 3.0 if other == kind else 1.0 for other in kinds}


def test_the_loss_is_never_below_zero_and_costs_raise_it() -> None:
    weights = np.random.default_rng(3).normal(0, 0.3, len(TOKEN))
    losses = []
    for scale in (0.0, 1.0, 2.0):
        costs = Costs(scale, scale, scale)
        example = examples_of(pairs()[:1], "s2t", TOKEN, Resources(), costs)[0]
        losses.append(loss_and_gradient(example, TOKEN, weights)[0])
    assert 0 <= losses[0] < losses[1] < losses[2]


@pytest.mark.parametrize("space", [TOKEN, PHRASE], ids=["token", "phrase"])
def test_the_only_right_path_gives_what_the_sum_over_right_paths_gives(space: object) -> None:
    weights = np.random.default_rng(5).normal(0, 0.3, len(space))
    links = ((0, 0), (1, 1), (2, 2), (6, 3))
    pair = pairs()[1]
    assert pair.links == links
    example = examples_of([pair], "s2t", space, Resources(), Costs())[0]
    assert example.right_path is not None
    loss, gradient = loss_and_gradient(example, space, weights)
    summed_loss, summed_gradient = loss_and_gradient(replace(example, right_path=None), space, weights)
    assert loss == pytest.approx(summed_loss, rel=1e-5)
    np.testing.assert_allclose(gradient, summed_gradient, atol=1e-5)
    ambiguous = examples_of([replace(pair, links=(*links, (3, 1), (3, 3)))], "s2t", TOKEN, Resources(), Costs())[0]
    assert ambiguous.right_path is None


@pytest.mark.parametrize("space", [TOKEN, PHRASE], ids=["token", "phrase"])
def test_a_trained_model_finds_the_gold_of_new_words(space: object) -> None:
    weights = {name: train(pairs(), name, space, Resources(), SETTINGS) for name in ("s2t", "t2s")}
    aligner = CrfAligner(CrfModel(space, weights["s2t"], weights["t2s"]), Resources())
    source = sentence("the clock stops in the tower .", "DT NN VBZ IN DT NN .")
    target = sentence("in the tower the clock halts .", "IN DT NN DT NN VBZ .")
    found = aligner.align(source, target)
    assert {(0, 3), (1, 4), (3, 0), (4, 1), (5, 2), (6, 6)} <= set(found.pairs)
    assert all(0 < link.score <= 1 for link in found)
    unrelated = sentence("prices rose sharply again", "NNS VBD RB RB")
    assert aligner.decision_score(source, target) > aligner.decision_score(source, unrelated)


def test_the_number_of_processes_does_not_change_the_weights() -> None:
    settings = replace(SETTINGS, iterations=5)
    alone = train(pairs(), "s2t", TOKEN, Resources(), settings)
    together = train(pairs(), "s2t", TOKEN, Resources(), replace(settings, processes=2))
    np.testing.assert_array_equal(alone, together)


def test_the_objective_falls_and_only_trainable_weights_move() -> None:
    seen: dict[int, float] = {}
    first = train(pairs(), "s2t", TOKEN, Resources(), replace(SETTINGS, iterations=8), report=seen.__setitem__)
    assert list(seen) == list(range(1, len(seen) + 1))
    assert seen[len(seen)] < seen[1]
    free = np.array([name.startswith("distortion:") for name in TOKEN.names])
    second = train(pairs(), "s2t", TOKEN, Resources(), replace(SETTINGS, iterations=8), PartlyFree(first, free))
    np.testing.assert_array_equal(first[~free], second[~free])
    assert (first[free] != second[free]).any()


def test_answers_that_were_kept_are_not_asked_for_again(tmp_path: Path) -> None:
    kept, points = Checkpoint(tmp_path / "m.npz", "a run"), [np.array([float(k), 1.0]) for k in range(KEPT_EVERY + 1)]
    answers = _Answers(kept, 5, resume=True)
    for point in points:
        answers(lambda asked: (asked[0], 2 * asked), point)
    again = _Answers(kept, 5, resume=True)
    assert len(again.rows) == KEPT_EVERY
    for point in points[:-1]:
        value, gradient = again(None, point)  # type: ignore[arg-type]
        assert (value, gradient.tolist()) == (point[0], (2 * point).tolist())
    assert again(lambda asked: (7.0, asked), points[-1])[0] == 7.0
    with pytest.raises(InputError, match="holds another run"):
        _Answers(kept, 5, resume=True)(None, points[1])  # type: ignore[arg-type]
    assert not _Answers(kept, 5, resume=False).rows


def test_the_fingerprint_changes_with_whatever_training_looks_at() -> None:
    first, *others = pairs()
    changed = [
        replace(first, links=first.links[1:]),
        replace(first, weight=0.5),
        replace(first, source=sentence("the dog sleeps in the garden ."), target=first.target),
    ]
    assert len({fingerprint([each, *others]) for each in [first, *changed]}) == 4
    assert fingerprint(pairs()) == fingerprint(pairs())


def small_model(space: FeatureSpace = TOKEN, **changes: object) -> CrfModel:
    weights = np.zeros(len(space))
    weights[space.names.index("cell:identical_any_case")] = 6.0
    weights[space.names.index("null:bias")] = 2.0
    return CrfModel(space, weights, weights, **changes)


def test_posteriors_and_k_best_agree() -> None:
    aligner = CrfAligner(small_model(), Resources())
    source, target = sentence("red fish swim"), sentence("red fish")
    best = aligner.k_best(source, target, 200)
    log_probs = [log_prob for log_prob, _ in best]
    assert log_probs == sorted(log_probs, reverse=True)
    assert sum(np.exp(log_probs)) == pytest.approx(1.0)
    expected = np.zeros((3, 2))
    for log_prob, alignment in best:
        for i, j in alignment.pairs:
            expected[i, j] += np.exp(log_prob)
    forward = aligner._decode(source, target)["s2t"].posteriors
    np.testing.assert_allclose(forward, expected, atol=1e-9)


def test_an_empty_sentence_has_no_links() -> None:
    aligner = CrfAligner(small_model(), Resources())
    assert aligner.align(sentence(""), sentence("word")).links == ()
    assert aligner.decision_score(sentence("word"), sentence("")) == 0.0
    assert aligner.phrases(sentence(""), sentence("")) == ()


KILLED = """
import os, signal, sys, time
from forestalign.words.crf import training
class Shard:
    def __call__(self, weights): return 0.0, weights
with training._Evaluation([Shard(), Shard(), Shard()], 3) as evaluation:
    evaluation(__import__("numpy").zeros(2))
    print(*(process.pid for process, _ in evaluation._workers), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_of_a_killed_run_end_with_it() -> None:
    """They would hold its lock, and with it the next run."""
    done = subprocess.run([sys.executable, "-P", "-c", KILLED], capture_output=True, text=True, timeout=120)
    workers = [int(each) for each in done.stdout.split()]
    assert len(workers) == 3
    wait_until(lambda: not any(map(is_alive, workers)))


SPACE = feature_space(("string", "distortion"), 1, 1)
SPANS = feature_space(("string", "distortion"), 3, 3)


def model(**changes: Any) -> CrfModel:
    weights = np.linspace(-1.0, 1.0, len(SPACE))
    card = ModelCard(("gold.jsonl",), 12, "l2 1.0")
    return replace(CrfModel(SPACE, weights, -weights, card=card), **changes)


# ---- models ----


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    write_model(model(), tmp_path / "m.json")
    found = read_model(tmp_path / "m.json")
    assert found.space.names == SPACE.names
    assert found.card == model().card
    assert found.threshold == model().threshold
    np.testing.assert_allclose(found.forward, model().forward, rtol=1e-4)
    np.testing.assert_allclose(found.backward, model().backward, rtol=1e-4)


def test_weights_move_to_another_space_by_name() -> None:
    larger = feature_space(("string", "tags", "distortion"), 1, 1)
    moved = model().weights_in(larger, "s2t")
    own = dict(zip(SPACE.names, model().forward, strict=True))
    assert all(weight == own.get(name, 0.0) for name, weight in zip(larger.names, moved, strict=True))
    kept = model().weights_in(larger, "s2t", np.full(len(larger), 7.0))
    assert {weight for name, weight in zip(larger.names, kept, strict=True) if name not in own} == {7.0}


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (["format"], "other", "is not a CRF model: expected an object whose format is 'forestalign-crf'"),
        (["version"], 99, "CRF model of version 99; expected"),
        (["families"], ["string", "smell"], "families are ['string', 'smell']; known are"),
        (["weights", "s2t"], {"no such feature": 1.0}, "no feature is called 'no such feature'"),
        (["weights"], {}, "weights has no field `s2t`"),
        (["combination"], "union", "combination is 'union'"),
        (["threshold"], "high", "threshold is 'high'; expected `float`"),
        (["source_max"], 0, "source_max is 0; expected `int` >= 1"),
        (["weights", "s2t"], {"cell:bias": "much"}, "weights.s2t.cell:bias is 'much'; expected `float`"),
    ],
)
def test_a_bad_model_file_is_refused_with_its_fault(
    tmp_path: Path, place: list[str | int], value: object, told: str
) -> None:
    path = tmp_path / "m.json"
    path.write_text(with_field(format_model(model()), place, value), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "not json"])
def test_another_file_is_no_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match="is not a CRF model"):
        read_model(tmp_path / "m.json")


# ---- gold ----


def test_a_word_with_several_links_may_take_any_of_them() -> None:
    gold = gold_of([(0, 0), (0, 2)], 2, 3, SPACE, Costs(miss=3.0, false=2.0, wrong=1.0))
    assert gold.right_segments[0, 0, :, 0].tolist() == [True, False, True]
    assert gold.right_nulls.tolist() == [False, True]
    assert gold.cost_segments[0, 0, :, 0].tolist() == [0.0, 1.0, 0.0]
    assert gold.cost_segments[1, 0, :, 0].tolist() == [2.0, 2.0, 2.0]
    assert gold.cost_nulls.tolist() == [3.0, 0.0]


def test_complete_blocks_are_one_segment() -> None:
    linked = np.zeros((3, 3), bool)
    linked[:2, 1:] = True
    path = gold_path(linked, 3, 3)
    assert tuple(path[0]) == (0, 2, 1, 2)
    gold = gold_of([(0, 1), (0, 2), (1, 1), (1, 2)], 3, 3, SPANS, Costs())
    assert gold.right_segments.sum() == 1
    assert gold.right_segments[0, 1, 1, 1]
    assert gold.right_nulls.tolist() == [False, False, True]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), unique=True))
def test_the_gold_path_covers_every_source_word_once_with_complete_blocks(links: list[tuple[int, int]]) -> None:
    linked = np.zeros((4, 4), bool)
    for link in links:
        linked[link] = True
    covered = 0
    for begin, length, target, target_length in gold_path(linked, 3, 3):
        assert begin == covered
        covered += max(length, 1)
        assert linked[begin : begin + length, target : target + target_length].all() or not target_length
    assert covered == 4
