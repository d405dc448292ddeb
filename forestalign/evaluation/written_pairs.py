"""Pairs of sentences with their phrases marked inline while they were written (annotations/written.jsonl).

    [1 The company] [2 laid off [3 200 workers]] [4 last week] .
    [4 Last week] [2 [3 200 employees] lost their jobs] at [1 the company] .

A number stands on both sides and marks what corresponds; phrases nest, pieces of one phrase have letters (`[2a put] ...
[2b off]`), and `[+ ...]` marks words that have no counterpart. Tokens are separated by spaces. What is unmarked was not
judged: a pair of phrases is right if it is marked, wrong if it contradicts a mark, and else it does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from forestalign.errors import AnnotationError
from forestalign.evaluation.phrase_scores import Judgement, evaluate_judgements
from forestalign.evaluation.projection import SpanPair
from forestalign.evaluation.scores import Evaluation
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Span

Words = frozenset[int]
Relation = Literal["same", "changed", "related"]
SHORTEST, LONGEST = 6, 38  # tokens of a sentence
ADDED = "+"
_OPENING = re.compile(r"\[(\d+[a-z]?|\+)")
_PIECE = re.compile(r"[a-z]$")


class WrittenRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file."""

    id: str
    split: Literal["train", "dev"]
    genre: str
    phenomena: tuple[str, ...]
    relation: Relation
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """Tokens, the words of each number, and the words without a counterpart."""

    tokens: tuple[str, ...]
    marks: dict[str, Words]
    added: Words

    @property
    def covered(self) -> Words:
        """All words inside some mark."""
        return self.added.union(*self.marks.values())


@dataclass(frozen=True, slots=True)
class WrittenPair:
    """A pair with its marks."""

    record: WrittenRecord
    source: MarkedSentence
    target: MarkedSentence

    @property
    def phrases(self) -> list[tuple[Words, Words]]:
        """What corresponds, by the words of both sides, in the order of the numbers."""
        return [(self.source.marks[name], self.target.marks[name]) for name in sorted(self.source.marks, key=int)]

    @property
    def spans(self) -> frozenset[SpanPair]:
        """What corresponds and is in one piece on both sides."""
        both = [(span_of(one), span_of(other)) for one, other in self.phrases]
        return frozenset((one, other) for one, other in both if one is not None and other is not None)


def span_of(words: Words) -> Span | None:
    """The span of adjacent words; None for words with a gap."""
    begin, end = min(words), max(words) + 1
    return Span(begin, end) if end - begin == len(words) else None


def read_marks(text: str) -> MarkedSentence:
    """A marked sentence; ValueError says what is wrong with the marks.

    >>> read_marks("[1 She] [2a put] [3 it] [2b off] .").marks["2"]
    frozenset({1, 3})
    """
    tokens: list[str] = []
    opened: list[tuple[str, int]] = []
    marks: dict[str, set[int]] = {}
    seen: set[str] = set()
    for item in text.split():
        if mark := _OPENING.fullmatch(item):
            opened.append((mark.group(1), len(tokens)))
            continue
        word = item.rstrip("]")
        if "[" in word:
            raise ValueError(f"{item!r}: a mark is `[NUMBER ` with a space behind the number")
        tokens += [word] if word else []
        for _ in range(len(item) - len(word)):
            if not opened:
                raise ValueError(f"a ] that closes nothing after {' '.join(tokens[-3:])!r}")
            name, begin = opened.pop()
            if begin == len(tokens):
                raise ValueError(f"[{name} holds no word")
            if name in seen and name != ADDED:
                raise ValueError(f"[{name} stands twice in one sentence")
            seen.add(name)
            marks.setdefault(_PIECE.sub("", name), set()).update(range(begin, len(tokens)))
    if opened:
        raise ValueError(f"[{opened[-1][0]} is not closed")
    added = frozenset(marks.pop(ADDED, ()))
    return MarkedSentence(tuple(tokens), {name: frozenset(words) for name, words in marks.items()}, added)


def parse_written(record: WrittenRecord) -> WrittenPair:
    """A record with its marks read and checked; ValueError says what is wrong."""
    sides = []
    for name, text in (("source", record.source), ("target", record.target)):
        try:
            side = read_marks(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if not SHORTEST <= len(side.tokens) <= LONGEST:
            raise ValueError(f"{name} has {len(side.tokens)} tokens; expected {SHORTEST} to {LONGEST}")
        sides.append(side)
    source, target = sides
    if lonely := sorted(source.marks.keys() ^ target.marks.keys(), key=int):
        raise ValueError(f"[{lonely[0]} stands on one side only; expected a partner on the other")
    return WrittenPair(record, source, target)


def read_written(path: str | Path) -> Iterator[WrittenPair]:
    """The pairs of a file; AnnotationError names file and line."""
    decoder = msgspec.json.Decoder(WrittenRecord)
    for number, line in read_text_lines(path):
        try:
            yield parse_written(decoder.decode(line))
        except (ValueError, msgspec.MsgspecError) as error:
            raise AnnotationError(path, number, str(error)) from None


# ---- judging alignments ----


@dataclass(frozen=True, slots=True)
class WrittenJudge:
    """The marks of one pair as gold."""

    pair: WrittenPair

    def judgements(self, spans: frozenset[SpanPair]) -> list[Judgement]:
        """Counts against the marks; pairs about which these say nothing do not count."""
        required = self.pair.spans
        right = len(spans & required)
        wrong = sum(self.contradicts(*each) for each in spans - required)
        return [Judgement(right, len(required), right, right + wrong)]

    def is_right(self, pair: SpanPair) -> float:
        """1 for a marked pair, 0 for one that contradicts a mark, and a half where the marks say nothing."""
        return 1.0 if pair in self.pair.spans else 0.0 if self.contradicts(*pair) else 0.5

    def contradicts(self, source: Span, target: Span) -> bool:
        """Whether one phrase has another partner, no partner, or lies in a mark that the other one lies outside of."""
        one, other = frozenset(range(*source)), frozenset(range(*target))
        if one <= self.pair.source.added or other <= self.pair.target.added:
            return True
        for left, right in self.pair.phrases:
            if (one == left) != (other == right):
                return True
            if (one < left and not other & right) or (other < right and not one & left):
                return True
        return False


def score_written(answers: Iterable[frozenset[SpanPair]], pairs: Sequence[WrittenPair]) -> Evaluation:
    """Recall, precision and F1 by span."""
    rows = [WrittenJudge(pair).judgements(spans) for spans, pair in zip(answers, pairs, strict=True)]
    return evaluate_judgements(rows)
