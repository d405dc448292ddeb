"""One number for each sentence pair, and the gold to score it by.

Gold is JSON lines with `score` (similarity), `paraphrase` (0 or 1), or `question` and `relevant` (0 or 1; an answer to
be ranked). A system's file has one number per line, the last column if there are several.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from forestalign.errors import AnnotationError, InputError, counted
from forestalign.evaluation.sentence_tasks import Ranked
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines


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
