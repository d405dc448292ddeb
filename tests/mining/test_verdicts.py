"""Similarity: features that do not know which sentence comes first, scores in order, reasons in words, bad files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forestalign import Alignment
from forestalign.aligner import load
from forestalign.cli import main
from forestalign.errors import GrammarError
from forestalign.formats.codec import to_json
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.lexicon.findings import turned_relation
from forestalign.mining.edits import edits_of
from forestalign.mining.meaning_features import ANY_REASON, REASONS
from forestalign.mining.sentence_vectors import compared, pooled_vector, projected
from forestalign.mining.similarity_features import alignment_features
from forestalign.mining.verdicts import (
    least_likely,
    limits,
    load_verdicts,
    nearness,
    read_verdicts,
    without_reasons,
)
from forestalign.tokens import tokenize
from tests.builders.meaning_pairs import meaning_pairs
from tests.builders.view_samples import CAT_LINKS, CAT_SOURCE, CAT_TARGET, cat, record

CAT = cat()
SOLD = "(TOP (S (NP (NNP Ann)) (VP (VBD sold) (NP (CD nine) (NNS cars))) (. .)))"
TEN = "(TOP (S (NP (NNP Ann)) (VP (VBD sold) (NP (CD ten) (NNS cars))) (. .)))"
NOT = "(TOP (S (NP (PRP She)) (VP (VBD did) (RB not) (VP (VB sell) (NP (NNS cars)))) (. .)))"


def turned(pair: Alignment) -> Alignment:
    """The same result with source and target exchanged."""
    found = pair.phrases
    pairs = tuple(
        replace(
            each,
            source=each.target,
            target=each.source,
            source_label=each.target_label,
            target_label=each.source_label,
            relation=turned_relation(each.relation),
        )
        for each in found.pairs
    )
    phrases = replace(
        found,
        pairs=pairs,
        source_nulls=found.target_nulls,
        target_nulls=found.source_nulls,
        source_tree=found.target_tree,
        target_tree=found.source_tree,
    )
    return replace(pair, source=pair.target, target=pair.source, phrases=phrases, words=pair.words.mirrored())


def reasons(source: str, target: str, links: dict[int, int]) -> tuple[str, ...]:
    return record("x", source, target, links).similarity().reasons


@pytest.mark.parametrize("drop", [frozenset[int](), frozenset({4}), frozenset({1, 2}), frozenset(range(10))])
def test_features_do_not_change_when_the_sentences_are_exchanged(drop: frozenset[int]) -> None:
    pair = cat(*drop)
    found, other = (alignment_features(each, edits_of(each), load_vectors()) for each in (pair, turned(pair)))
    moves = {"moves"}  # of two crossing phrases of the same weight, either may be the one that moved
    assert {name: found[name] for name in found if name not in moves} == pytest.approx(
        {name: other[name] for name in other if name not in moves}
    )


def test_the_file_has_the_features_in_their_order() -> None:
    assert load_verdicts().names == tuple(alignment_features(CAT, edits_of(CAT), load_vectors()))


def test_the_same_sentence_scores_highest() -> None:
    same = record("same", SOLD, SOLD, {k: k for k in range(5)})
    less = record("less", SOLD, TEN, {0: 0, 1: 1, 3: 3, 4: 4})
    nothing = record("nothing", SOLD, NOT, {})
    scores = [load_verdicts().judge(each).score for each in (same, less, nothing)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 5
    assert scores[2] < 2


def test_scores_and_probabilities_stay_in_their_range() -> None:
    for drop in ({1}, {0, 1, 2, 3}, set(range(10))):
        found = load_verdicts().judge(cat(*drop))
        assert 0 <= found.score <= 5
        assert 0 <= found.probability <= 1


# ---- reasons ----


def test_another_number_is_a_reason() -> None:
    assert reasons(SOLD, TEN, {k: k for k in range(5)}) == ("nine became ten",)


def test_names_without_partner_are_a_reason() -> None:
    assert "1 name without partner: Ann" in reasons(SOLD, SOLD.replace("NNP Ann", "PRP She"), {1: 1, 2: 2, 3: 3, 4: 4})


def test_a_negation_is_a_reason() -> None:
    found = reasons(SOLD, NOT, {0: 0, 1: 3, 3: 4, 4: 5})
    assert found[0] == "negated in the target only: not"


def test_words_that_changed_places_are_a_reason() -> None:
    met = "(TOP (S (NP (NNP Ann)) (VP (VBD hit) (NP (NNP Bob)))))"
    turned_round = "(TOP (S (NP (NNP Bob)) (VP (VBD hit) (NP (NNP Ann)))))"
    assert reasons(met, turned_round, {0: 2, 1: 1, 2: 0}) == ("Ann and Bob changed places",)


def test_the_same_words_are_told() -> None:
    assert reasons(SOLD, SOLD, {k: k for k in range(5)}) == ("the same words",)


def test_full_partnership_is_told() -> None:
    assert reasons(CAT_SOURCE, CAT_TARGET, CAT_LINKS) == ("all content words have a partner",)


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


def test_a_row_is_nearest_to_itself_and_the_less_near_the_farther() -> None:
    landmarks = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert nearness(landmarks, landmarks, 0.1) == pytest.approx(np.array([[1.0, np.exp(-2.5)], [np.exp(-2.5), 1.0]]))


@pytest.mark.parametrize("number", [0, 1])
def test_landmarks_take_part_in_the_score_and_in_the_probability_with_weights_of_their_own(number: int) -> None:
    model = load_verdicts()
    near = model.plain_near.copy()
    near[number] = 0
    found, other = (each.judge(cat(1, 2)) for each in (model, replace(model, plain_near=near)))
    assert (found.score != other.score) == (number == 0)
    assert (found.probability != other.probability) == (number == 1)


def test_a_reason_against_never_raises_score_or_probability() -> None:
    model = load_verdicts()
    reasons = [number for number, name in enumerate(model.names) if name in (*REASONS, ANY_REASON)]
    assert len(reasons) == len(REASONS) + 1
    assert (model.plain[:, reasons] <= 0).all()
    assert (model.full[:, reasons] <= 0).all()
    assert not model.landmarks[:, reasons].any()


def test_landmarks_do_not_see_reasons() -> None:
    rows = np.ones((1, 3))
    assert without_reasons(rows, ("kept", ANY_REASON, "moves")).tolist() == [[1.0, 0.0, 1.0]]


@pytest.mark.heavy
def test_what_a_new_user_tries_is_told_apart_by_the_probability() -> None:
    aligner = load()
    likely = {
        name: [aligner.align(pair.source, pair.target).similarity().probability > 0.5 for pair in meaning_pairs(name)]
        for name in ("new_user_changed", "new_user_same")
    }
    assert not any(likely["new_user_changed"])
    assert sum(likely["new_user_same"]) >= 0.85 * len(likely["new_user_same"])


def test_one_reason_decides_in_a_short_sentence_and_not_in_a_long_one() -> None:
    assert limits(["negation"], np.log(2 * 10)) == (4.0, pytest.approx(1 / 3))
    assert limits(["negation"], np.log(2 * 40)) == (4.0, 1.0)
    assert limits([], np.log(2 * 10)) == (5.0, 1.0)


def test_reasons_that_are_taken_back_in_a_short_sentence_make_a_paraphrase_likely() -> None:
    than = "(TOP (S (NP (NNP {})) (VP (VBZ is) (ADJP (ADJP (JJR {})) (PP (IN than) (NP (NNP {}))))) (. .)))"
    links = {0: 4, 1: 1, 2: 2, 3: 3, 4: 0, 5: 5}
    larger = than.format("Ann", "larger", "Bob")
    turned_round, changed = than.format("Bob", "smaller", "Ann"), than.format("Bob", "larger", "Ann")
    found, other = (load_verdicts().judge(record("x", larger, each, links)) for each in (turned_round, changed))
    assert found.probability > 0.7
    assert load_verdicts().judge(record("x", turned_round, larger, links)).probability == found.probability
    assert other.probability < 0.2


def test_long_sentences_are_not_decided_by_reasons_that_are_taken_back() -> None:
    assert least_likely(CAT, {"length": np.log(2 * 20), "same words": 1.0}) == 0.0
    assert least_likely(CAT, {"length": np.log(2 * 3), "same words": 0.0}) == 0.0


def test_vectors_of_another_encoder_are_left_alone() -> None:
    rows, others = np.ones((10, 7), np.float32), np.ones((11, 7), np.float32)
    odd = replace(
        CAT,
        source=replace(CAT.source, context_vectors=rows, vectors=rows),
        target=replace(CAT.target, context_vectors=others, vectors=others),
    )
    assert load_verdicts().judge(odd) == load_verdicts().judge(CAT)


def test_a_result_knows_its_similarity() -> None:
    aligner = load()
    near = aligner.align("He bought a car.", "He purchased an automobile.").similarity()
    far = aligner.align("He bought a car.", "The weather was bad.").similarity()
    assert near.score > 3.4 > 2 > far.score
    assert near.probability > far.probability


# ---- command and file ----


def test_results_are_judged_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(to_json(CAT) + "\n")
    assert main(["similarity", "--results", str(path), "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["id"] == "cat"
    assert line["reasons"] == ["all content words have a partner"]


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


def test_results_and_pairs_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similarity", "pairs.tsv", "--results", "results.jsonl"]) == 2
    assert "--results and the pairs pairs.tsv; expected one of them" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_weights_that_cannot_be_read_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "similarity.npz"
    path.write_bytes(content)
    with pytest.raises(GrammarError, match="is not a file of weights"):
        read_verdicts(path)


@pytest.mark.parametrize(
    "name", ["centre", "plain", "full", "landmarks", "plain_near", "full_near", "offset", "dimensions"]
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, name: str) -> None:
    with np.load(grammar_root() / "similarity.npz") as file:
        arrays = {key: file[key] for key in file}
    arrays[name] = arrays[name][..., :-1]
    path = tmp_path / "similarity.npz"
    np.savez(path, **arrays)
    with pytest.raises(GrammarError, match=f"{name}.* expected"):
        read_verdicts(path)
