"""Files of the CRF aligners: models, journals of training runs, analyses; and gold as the CRF needs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.errors import InputError, UsageError
from forestalign.words.crf.crf_aligner import CrfModel, ModelCard, format_model, read_model, write_model
from forestalign.words.crf.feature_space import feature_space
from forestalign.words.crf.training import Costs, gold_of, gold_path
from tests.builders.bad_files import with_field

SPACE = feature_space(("string", "distortion"), 1, 1)
SPANS = feature_space(("string", "distortion"), 3, 3)


def model(**changes: Any) -> CrfModel:
    weights = np.linspace(-1.0, 1.0, len(SPACE))
    card = ModelCard(("gold.jsonl",), 12, "l2 1.0", "a note")
    return replace(CrfModel(SPACE, weights, -weights, card=card), **changes)


# ---- models ----


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    write_model(model(), tmp_path / "m.json")
    found = read_model(tmp_path / "m.json")
    assert found.space.names == SPACE.names
    assert found.card == model().card
    assert (found.combination, found.threshold) == (model().combination, model().threshold)
    np.testing.assert_allclose(found.forward, model().forward, rtol=1e-4)
    np.testing.assert_allclose(found.backward, model().backward, rtol=1e-4)


def test_a_model_of_one_direction_is_written_as_one(tmp_path: Path) -> None:
    write_model(model(backward=None), tmp_path / "m.json")
    found = read_model(tmp_path / "m.json")
    assert found.backward is None
    assert found.allows("s2t")
    assert not found.allows("t2s")
    assert not found.allows("union")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"forward": None, "backward": None}, "a CRF model needs weights of at least one direction"),
        ({"combination": "guess"}, "combination is 'guess'; expected one of s2t, t2s, posterior"),
        ({"backward": None, "combination": "union"}, "union needs the direction t2s, which the model does not have"),
        ({"forward": None, "combination": "s2t"}, "s2t needs the direction s2t, which the model does not have"),
    ],
)
def test_models_that_cannot_align_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(**changes)
    assert str(caught.value).startswith(told)


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
        (["weights"], {}, "a CRF model needs weights of at least one direction"),
        (["combination"], "guess", "combination is 'guess'"),
        (["threshold"], "high", "threshold is 'high'; expected a number from 0 to 1"),
        (["source_max"], 0, "source_max is 0; expected a whole number from 1 to 9"),
        (["card"], {}, "is not a CRF model: there is no field 'data'"),
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
