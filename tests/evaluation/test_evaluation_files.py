"""Gold and answers from files: parses, one number per pair, annotated sets; every complaint has file and place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forestalign.errors import AnnotationError, InputError
from forestalign.evaluation.answer_files import check_parses, read_parses
from forestalign.evaluation.sentence_scores import read_sentence_gold, read_sentence_scores

DOGS = "(S (NP-SBJ (NNS Dogs)) (VP (VBP bark)))\n"
CATS = "(TOP (S (NP (NNS Cats)) (VP (VBP sleep) (-NONE- *))))\n"
CONLL = "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def write_lines(path: Path, *records: object) -> str:
    return write(path, "".join(json.dumps(record) + "\n" for record in records))


# ---- parses ----


def test_trees_lose_function_labels_and_traces_and_get_heads(tmp_path: Path) -> None:
    parsed = read_parses(write(tmp_path / "gold.mrg", DOGS + CATS))
    assert len(parsed.trees) == 2
    assert parsed.attachments[0].words == ("Dogs", "bark")
    assert parsed.attachments[0].heads == (1, -1)
    assert parsed.attachments[1].words == ("Cats", "sleep")


def test_dependencies_stay_as_they_are(tmp_path: Path) -> None:
    parsed = read_parses(write(tmp_path / "gold.conllu", CONLL * 2))
    assert parsed.trees == ()
    assert [each.relations for each in parsed.attachments] == [("nsubj", "root")] * 2


def test_a_system_gets_the_words_of_the_gold(tmp_path: Path) -> None:
    gold = read_parses(write(tmp_path / "gold.mrg", "(S (-LRB- -LRB-) (NN a))\n"))
    system = read_parses(write(tmp_path / "out.mrg", "(S (-LRB- -LRB-) (NN a))\n"))
    assert check_parses(gold, system).trees == gold.trees


@pytest.mark.parametrize(
    ("gold", "system", "told"),
    [
        (DOGS, CONLL, "the file holds dependencies; expected trees as in"),
        (CONLL, DOGS, "the file holds trees; expected dependencies as in"),
        (DOGS * 2, DOGS, "1 sentence; expected 2 as in"),
        (DOGS, DOGS * 3, "3 sentences; expected 1 as in"),
        (DOGS + CATS, DOGS + DOGS, "sentence 2: "),
        (CONLL, CONLL.replace("bark\tbark", "yap\tyap"), "sentence 1: "),
    ],
)
def test_a_system_that_does_not_fit_is_refused_by_sentence(tmp_path: Path, gold: str, system: str, told: str) -> None:
    wanted, found = read_parses(write(tmp_path / "gold", gold)), read_parses(write(tmp_path / "out", system))
    with pytest.raises(AnnotationError) as caught:
        check_parses(wanted, found)
    assert str(caught.value).startswith(f"{tmp_path / 'out'}: {told}")


# ---- one number per pair ----


def test_each_kind_of_sentence_gold_is_known_by_its_fields(tmp_path: Path) -> None:
    similar = read_sentence_gold(write_lines(tmp_path / "a", {"score": 3}, {"score": 4.5}))
    assert (similar.similarities, len(similar)) == ((3.0, 4.5), 2)
    same = read_sentence_gold(write_lines(tmp_path / "b", {"paraphrase": 1}, {"paraphrase": 0}))
    assert (same.paraphrases, len(same)) == ((True, False), 2)
    ranked = read_sentence_gold(write_lines(tmp_path / "c", {"question": "q", "relevant": 1}))
    assert (ranked.answers[0].question, ranked.answers[0].relevant, len(ranked)) == ("q", True, 1)


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([{"score": 1}, {"paraphrase": 1}], ":2: the line has another kind of gold than those before it"),
        ([{"score": 1}, {"score": "high"}], ':2: score is "high"; expected a number'),
        ([{"paraphrase": "yes"}], ':1: paraphrase is "yes"; expected 0 or 1'),
        ([{"question": "q"}], ":1: relevant is null; expected 0 or 1"),
        ([{}], ":1: no field 'score'; expected a number"),
    ],
)
def test_bad_sentence_gold_is_refused_by_line(tmp_path: Path, records: list[object], told: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        read_sentence_gold(write_lines(tmp_path / "gold", *records))
    assert told in str(caught.value)


def test_the_last_column_is_the_score(tmp_path: Path) -> None:
    assert read_sentence_scores(write(tmp_path / "out", "0.5\npair-2\t0.25\n1 2 3\n"), 3) == [0.5, 0.25, 3.0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.5\nhigh\n", ':2: found "high"; expected a number, last on its line'),
        ("0.5\n\n", ':2: found ""; expected a number'),
        ("0.5\nnan\n", ":2: found nan; expected a finite number"),
        ("0.5\n-inf\n", ":2: found -inf; expected a finite number"),
        ("0.5\n", ":2: 1 score; the gold standard has 2 pairs"),
        ("1\n2\n3\n", ":3: 3 scores; the gold standard has 2 pairs"),
    ],
)
def test_bad_scores_are_refused_by_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read_sentence_scores(write(tmp_path / "out", text), 2)
    assert str(caught.value).endswith(told) or told in str(caught.value)
