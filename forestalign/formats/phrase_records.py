"""Phrase alignments as JSON lines: what `forestalign align --json` prints and other programs read.

The README documents every field. Spans are half-open, in tokens; a phrase stands after the phrases that support it. A
record holds all that its line says, and reading a line and writing it again gives the same bytes; lines of version
0.1.0, which know neither evidence nor relation, get their defaults.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import AnnotationError
from forestalign.formats.fields import Fields, finite, finite_number, shorten
from forestalign.formats.forest_nodes import ForestNodes, forest_nodes
from forestalign.formats.lines import read_text_lines
from forestalign.formats.tree_files import check_words
from forestalign.phrases.extended import ExtendedPhrase, extended_phrases
from forestalign.tokens import Sentence, Span, Token
from forestalign.trees import Tree, parse_brackets

PHRASE_VERSION = 1


@lru_cache(maxsize=8)
def _parsed(tree: str) -> Tree:
    """A tree from brackets; the reader checks it, and whoever asks for it next asks for the same."""
    return parse_brackets(tree)


@dataclass(frozen=True, slots=True)
class SideRecord:
    """One sentence: raw text, tokens, and the chosen tree in Penn brackets."""

    text: str
    tokens: tuple[str, ...]
    tree: str

    def sentence(self) -> Sentence:
        """The tokens at their places in the text; ValueError if one is not there."""
        tokens: list[Token] = []
        position = 0
        for word in self.tokens:
            begin = self.text.find(word, position)
            if begin < 0 or self.text[position:begin].strip():
                raise ValueError(f"token {len(tokens)}, {word!r}, does not follow in the text {shorten(self.text)}")
            position = begin + len(word)
            tokens.append(Token(word, begin, position))
        return Sentence(self.text, tuple(tokens))

    def parsed(self) -> Tree:
        """The chosen tree."""
        return _parsed(self.tree)

    def phrases(self, spans: Iterable[Span]) -> tuple[str, ...]:
        """The words of each span as they stand in the text (*can't*, not *ca n't*), on one line."""
        return tuple(map(self.sentence().phrase, spans))


class WordEntry(NamedTuple):
    """Source token, target token, score."""

    source: int
    target: int
    score: float


@dataclass(frozen=True, slots=True)
class PhrasePairEntry:
    """A phrase pair; `supports` are the positions of the pairs that support it, all before it in the list.

    `evidence` says where the pair comes from (`links`, `lexicon`, `quantity`, ...), `relation` what it is (`equal`,
    `similar`, `more general`, `more specific`, `opposite`, `different value`; empty where nobody said).
    """

    source: Span
    target: Span
    source_label: str
    target_label: str
    compositional: bool
    score: float
    supports: tuple[int, ...]
    bar: bool
    inverted: bool
    posterior: float | None = None
    evidence: tuple[str, ...] = ("links",)
    relation: str = ""


@dataclass(frozen=True, slots=True)
class NullSpans:
    """The maximal null phrases of both sides."""

    source: tuple[Span, ...]
    target: tuple[Span, ...]


class ScatteredEntry(NamedTuple):
    """Words that belong together by evidence and are no phrases of the trees: numbers of words on both sides."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    evidence: str
    relation: str


