"""Pairs of which one sentence is ambiguous and the other shows what is meant (`annotations/ambiguity.jsonl`).

A line has the fields of an annotated pair and four more: `split` (dev or test), `kind`, `ambiguous` (the side that is),
and `reading`, the brackets that tell the meant reading from the other: phrases that its tree `has`, and spans that are
no phrase there (`lacks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from forestalign.errors import AnnotationError
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence, annotated_pair
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Span
from forestalign.trees import Tree, preorder

Kind = Literal["pp-attachment", "relative-clause", "coordination-scope", "adverb", "noun-compound", "small-clause"]
Split = Literal["dev", "test"]
KINDS: tuple[str, ...] = get_args(Kind)
SPLITS: tuple[str, ...] = get_args(Split)


class LabelledSpan(NamedTuple):
    """A phrase that a reading has."""

    begin: int
    end: int
    label: str


class Reading(msgspec.Struct, frozen=True):
    """The brackets that matter."""

    has: tuple[LabelledSpan, ...]
    lacks: tuple[Span, ...]

    def is_of(self, tree: Tree) -> bool:
        """Whether a tree has this reading."""
        phrases = {LabelledSpan(node.begin, node.end, node.label) for node in preorder(tree) if not node.is_leaf}
        spans = {Span(phrase.begin, phrase.end) for phrase in phrases}
        return phrases.issuperset(self.has) and spans.isdisjoint(self.lacks)


class _Fields(msgspec.Struct):
    split: Split
    kind: Kind
    ambiguous: Literal["source", "target"]
    reading: Reading


@dataclass(frozen=True, slots=True)
class AmbiguousPair:
    """A pair, which side of it is ambiguous and how, and what is meant."""

    pair: AnnotatedPair
    split: str
    kind: str
    side: str
    reading: Reading

    @property
    def sentence(self) -> AnnotatedSentence:
        """The sentence that has several readings, source or target."""
        return self.pair.source if self.side == "source" else self.pair.target


def read_ambiguous(path: str | Path) -> Iterator[AmbiguousPair]:
    """The pairs of a file; the first bad line raises AnnotationError."""
    for number, text in read_text_lines(path):
        try:
            yield ambiguous_pair(text, number)
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def ambiguous_pair(text: str, line: int = 0) -> AmbiguousPair:
    """One line; ValueError says what is wrong with it."""
    pair, own = annotated_pair(text, line), msgspec.json.decode(text, type=_Fields)
    found = AmbiguousPair(pair, own.split, own.kind, own.ambiguous, own.reading)
    if own.reading.is_of(found.sentence.tree):
        return found
    raise ValueError("reading: the gold tree has another one; expected its own")
