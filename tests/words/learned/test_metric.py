"""The learned metric of profile `best`, and what happens to words it knows nothing of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.errors import GrammarError
from forestalign.lexicon import load_vectors
from forestalign.words import Analysis, WordAligner
from forestalign.words.learned.sides import is_foreign
from forestalign.words.word_vectors import (
    LEARNED,
    Metric,
    learned_layers,
    load_metric,
    partners,
    read_metric,
    write_metric,
)
from tests.builders.word_pairs import analysed, plain


def random_metric(seed: int, size: int = 5, rank: int = 3) -> tuple[Metric, np.random.Generator]:
    numbers = np.random.default_rng(seed)
    return Metric(
        numbers.normal(size=(size, rank)).astype(np.float32), numbers.normal(size=size).astype(np.float32)
    ), numbers


@given(st.integers(0, 999), st.integers(1, 4), st.integers(1, 4))
def test_learned_layers_transpose_when_the_sentences_are_exchanged(seed: int, rows: int, columns: int) -> None:
    metric, numbers = random_metric(seed)
    left, right = (metric.of(numbers.normal(size=(count, 5)).astype(np.float32)) for count in (rows, columns))
    forth, back = learned_layers(left, right), learned_layers(right, left)
    assert forth.shape == (len(LEARNED), rows, columns)
    np.testing.assert_allclose(forth, back.transpose(0, 2, 1), atol=1e-5)


@given(st.integers(0, 999), st.integers(1, 4), st.integers(1, 4))
def test_partners_and_no_partner_share_one_probability(seed: int, rows: int, columns: int) -> None:
    numbers = np.random.default_rng(seed)
    scores, null = 9 * numbers.normal(size=(rows, columns)), 9 * numbers.normal(size=rows)
    given_partner, without = partners(scores.astype(np.float32), null.astype(np.float32))
    for i in range(rows):
        weights = np.exp(np.append(scores[i], null[i]))
        np.testing.assert_allclose(np.append(given_partner[i], without[i]), weights / weights.sum(), atol=1e-5)


def test_a_metric_survives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "metric.npz"
    write_metric(path, load_metric())
    again = read_metric(path)
    assert np.array_equal(again.projection, load_metric().projection)
    assert np.array_equal(again.null, load_metric().null)


def test_a_file_that_is_no_metric_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metric.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(GrammarError, match=r"metric\.npz"):
        read_metric(path)
    metric, _ = random_metric(0)
    write_metric(path, replace(metric, null=metric.null[1:]))
    with pytest.raises(GrammarError, match="does not fit"):
        read_metric(path)


def with_vectors(analysis: Analysis, size: int) -> Analysis:
    """A vector for each place, so that the vectors speak for the links of words at the same place."""
    vectors = np.random.default_rng(1).normal(size=(len(analysis), size)).astype(np.float32)
    return replace(analysis, sentence=replace(analysis.sentence, vectors=vectors, context_vectors=vectors))


def shipped_size() -> int:
    return len(load_metric().projection) - load_vectors().dimensions - 1


def test_vectors_of_another_encoder_count_as_none() -> None:
    source = analysed("Dogs/NNS/dog/2/nsubj bark/VBP/bark/0/root ./././2/punct")
    target = analysed("Hounds/NNS/hound/2/nsubj howl/VBP/howl/0/root ./././2/punct")
    aligner = WordAligner(AlignConfig())

    def scores(left: Analysis, right: Analysis) -> list[tuple[int, int, float]]:
        return [(link.source, link.target, link.score) for link in aligner.align(left, right)]

    without, size = scores(source, target), shipped_size()
    assert scores(with_vectors(source, 8), with_vectors(target, 8)) == without
    assert scores(with_vectors(source, size), with_vectors(target, size)) != without


def test_words_in_other_scripts_are_foreign() -> None:
    assert all(is_foreign(word) for word in ("мир", "東京", "λόγος"))
    assert not any(is_foreign(word) for word in ("peace", "naïve", "łódź", "1990", ",", "東京-tower"))


@pytest.mark.parametrize("size", [0, 1])
def test_different_words_of_a_foreign_script_are_not_linked(size: int) -> None:
    source = analysed("We/PRP/we/2/nsubj met/VBD/meet/0/root Горький/NNP/горький/2/obj today/NN/today/2/obl")
    target = analysed("We/PRP/we/2/nsubj met/VBD/meet/0/root Чехов/NNP/чехов/2/obj today/NN/today/2/obl")
    if size:
        source, target = with_vectors(source, shipped_size()), with_vectors(target, shipped_size())
    aligner = WordAligner(AlignConfig())
    assert (2, 2) not in aligner.align(source, target).pairs
    assert (2, 2) in aligner.align(source, source).pairs


def test_forms_of_one_foreign_word_may_be_linked() -> None:
    source = analysed("We/PRP/we/2/nsubj met/VBD/meet/0/root Иванов/NNP/иванов/2/obj today/NN/today/2/obl")
    target = analysed("We/PRP/we/2/nsubj met/VBD/meet/0/root Иванова/NNP/иванова/2/obj today/NN/today/2/obl")
    assert (2, 2) in WordAligner(AlignConfig()).align(source, target).pairs


@pytest.mark.parametrize("pronoun", ["He", "I"])
def test_the_same_first_word_is_linked_in_short_sentences(pronoun: str) -> None:
    source = plain(f"{pronoun}/PRP left/VBD ./.")
    target = plain(f"{pronoun}/PRP keeps/VBZ three/CD dogs/NNS and/CC a/DT cat/NN at/IN home/NN ./.")
    assert (0, 0) in WordAligner(AlignConfig()).align(source, target).pairs


def test_first_words_that_are_not_alone_stay_as_the_model_has_them() -> None:
    source, target = (
        plain("the/DT end/NN"),
        plain("the/DT sun/NN burns/VBZ the/DT dry/JJ grass/NN of/IN the/DT hill/NN"),
    )
    stages = {link.stage for link in WordAligner(AlignConfig()).align(source, target)}
    assert "first words" not in stages


def test_learned_layers_follow_their_names_in_whatever_order_these_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    metric, numbers = random_metric(1)
    left, right = (metric.of(numbers.normal(size=(count, 5)).astype(np.float32)) for count in (3, 4))
    expected = learned_layers(left, right)
    monkeypatch.setattr("forestalign.words.word_vectors.LEARNED", LEARNED[::-1])
    np.testing.assert_array_equal(learned_layers(left, right), expected[::-1])