@dataclass(frozen=True, slots=True)
class AlternativeRecord:
    """A further alignment of the k best, over trees of its own."""

    phrases: tuple[PhrasePairEntry, ...]
    nulls: NullSpans
    log_score: float
    reached_root: bool
    completed: bool
    source_tree: str
    target_tree: str
    scattered: tuple[ScatteredEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class PhraseRecord:
    """One line; `forests` is None where it was not asked for."""

    id: str
    source: SideRecord
    target: SideRecord
    words: tuple[WordEntry, ...]
    phrases: tuple[PhrasePairEntry, ...]
    nulls: NullSpans
    reached_root: bool
    completed: bool
    log_score: float
    signature: str
    version: int = PHRASE_VERSION
    alternatives: tuple[AlternativeRecord, ...] = ()
    forests: ForestNodes | None = None
    candidates: tuple[
        WordEntry, ...
    ] = ()  # links that were in the seed of the search, but are too unlikely for `words`
    scattered: tuple[ScatteredEntry, ...] = ()  # words that are no phrase and belong together: turned ... down

    @property
    def left_out(self) -> tuple[WordEntry, ...]:
        """Word links that no pair carries, scattered or not: a word has another partner, or no tree allows it."""
        ends = [entry for entry in self.phrases if not entry.supports]
        return tuple(
            word
            for word in self.words
            if not any(_holds(entry.source, word.source) and _holds(entry.target, word.target) for entry in ends)
            and not any(word.source in one.source and word.target in one.target for one in self.scattered)
        )

    @property
    def extended(self) -> tuple[ExtendedPhrase, ...]:
        """Phrases in no pair that add only small words to an aligned one; found anew, so a reader passes them over."""
        trees = self.source.parsed(), self.target.parsed()
        return extended_phrases(trees, self.phrases, (self.nulls.source, self.nulls.target), self.scattered)


def _holds(span: Span, word: int) -> bool:
    return span.begin <= word < span.end


# ---- to JSON ----


def to_json(record: PhraseRecord) -> str:
    """One line, fields always in the same order."""
    fields: dict[str, object] = {
        "version": record.version,
        "id": record.id,
        "source": _side_fields(record.source),
        "target": _side_fields(record.target),
        "words": _word_fields(record.words),
        "phrases": [_entry_fields(entry) for entry in record.phrases],
        "nulls": _null_fields(record.nulls),
        "reached_root": record.reached_root,
        "completed": record.completed,
        "log_score": finite(record.log_score),
        "signature": record.signature,
    }
    if record.scattered:
        fields["scattered"] = _scattered_fields(record.scattered)
    if extended := record.extended:
        fields["extended"] = [phrase._asdict() for phrase in extended]
    if record.left_out:
        fields["left_out"] = [[word.source, word.target] for word in record.left_out]
    if record.candidates:
        fields["candidates"] = _word_fields(record.candidates)
    if record.alternatives:
        fields["alternatives"] = [_alternative_fields(other) for other in record.alternatives]
    if record.forests is not None:
        fields["forests"] = {"source": record.forests.source, "target": record.forests.target}
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)


def _word_fields(words: Sequence[WordEntry]) -> list[object]:
    return [[word.source, word.target, finite(word.score)] for word in words]


def _side_fields(side: SideRecord) -> dict[str, object]:
    return {"text": side.text, "tokens": side.tokens, "tree": side.tree}


def _entry_fields(entry: PhrasePairEntry) -> dict[str, object]:
    fields: dict[str, object] = {
        "source": entry.source,
        "target": entry.target,
        "source_label": entry.source_label,
        "target_label": entry.target_label,
        "compositional": entry.compositional,
        "score": finite(entry.score),
        "supports": entry.supports,
        "bar": entry.bar,
        "inverted": entry.inverted,
        "evidence": entry.evidence,
        "relation": entry.relation,
    }
    return fields if entry.posterior is None else fields | {"posterior": entry.posterior}


def _null_fields(nulls: NullSpans) -> dict[str, object]:
    return {"source": nulls.source, "target": nulls.target}


def _scattered_fields(scattered: Sequence[ScatteredEntry]) -> list[object]:
    return [one._asdict() for one in scattered]


def _alternative_fields(other: AlternativeRecord) -> dict[str, object]:
    fields: dict[str, object] = {
        "phrases": [_entry_fields(entry) for entry in other.phrases],
        "nulls": _null_fields(other.nulls),
        "log_score": finite(other.log_score),
        "reached_root": other.reached_root,
        "completed": other.completed,
        "source_tree": other.source_tree,
        "target_tree": other.target_tree,
    }
    return fields | {"scattered": _scattered_fields(other.scattered)} if other.scattered else fields


# ---- from JSON ----


def read_phrases(path: str | Path) -> Iterator[PhraseRecord]:
    """The records of a file, one per line; the first bad line raises AnnotationError."""
    for number, text in read_text_lines(path):
        yield from_json(text, path, number)


def from_json(text: str, path: str | Path = "phrase record", line: int | None = None) -> PhraseRecord:
    """A checked record: known version, spans inside the sentences, supports before what they support, trees that fit.

    Unknown fields are passed over, so that a later version may add some.
    """
    try:
        return _record(Fields.parse(text))
    except ValueError as error:
        raise AnnotationError(path, line, str(error)) from error


def _record(fields: Fields) -> PhraseRecord:
    version = fields.whole("version")
    if version != PHRASE_VERSION:
        fields.complain("version", f"found {version}; this program reads version {PHRASE_VERSION}")
    source, target = _side(fields.child("source")), _side(fields.child("target"))
    counts = len(source.tokens), len(target.tokens)
    others = fields.children("alternatives") if fields.has("alternatives") else ()
    return PhraseRecord(
        fields.text("id"),
        source,
        target,
        _words(fields, "words", counts),
        _entries(fields, counts),
        _nulls(fields, counts),
        fields.flag("reached_root"),
        fields.flag("completed"),
        fields.number("log_score"),
        fields.text("signature"),
        version,
        tuple(_parse_alternative(other, source, target) for other in others),
        forest_nodes(fields.child("forests"), counts) if fields.has("forests") else None,
        _words(fields, "candidates", counts) if fields.has("candidates") else (),
        _scattered(fields, counts),
    )


