"""Cross-validation of the CRF word aligners: folds, links from models that have not seen a pair, labelled pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from forestalign.errors import AnnotationError, InputError
from forestalign.learning.crf_validation import Folds, cross_validate, read_labelled_pairs, validate_threshold
from forestalign.tokens import Sentence
from forestalign.words.crf import COMBINATIONS, TrainingPair, TrainSettings

NOUNS = ("dog", "girl", "boat", "clock", "king", "tree")


def pairs() -> list[TrainingPair]:
    """Six easy pairs: the same words, one left out of the target."""
    found = []
    for noun in NOUNS:
        source = Sentence.from_words(["the", noun, "waits", "again", "."])
        target = Sentence.from_words(["the", noun, "waits", "."])
        found.append(TrainingPair(source, target, ((0, 0), (1, 1), (2, 2), (4, 3))))
    return found


@pytest.mark.parametrize("pair_count", [0, 1, 7, 20])
def test_every_pair_is_held_out_once(pair_count: int) -> None:
    folds = Folds(count=5)
    numbers = [number for fold in range(5) for number in folds.held_out(pair_count, fold)]
    assert sorted(numbers) == list(range(pair_count))


def test_folds_depend_on_the_seed_alone() -> None:
    one, same, other = Folds(seed=1), Folds(seed=1), Folds(seed=2)
    assert one.held_out(30, 0) == same.held_out(30, 0)
    assert one.held_out(30, 0) != other.held_out(30, 0)


def test_the_sizes_of_folds_differ_by_one_at_most() -> None:
    sizes = [len(Folds(count=4).held_out(11, fold)) for fold in range(4)]
    assert sizes == [3, 3, 3, 2]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.heavy)])
def test_easy_pairs_are_aligned_by_models_that_have_not_seen_them(jobs: int) -> None:
    folds = Folds(count=2, settings=TrainSettings(iterations=15))
    found = cross_validate(pairs(), [], folds, jobs)
    assert len(found) == len(NOUNS)
    assert set(found[0]) == set(COMBINATIONS)
    for links in found:
        assert {(0, 0), (1, 1), (2, 2), (4, 3)} <= links["union"]
        assert links["intersection"] <= links["union"]


def write(path: Path, *lines: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


GOOD: dict[str, object] = {"source": "He left.", "target": ["He", "went"], "paraphrase": 1}


def test_labelled_pairs_are_texts_or_lists_of_words(tmp_path: Path) -> None:
    found = read_labelled_pairs(write(tmp_path / "pairs.jsonl", GOOD, GOOD | {"paraphrase": 0}))
    assert found.labels == (True, False)
    assert found.sides == ((("He", "left", "."), ("He", "went")),) * 2


def test_a_label_that_is_neither_0_nor_1_is_refused_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", GOOD, GOOD | {"paraphrase": 2})
    with pytest.raises(AnnotationError, match=r"pairs\.jsonl:2: paraphrase is 2; expected 0 or 1"):
        read_labelled_pairs(path)


def test_a_pair_without_a_target_is_refused_by_line(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", GOOD, {"source": "He left.", "paraphrase": 1})
    with pytest.raises(InputError, match=r"pairs\.jsonl:2: no field 'target'"):
        read_labelled_pairs(path)


def test_pairs_that_nobody_judged_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", {"source": "a", "target": "b", "score": 3.0})
    with pytest.raises(InputError, match="0 judgements for 1 pair"):
        read_labelled_pairs(path)


def test_a_threshold_tells_clear_pairs_apart() -> None:
    labels = [number % 2 == 0 for number in range(20)]
    scores = [1.0 + 0.01 * number if label else -1.0 for number, label in enumerate(labels)]
    found = validate_threshold(labels, scores, Folds(count=4))
    assert found["accuracy"] == found["F1"] == 1.0


def test_a_threshold_over_noise_is_no_oracle() -> None:
    random = np.random.default_rng(0)
    labels = [bool(label) for label in random.integers(0, 2, 60)]
    found = validate_threshold(labels, random.normal(size=60).tolist(), Folds(count=5))
    assert 0.2 < found["accuracy"] < 0.8
