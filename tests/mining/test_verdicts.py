"""Verdicts: features that do not know which sentence comes first, scores in order, reasons in words, bad files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forestalign.aligner import align
from forestalign.cli import main
from forestalign.errors import GrammarError
from forestalign.formats.codec import to_json
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.lexicon.vectors import compared, pooled_vector, projected
from forestalign.mining.verdict_features import alignment_features, is_against, is_of_vectors
from forestalign.mining.verdicts import (
    VECTOR_FEATURES,
    joined_score,
    load_verdicts,
    read_verdicts,
    scaled,
    similarity_of,
    sum_trees,
    verdict_name,
)
from forestalign.tokens import tokenize
from tests.builders.view_samples import cat, record

CAT = cat()
SOLD = "(TOP (S (NP (NNP Ann)) (VP (VBD sold) (NP (CD nine) (NNS cars))) (. .)))"
TEN = "(TOP (S (NP (NNP Ann)) (VP (VBD sold) (NP (CD ten) (NNS cars))) (. .)))"
NOT = "(TOP (S (NP (PRP She)) (VP (VBD did) (RB not) (VP (VB sell) (NP (NNS cars)))) (. .)))"


@pytest.mark.parametrize("target", ["The man bit the dog.", "A cat slept.", "The man was not bitten on Monday."])
def test_features_do_not_change_when_the_sentences_are_exchanged(target: str) -> None:
    sentences = "The dog bit the man.", target
    found, other = (alignment_features(align(*each), load_vectors()) for each in (sentences, sentences[::-1]))
    assert found == pytest.approx(other)


def test_the_file_has_the_features_in_their_order() -> None:
    own = [name for name in alignment_features(CAT, load_vectors()) if not is_against(name)]
    assert load_verdicts().names == (*own, *VECTOR_FEATURES)


def test_the_same_words_are_the_same_meaning_whatever_their_case_and_marks() -> None:
    same = record("same", SOLD, SOLD.replace("Ann", "ANN").replace("(. .)", "(. !)"), {k: k for k in range(5)})
    assert load_verdicts().judge(same) == ("same meaning", 1.0, 5.0)
    assert similarity_of(same).reasons == ("the same words",)


def test_less_in_common_scores_lower() -> None:
    less = record("less", SOLD, TEN, {0: 0, 1: 1, 3: 3, 4: 4})
    nothing = record("nothing", SOLD, NOT, {})
    scores = [load_verdicts().judge(each).score for each in (less, nothing)]
    assert 5 > scores[0] > scores[1] >= 0


def test_differences_are_the_reasons() -> None:
    assert similarity_of(record("x", SOLD, TEN, {k: k for k in range(5)})).reasons[0] == "nine became ten"


def test_one_more_difference_never_raises_probability_or_score() -> None:
    assert (load_verdicts().against >= 0).all()
    assert not any(is_against(name) for name in load_verdicts().names)
    model, chance = load_verdicts(), np.random.default_rng(1)
    trees = model.tree_features, model.tree_thresholds, model.tree_children, model.tree_values
    rows = chance.normal(size=(200, len(model.names) + model.against.shape[1]))
    more = rows + np.arange(rows.shape[1]) // len(model.names) * (chance.random(rows.shape) < 0.1)
    assert (sum_trees(more, *trees) <= sum_trees(rows, *trees) + 1e-9).all()


def test_the_score_rises_with_probability_and_likeness() -> None:
    steps = [k / 20 for k in range(21)]
    for likeness in (0.0, 1.0, 2.5, 5.0):
        scores = [joined_score(probability, likeness) for probability in steps]
        assert scores == sorted(scores)
    for probability in steps:
        scores = [joined_score(probability, 5 * likeness) for likeness in steps]
        assert scores == sorted(scores)


@pytest.mark.parametrize(
    ("probability", "likeness", "contradicts", "aligned", "verdict"),
    [
        (0.5, 0.1, True, 0.0, "same meaning"),
        (0.49, 4.0, False, 0.3, "changed"),
        (0.1, 2.0, False, 0.3, "related"),
        (0.1, 2.0, True, 0.3, "changed"),
        (0.1, 0.5, True, 0.3, "unrelated"),
        (0.1, 0.5, True, 0.9, "changed"),
        (0.1, 0.5, False, 0.9, "related"),
    ],
)
def test_the_verdict_follows_from_its_numbers(
    probability: float, likeness: float, contradicts: bool, aligned: float, verdict: str
) -> None:
    assert verdict_name(probability, likeness, contradicts, aligned) == verdict


def test_without_vectors_their_features_are_nought() -> None:
    names = ("aligned", "near vectors", *VECTOR_FEATURES)
    rows = scaled(np.full((1, len(names)), 3.0), np.ones(len(names)), np.ones(len(names)), names, has_vectors=False)
    assert rows[0].tolist() == [2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    assert [name for name in names if is_of_vectors(name)] == ["near vectors"]


# ---- vectors ----


def test_a_sentence_without_vectors_has_no_pooled_vector() -> None:
    assert pooled_vector(tokenize("He left."), load_vectors()) is None


def test_the_pooled_vector_weighs_rare_words_more() -> None:
    sentence = replace(
        tokenize("the harbour"), context_vectors=np.eye(2, dtype=np.float32), vectors=np.eye(2, dtype=np.float32)
    )
    pooled = pooled_vector(sentence, load_vectors())
    assert pooled is not None
    assert pooled[:4] == pytest.approx([0.5] * 4)
    assert pooled[5] > pooled[4]


def test_projected_vectors_have_length_one_and_nothing_stays_nothing() -> None:
    assert projected(np.zeros(3), np.ones((3, 2)), np.zeros(2)).tolist() == [0.0, 0.0]
    assert projected(np.ones((2, 3)), np.ones((3, 2)), np.zeros(2)) == pytest.approx(np.full((2, 2), 0.5**0.5))


def test_products_and_distances_do_not_know_which_vector_comes_first() -> None:
    left, right = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    assert compared(left, right) == pytest.approx(compared(right, left))
    assert compared(left, right) == pytest.approx(np.array([0.48 * 30, -0.48 * 30, 2.0, 14.0]))


def test_vectors_of_another_encoder_are_left_alone() -> None:
    rows, others = np.ones((10, 7), np.float32), np.ones((11, 7), np.float32)
    odd = replace(CAT, source=replace(CAT.source, context_vectors=rows, vectors=rows))
    odd = replace(odd, target=replace(CAT.target, context_vectors=others[:, :5], vectors=others[:, :5]))
    assert load_verdicts().judge(odd) == load_verdicts().judge(CAT)


@pytest.mark.parametrize(
    ("source", "target", "verdict"),
    [
        ("The cat sat on the mat.", "Stock prices fell sharply on Monday.", "unrelated"),
        ("The dog bit the man.", "The man bit the dog.", "changed"),
        ("He did not pay the bill.", "He paid the bill.", "changed"),
        ("He must pay.", "He may pay.", "changed"),
        ("We meet on Monday.", "We meet on Tuesday.", "changed"),
        ("I cant come.", "I can't come.", "same meaning"),
        ("He bought a car.", "He purchased an automobile.", "same meaning"),
        ("The trip took three days.", "The trip took 72 hours.", "same meaning"),
        ("Anna is taller than Ben.", "Ben is shorter than Anna.", "same meaning"),
        ("Nobody liked the film.", "Everyone disliked the film.", "same meaning"),
        ("The dog barked and the cat ran away.", "The cat ran away and the dog barked.", "same meaning"),
    ],
)
def test_plain_pairs_get_the_verdict_that_everybody_would_give(source: str, target: str, verdict: str) -> None:
    assert align(source, target).verdict == verdict


# ---- command and file ----


def test_results_are_judged_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(to_json(CAT) + "\n")
    assert main(["similarity", "--results", str(path), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["id"] == "cat"
    assert line["verdict"] == "same meaning"


@pytest.mark.usefixtures("in_this_process")
def test_pairs_are_judged_by_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("He left.\tHe left.\nHe sold nine cars.\tHe sold ten cars.\n")
    assert main(["similarity", str(path), "-q"]) == 0
    lines = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == ["1", "2"]
    assert [len(line) for line in lines] == [5, 5]
    assert float(lines[0][2]) > float(lines[1][2])
    assert "nine became ten" in lines[1][4]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_weights_that_cannot_be_read_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "verdict.npz"
    path.write_bytes(content)
    with pytest.raises(GrammarError, match="is not a file of weights"):
        read_verdicts(path)


@pytest.mark.parametrize(
    "name", ["centre", "hidden", "linear", "out", "bias", "offset", "dimensions", "tree_thresholds", "tree_children"]
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, name: str) -> None:
    with np.load(grammar_root() / "verdict.npz") as file:
        arrays = {key: file[key] for key in file}
    arrays[name] = arrays[name] * 0 - 1 if name == "tree_children" else arrays[name][..., :-1]
    path = tmp_path / "verdict.npz"
    np.savez(path, **arrays)
    with pytest.raises(GrammarError, match=f"{name}.* expected"):
        read_verdicts(path)


def test_each_tree_adds_the_value_of_the_leaf_that_a_row_leads_to() -> None:
    features, thresholds = np.array([[0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]), np.zeros((2, 5))
    children = np.array([[[1, 2], [3, 4], [2, 2], [3, 3], [4, 4]], [[1, 2], [1, 1], [2, 2], [3, 3], [4, 4]]])
    values = np.array([[0, 0, 1.0, 2.0, 3.0], [0, 10.0, 20.0, 0, 0]])
    rows = np.array([[0.6, 0.0], [0.0, -2.0], [-0.1, 2.1]])
    assert sum_trees(rows, features, thresholds, children, values) == pytest.approx([11.0, 12.0, 23.0])