def _scattered(fields: Fields, counts: tuple[int, int]) -> tuple[ScatteredEntry, ...]:
    rows = fields.children("scattered") if fields.has("scattered") else ()
    return tuple(_parse_scattered(row, counts) for row in rows)


def _parse_scattered(fields: Fields, counts: tuple[int, int]) -> ScatteredEntry:
    sides = fields.wholes("source"), fields.wholes("target")
    for name, words, count in zip(("source", "target"), sides, counts, strict=True):
        if not words or not all(0 <= word < count for word in words):
            fields.complain(name, f"found {shorten(words)}; expected numbers of words below {count}")
    return ScatteredEntry(tuple(sides[0]), tuple(sides[1]), fields.text("evidence"), fields.text("relation"))


def _side(fields: Fields) -> SideRecord:
    side = SideRecord(fields.text("text"), fields.words("tokens"), fields.text("tree"))
    try:
        _check_tree(side, side.tree)
    except ValueError as error:
        fields.complain("tree", str(error))
    return side


def _check_tree(side: SideRecord, tree: str) -> None:
    check_words(_parsed(tree), side.sentence())


def _words(fields: Fields, name: str, counts: tuple[int, int]) -> tuple[WordEntry, ...]:
    expectation = f"[i, j, score] with i below {counts[0]} and j below {counts[1]}"
    words = []
    for row in fields.rows(name, 3, f"a list of {expectation}"):
        match row:
            case (int(i), int(j), value) if (
                0 <= i < counts[0] and 0 <= j < counts[1] and finite_number(value) is not None
            ):
                words.append(WordEntry(i, j, float(value)))  # type: ignore[arg-type]
            case _:
                fields.complain(name, f"found {shorten(row)}; expected {expectation}")
    return tuple(words)


def _entries(fields: Fields, counts: tuple[int, int]) -> tuple[PhrasePairEntry, ...]:
    return tuple(_parse_entry(row, index, counts) for index, row in enumerate(fields.children("phrases")))


def _parse_entry(fields: Fields, index: int, counts: tuple[int, int]) -> PhrasePairEntry:
    supports = fields.wholes("supports")
    if not all(0 <= support < index for support in supports):
        earlier = (
            f"numbers of phrases before this one, below {index}" if index else "none, as no phrase is before this one"
        )
        fields.complain("supports", f"found {list(supports)}; expected {earlier}")
    return PhrasePairEntry(
        fields.span("source", counts[0]),
        fields.span("target", counts[1]),
        fields.text("source_label"),
        fields.text("target_label"),
        fields.flag("compositional"),
        fields.number("score"),
        supports,
        fields.flag("bar"),
        fields.flag("inverted"),
        _posterior(fields),
        fields.words("evidence") if fields.has("evidence") else ("links",),
        fields.text("relation") if fields.has("relation") else "",
    )


def _posterior(fields: Fields) -> float | None:
    if not fields.has("posterior") or fields.values["posterior"] is None:
        return None
    value = fields.number("posterior")
    if not 0.0 <= value <= 1.0:
        fields.complain("posterior", f"found {value:g}; expected a number from 0 to 1")
    return value


def _nulls(fields: Fields, counts: tuple[int, int]) -> NullSpans:
    nulls = fields.child("nulls")
    return NullSpans(nulls.spans("source", counts[0]), nulls.spans("target", counts[1]))


def _parse_alternative(fields: Fields, source: SideRecord, target: SideRecord) -> AlternativeRecord:
    counts = len(source.tokens), len(target.tokens)
    trees = fields.text("source_tree"), fields.text("target_tree")
    for name, side, tree in zip(("source_tree", "target_tree"), (source, target), trees, strict=True):
        try:
            _check_tree(side, tree)
        except ValueError as error:
            fields.complain(name, str(error))
    return AlternativeRecord(
        _entries(fields, counts),
        _nulls(fields, counts),
        fields.number("log_score"),
        fields.flag("reached_root"),
        fields.flag("completed"),
        *trees,
        _scattered(fields, counts),
    )
