"""Learning profile `best`: gradients against differences of the loss, and the file that keeps analyses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestalign.config import AlignConfig
from forestalign.errors import InputError, UsageError
from forestalign.evaluation.word_scores import GoldLinks
from forestalign.grammar import grammar_root
from forestalign.learning import word_gold
from forestalign.learning.word_gold import GoldSet, analyse_all, every, read_analyses, read_sets, write_analyses
from forestalign.learning.word_metric_training import LinkedRows, gradient
from forestalign.learning.word_run import fitted_links, hard_links, links_above, more_gold
from forestalign.learning.word_weights import loss
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize
from forestalign.words import Analysis, Entity, WordAligner, analyse_parse
from forestalign.words.word_vectors import Metric
from tests.builders.word_pairs import analysed

STEP = 1e-3


def surprise_of(metric: Metric, batch: list[LinkedRows]) -> float:
    """The mean loss of a batch by its definition, word by word."""
    total = 0.0
    for pair in batch:
        left, right = metric.of(pair.left), metric.of(pair.right)
        scores = left.places.astype(float) @ right.places.T.astype(float)
        lost = 0.0
        for table, null, gold in ((scores, left.null, pair.gold), (scores.T, right.null, pair.gold.T)):
            for row, nothing, marks in zip(table, null, gold, strict=True):
                whole = np.log(np.exp(nothing) + np.exp(row).sum())
                linked = marks.sum()
                lost += whole - (row @ marks / linked if linked else nothing)
        total += pair.weight * lost / sum(scores.shape)
    return total / len(batch)


@given(st.integers(0, 999))
def test_the_slope_of_the_metric_is_that_of_the_loss(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    metric = Metric(numbers.normal(size=(4, 2)) * 0.5, numbers.normal(size=4) * 0.5)  # type: ignore[arg-type]
    batch = [
        LinkedRows(
            numbers.normal(size=(rows, 4)),  # type: ignore[arg-type]
            numbers.normal(size=(columns, 4)),  # type: ignore[arg-type]
            (numbers.random((rows, columns)) < 0.4).astype(np.float32),
            1.5,
        )
        for rows, columns in ((1, 2), (3, 2))
    ]
    by_projection, by_null = gradient(metric, batch)
    for place in ((0, 0), (3, 1)):
        change = np.zeros((4, 2))
        change[place] = STEP
        ends = [surprise_of(replace(metric, projection=metric.projection + sign * change), batch) for sign in (1, -1)]
        assert by_projection[place] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-3)
    change = np.array([0, STEP, 0, 0])
    ends = [surprise_of(replace(metric, null=metric.null + sign * change), batch) for sign in (1, -1)]
    assert by_null[1] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-3)


@given(st.integers(0, 999))
def test_the_slope_of_the_weights_is_that_of_their_loss(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    design = numbers.normal(size=(6, 3)).astype(np.float32)
    gold, weights = (numbers.random(6) < 0.5).astype(np.float32), numbers.random(6).astype(np.float32)
    theta = numbers.normal(size=3)
    _, slopes = loss(theta, design, gold, weights)
    for place in range(3):
        change = np.zeros(3)
        change[place] = 0.05
        ends = [loss(theta + sign * change, design, gold, weights)[0] for sign in (1, -1)]
        assert slopes[place] == pytest.approx((ends[0] - ends[1]) / 0.1, rel=0.02, abs=0.02)


def test_the_bias_is_not_penalised() -> None:
    nothing = np.zeros((0, 2), dtype=np.float32)
    value, slopes = loss(np.array([0.0, 5.0]), nothing, nothing[:, 0], nothing[:, 0])
    assert (value, slopes.tolist()) == (0.0, [0.0, 0.0])


# ---- the file of analyses ----


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], Analysis]:
    names = [Entity(0, 2, "PERSON")]
    first = analysed("John/NNP/john/2/compound Smith/NNP/smith/3/nsubj sleeps/VBZ/sleep/0/root", names)
    second = analysed("\"/`` Ça/FW \"/''")
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    middle = np.arange(9, dtype=np.float32).reshape(3, 3) / 8
    first = replace(first, sentence=replace(first.sentence, vectors=vectors, context_vectors=middle))
    return {each.sentence.words: each for each in (first, second)}


def test_analyses_survive_the_file(tmp_path: Path, known: dict[tuple[str, ...], Analysis]) -> None:
    path = tmp_path / "analyses.npz"
    write_analyses(path, known)
    again = read_analyses(path)
    assert again == known
    vectors = [each.sentence.vectors for each in again.values()]
    assert vectors[0] is not None
    assert vectors[0].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert vectors[1] is None
    middle = [each.sentence.context_vectors for each in again.values()]
    assert middle[0] is not None
    assert (8 * middle[0]).tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert middle[1] is None


def test_known_sentences_are_not_parsed_again(
    tmp_path: Path, known: dict[tuple[str, ...], Analysis], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "analyses.npz"
    write_analyses(path, known)
    monkeypatch.setattr(word_gold, "load_parser", None)
    assert analyse_all(sorted(known), path) == known


def test_analyses_by_another_parser_are_not_taken(
    tmp_path: Path, known: dict[tuple[str, ...], Analysis], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "analyses.npz"
    write_analyses(path, known)
    monkeypatch.setattr(word_gold, "parser_hash", lambda: "a newer one")
    assert read_analyses(path) == {}


def test_a_file_that_holds_no_analyses_is_named(tmp_path: Path) -> None:
    path = tmp_path / "analyses.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"analyses\.npz"):
        read_analyses(path)


# ---- sets and links ----


@pytest.mark.parametrize("text", ["gold.jsonl:heavy", "gold.jsonl:1:few", "gold.jsonl:1:2:3"])
def test_a_set_that_is_not_file_weight_and_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="FILE:WEIGHT:N"):
        read_sets([text], None)


def test_no_sets_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_gold, "load_parser", None)
    assert read_sets([], None) == []
    assert more_gold([], []) == []


def test_links_are_strictly_above_the_threshold() -> None:
    values = np.array([[0.5, 0.51], [0.0, 1.0]], dtype=np.float32)
    assert links_above(values, 0.5) == {(0, 1), (1, 1)}


@pytest.mark.parametrize(("count", "step"), [(9, 4), (8, 4), (3, 4), (5, 1), (0, 3)])
def test_the_pairs_left_out_and_the_others_are_the_whole_set(count: int, step: int) -> None:
    one = analysed("Yes/UH")
    gold = tuple(GoldLinks(str(number), ("Yes",), ("Yes",), frozenset(), frozenset()) for number in range(count))
    whole = GoldSet("gold", 1.0, tuple((one, one) for _ in range(count)), gold)
    left_out, others = every(whole, step, are_left_out=True), every(whole, step, are_left_out=False)
    assert [each.id for each in left_out.gold] == [str(number) for number in range(step - 1, count, step)]
    assert sorted(each.id for part in (left_out, others) for each in part.gold) == [each.id for each in gold]
    assert [len(part.pairs) for part in (left_out, others)] == [len(part.gold) for part in (left_out, others)]


@pytest.mark.parametrize(
    ("left", "right", "is_hard"),
    [
        ("firm/NN", "concern/NN", False),  # synonyms
        ("firm/NN", "firms/NNS", False),  # one stem
        ("sedan/NN", "car/NN", False),  # a more general word
        ("Paris/NNP", "capital/NN", True),
        ("rose/VBD", "prices/NNS", True),
        ("the/DT", "his/PRP$", False),  # no content words
        ("rose/VBD", "the/DT", False),
    ],
)
def test_hard_links_join_different_content_words_without_a_relation(left: str, right: str, is_hard: bool) -> None:
    assert hard_links(analysed(left), analysed(right), frozenset({(0, 0)})) == ({(0, 0)} if is_hard else set())


def test_weights_in_a_folder_give_the_links_of_the_shipped_ones_if_they_are_the_same() -> None:
    sentences = [tokenize("The firm hired three lawyers."), tokenize("Three attorneys were taken on by the company.")]
    source, target = map(analyse_parse, load_parser(AlignConfig(nbest=1)).parse(sentences))
    expected = WordAligner(AlignConfig()).align(source, target).pairs
    assert fitted_links(grammar_root())(source, target) == frozenset(expected)
    assert expected
