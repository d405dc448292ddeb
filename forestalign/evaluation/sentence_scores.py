"""Sentence-level uses of an aligner: similarity (STS), paraphrase identification, ranking of answers.

A system gives one number for each sentence pair. STS: Pearson's correlation with the human score. Paraphrases: the
number is compared with a threshold that is tuned for accuracy on training pairs (the smallest of the best, half-way
between two scores); accuracy, and P, R, F1 of the class "paraphrase". Ranking: mean average precision and mean
reciprocal rank over questions; questions without any right answer are left out, equal numbers rank in file order.

One number for each sentence pair, and the gold to score it by.

Gold is JSON lines with `score` (similarity), `paraphrase` (0 or 1), or `question` and `relevant` (0 or 1; an answer to
be ranked). A system's file has one number per line, the last column if there are several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import AnnotationError, InputError, UsageError, counted
from forestalign.evaluation.scores import Evaluation, columns, combine, count_table, precision_recall, ratio
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate answer: its question and whether it is right."""

    question: str
    relevant: bool


def score_similarity(gold: Sequence[float], system: Sequence[float]) -> Evaluation:
    """Pearson's r; 0 where either side does not vary."""
    _check_lengths(gold, system)
    wanted, given = _centre(gold), _centre(system)
    columns = [np.ones_like(wanted), wanted, given, wanted * wanted, given * given, wanted * given]
    return Evaluation(("Pearson r",), np.stack(columns, axis=1), _pearson)


def _centre(values: Sequence[float]) -> FloatArray:
    """Values around 0 with unit spread, which leaves the correlation as it is.

    Sums of squares stay exact, and outputs of two systems on different scales can be swapped for one another in a
    significance test.
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return array
    spread = float(array.std())
    centred: FloatArray = (array - array.mean()) / (spread if spread > 0 else 1.0)
    return centred


def _pearson(sums: FloatArray) -> FloatArray:
    count, x, y, xx, yy, xy = columns(sums)
    covariance = count * xy - x * y
    variances = np.maximum(count * xx - x * x, 0) * np.maximum(count * yy - y * y, 0)
    # a constant column leaves rounding dust behind
    return ratio(covariance, np.sqrt(np.where(variances > 1e-12 * count**4, variances, 0)))[..., None]


def tune_threshold(gold: Sequence[bool], system: Sequence[float]) -> float:
    """The threshold with the highest accuracy on these pairs; pairs above it are called paraphrases."""
    _check_lengths(gold, system)
    if not gold:
        raise UsageError("a threshold cannot be tuned on no pairs")
    numbers = sorted(set(system))
    middles = [(low + high) / 2 for low, high in pairwise(numbers)]
    thresholds = np.array([numbers[0] - 1, *middles, numbers[-1] + 1])
    order = np.argsort(system, kind="stable")
    ranked, positive = np.asarray(system, dtype=np.float64)[order], np.asarray(gold, dtype=np.int64)[order]
    below = np.searchsorted(ranked, thresholds, side="right")
    positives_below = np.concatenate([[0], np.cumsum(positive)])[below]
    correct = (below - positives_below) + (positive.sum() - positives_below)
    return float(thresholds[int(np.argmax(correct))])


def score_paraphrases(gold: Sequence[bool], system: Sequence[float], threshold: float) -> Evaluation:
    """Accuracy, P, R and F1 of calling a pair a paraphrase above a threshold."""
    _check_lengths(gold, system)
    rows = [
        (1, (number > threshold) == wanted, wanted and number > threshold, number > threshold, wanted)
        for wanted, number in zip(gold, system, strict=True)
    ]

    def accuracy(sums: FloatArray) -> FloatArray:
        return ratio(sums[..., 1:2], sums[..., :1])

    def of_class(sums: FloatArray) -> FloatArray:
        return precision_recall(*columns(sums))

    counts = count_table(rows, 5)
    return combine(
        [Evaluation(("accuracy",), counts[:, :2], accuracy), Evaluation(("P", "R", "F1"), counts[:, 2:], of_class)]
    )


def score_ranking(gold: Sequence[Ranked], system: Sequence[float]) -> Evaluation:
    """MAP and MRR; a row of counts is a question."""
    _check_lengths(gold, system)
    questions: dict[str, list[tuple[float, bool]]] = {}
    for answer, number in zip(gold, system, strict=True):
        questions.setdefault(answer.question, []).append((number, answer.relevant))
    rows = [
        (1, *_average_precision_and_reciprocal_rank(answers))
        for answers in questions.values()
        if any(relevant for _, relevant in answers)
    ]

    def aggregate(sums: FloatArray) -> FloatArray:
        questions, *per_question = columns(sums)
        return np.stack([ratio(part, questions) for part in per_question], axis=-1)

    return Evaluation(("MAP", "MRR"), count_table(rows, 3), aggregate)


def _average_precision_and_reciprocal_rank(answers: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    ranked = [relevant for _, relevant in sorted(answers, key=lambda answer: -answer[0])]
    ranks = [rank for rank, relevant in enumerate(ranked, start=1) if relevant]
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / len(ranks), 1 / ranks[0]


def _check_lengths(gold: Sequence[object], system: Sequence[object]) -> None:
    if len(gold) != len(system):
        raise UsageError(f"the gold standard has {counted(len(gold), 'score')} and the system {len(system)}")


@dataclass(frozen=True, slots=True)
class SentenceGold:
    """Exactly one of the three has values."""

    similarities: tuple[float, ...] = ()
    paraphrases: tuple[bool, ...] = ()
    answers: tuple[Ranked, ...] = ()

    def __len__(self) -> int:
        return len(self.similarities) + len(self.paraphrases) + len(self.answers)


def read_sentence_gold(path: str | Path) -> SentenceGold:
    """Gold similarities, paraphrase judgements or ranked answers, told apart by their fields; one kind per file."""
    similarities, paraphrases, answers = [], [], []
    for number, text in read_text_lines(path):
        try:
            fields = Fields.parse(text)
            if fields.has("question"):
                answers.append(Ranked(fields.identity("question"), _truth(fields, "relevant")))
            elif fields.has("paraphrase"):
                paraphrases.append(_truth(fields, "paraphrase"))
            else:
                similarities.append(_similarity(fields))
            if sum(map(bool, (similarities, paraphrases, answers))) > 1:
                raise ValueError("the line has another kind of gold than those before it; expected one kind")
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error
    return SentenceGold(tuple(similarities), tuple(paraphrases), tuple(answers))


def _similarity(fields: Fields) -> float:
    value = fields.number("score")
    if not isfinite(value):
        raise ValueError("score is null; expected a number")
    return value


def _truth(fields: Fields, name: str) -> bool:
    value = fields.values.get(name)
    if value not in (0, 1):
        raise ValueError(f"{name} is {shorten(value)}; expected 0 or 1")
    return bool(value)


def read_sentence_scores(path: str | Path, count: int) -> list[float]:
    """The numbers of a system; InputError if there are not as many as gold lines."""
    scores = []
    for number, text in read_text_lines(path):
        last = (text.split() or [""])[-1]
        try:
            value = float(last)
        except ValueError:
            raise InputError(path, number, f"found {shorten(text)}; expected a number, last on its line") from None
        if not isfinite(value):
            raise InputError(path, number, f"found {last}; expected a finite number")
        scores.append(value)
    if len(scores) != count:
        raise InputError(
            path,
            min(len(scores), count) + 1,
            f"{counted(len(scores), 'score')}; the gold standard has {counted(count, 'pair')}",
        )
    return scores
