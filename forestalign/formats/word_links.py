"""Word links: Pharaoh lines, and gold in our JSON lines, Jacana's JSON and MultiMWA's TSV.

Indices count from 0 in all of them. Gold of all three formats is read into one type, so what takes gold takes any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from forestalign.errors import AnnotationError, counted
from forestalign.formats.fields import Fields, shorten
from forestalign.formats.lines import read_text_lines
from forestalign.words.alignment import WordAlignment, WordLink, link_score

Links = tuple[tuple[int, int], ...]
_NumberedLines = Iterable[tuple[int, str]]

_PHARAOH_LINK = re.compile(r"(\d+)-(\d+)(?::(\S+))?", re.ASCII)
_MULTIMWA_COLUMN_COUNT = 9  # id, source, -, target, -, -, -, sure, possible; more may follow


@dataclass(frozen=True, slots=True)
class LinkAnnotation:
    """What one annotator linked, over the tokens that this annotator saw."""

    annotator: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links = ()


@dataclass(frozen=True, slots=True)
class GoldPair:
    """One pair with its annotations; the first is the gold that published scores use."""

    id: str
    annotations: tuple[LinkAnnotation, ...]

    @property
    def gold(self) -> LinkAnnotation:
        """The first annotation, which is the one that counts."""
        return self.annotations[0]

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names of all who annotated the pair."""
        return tuple(annotation.annotator for annotation in self.annotations)

    def by(self, annotator: str) -> LinkAnnotation:
        """The annotation of one annotator."""
        for annotation in self.annotations:
            if annotation.annotator == annotator:
                return annotation
        raise ValueError(
            f"pair {self.id}: no annotator is called {annotator!r}; expected one of {', '.join(self.annotators)}"
        )


GOLD, MAJORITY = "gold", "majority"


# ---- Pharaoh: one line per pair, `i-j` or `i-j:score` ----


def parse_pharaoh(text: str, source_count: int | None = None, target_count: int | None = None) -> WordAlignment:
    """The links of one line; ValueError for anything else, and for an index past a sentence of known length."""
    best: dict[tuple[int, int], float] = {}
    for part in text.split():
        source, target, score = _parse_link(part)
        _check_link((source, target), source_count, target_count)
        best[source, target] = max(score, best.get((source, target), score))
    return WordAlignment(tuple(WordLink(source, target, score) for (source, target), score in sorted(best.items())))


def format_pharaoh(alignment: WordAlignment, scores: bool = False) -> str:
    """Links in order, e.g. `0-0 1-2`, with scores `0-0:1.0 1-2:0.5`."""
    return " ".join(
        f"{link.source}-{link.target}:{float(link.score)!r}" if scores else f"{link.source}-{link.target}"
        for link in alignment
    )


def read_pharaoh(path: str | Path, lengths: Iterable[tuple[int, int]] | None = None) -> Iterator[WordAlignment]:
    """One alignment per line; `lengths` are the word counts of the pairs, when known, to check the indices."""
    counts = iter(lengths) if lengths is not None else None
    for number, text in read_text_lines(path):
        limits: tuple[int, int] | tuple[None, None] = (None, None)
        if counts is not None:
            known = next(counts, None)
            if known is None:
                raise AnnotationError(
                    path, number, f"line {number} is one too many; expected {counted(number - 1, 'alignment')}"
                )
            limits = known
        try:
            yield parse_pharaoh(text, *limits)
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def _parse_link(part: str) -> tuple[int, int, float]:
    match = _PHARAOH_LINK.fullmatch(part)
    try:
        if match is None:
            raise ValueError
        score = link_score(float(match[3] or 1.0))
        if score is None:
            raise ValueError
        return int(match[1]), int(match[2]), score
    except ValueError:
        raise ValueError(f"{part!r} is not a link; expected i-j or i-j:score, counted from 0") from None


# ---- gold ----


def read_gold_links(path: str | Path) -> Iterator[GoldPair]:
    """Gold in any of the three formats, told apart by how the file starts: `{`, `[`, or neither."""
    lines = read_text_lines(path)
    first = next(lines, None)
    if first is None:
        return
    reader = _READERS.get(first[1].lstrip()[:1], _multimwa_pairs)
    yield from reader(path, chain((first,), lines))


def _json_pairs(path: str | Path, lines: _NumberedLines) -> Iterator[GoldPair]:
    """JSON lines: id, source and target (lists of tokens), sure, possible; or annotators (each with sure and possible)
    with majority_sure, and majority_source and majority_target where the tokens of the vote differ."""
    for number, text in lines:
        try:
            yield _gold_pair(Fields.parse(text))
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def format_link_line(pair: GoldPair) -> str:
    """A gold pair as one of our JSON lines."""
    first = pair.gold
    if pair.annotators == (GOLD,):
        fields: dict[str, object] = {"id": pair.id, "source": first.source, "target": first.target}
        return json.dumps(fields | {"sure": first.sure, "possible": first.possible}, ensure_ascii=False)
    people = [annotation for annotation in pair.annotations if annotation.annotator != MAJORITY]
    fields = {"id": pair.id, "source": people[0].source, "target": people[0].target}
    fields["annotators"] = {each.annotator: {"sure": each.sure, "possible": each.possible} for each in people}
    if first.annotator == MAJORITY:
        fields["majority_sure"] = first.sure
        if (first.source, first.target) != (people[0].source, people[0].target):
            fields |= {"majority_source": first.source, "majority_target": first.target}
    return json.dumps(fields, ensure_ascii=False)


def _gold_pair(fields: Fields) -> GoldPair:
    identity = fields.identity("id")
    source, target = fields.words("source"), fields.words("target")
    if not fields.has("annotators"):
        return GoldPair(identity, (_annotation(GOLD, source, target, fields),))
    people = fields.child("annotators")
    annotations = [_annotation(name, source, target, people.child(name)) for name in people.values]
    if not annotations:
        fields.complain("annotators", "is empty; expected at least one annotator")
    if fields.has("majority_sure"):
        voted_source = fields.words("majority_source") if fields.has("majority_source") else source
        voted_target = fields.words("majority_target") if fields.has("majority_target") else target
        voted = _checked_links("majority_sure", fields.pairs("majority_sure"), len(voted_source), len(voted_target))
        annotations.insert(0, LinkAnnotation(MAJORITY, voted_source, voted_target, voted))
    return GoldPair(identity, tuple(annotations))


def _annotation(name: str, source: tuple[str, ...], target: tuple[str, ...], fields: Fields) -> LinkAnnotation:
    sure = _checked_links("sure", fields.pairs("sure"), len(source), len(target))
    possible = fields.pairs("possible") if fields.has("possible") else ()
    return LinkAnnotation(name, source, target, sure, _checked_links("possible", possible, len(source), len(target)))


# ---- Jacana: one JSON list of objects whose values are all strings ----


def read_jacana(path: str | Path) -> Iterator[GoldPair]:
    """A list of {id, name, source, target, sureAlign, possibleAlign}; tokens between spaces."""
    return _jacana_pairs(path, read_text_lines(path))


def _jacana_pairs(path: str | Path, lines: _NumberedLines) -> Iterator[GoldPair]:
    document = "\n".join(text for _, text in lines)
    try:
        listed = Fields.parse(f'{{"pairs": {document}}}').children("pairs")
    except ValueError as error:
        raise AnnotationError(path, None, str(error)) from error
    for index, fields in enumerate(listed):
        try:
            yield _jacana_pair(fields)
        except ValueError as error:
            raise AnnotationError(path, None, f"pair {index}: {error}") from error


def _jacana_pair(fields: Fields) -> GoldPair:
    identity = fields.identity("id") if fields.has("id") else ""
    name = fields.identity("name") if fields.has("name") else ""
    possible = fields.text("possibleAlign") if fields.has("possibleAlign") else ""
    columns = (fields.text("source"), fields.text("target"), fields.text("sureAlign"), possible)
    return _gold_of_columns(identity or name, *columns)


# ---- MultiMWA: tab-separated, the columns between the ones below are not ours to fill ----


def _multimwa_pairs(path: str | Path, lines: _NumberedLines) -> Iterator[GoldPair]:
    """Columns 1 id, 2 source, 4 target, 8 sure and 9 possible links; tokens between spaces."""
    for number, text in lines:
        columns = text.split("\t")
        try:
            if len(columns) < _MULTIMWA_COLUMN_COUNT:
                raise ValueError(
                    f"{counted(len(columns), 'column')} in {shorten(text)}; expected {_MULTIMWA_COLUMN_COUNT} or more"
                )
            yield _gold_of_columns(columns[0], columns[1], columns[3], columns[7], columns[8])
        except ValueError as error:
            raise AnnotationError(path, number, str(error)) from error


def _gold_of_columns(identity: str, source: str, target: str, sure: str, possible: str) -> GoldPair:
    words = tuple(source.split()), tuple(target.split())
    counts = len(words[0]), len(words[1])
    links = parse_pharaoh(sure, *counts).pairs, parse_pharaoh(possible, *counts).pairs
    return GoldPair(identity, (LinkAnnotation(GOLD, *words, *links),))


def _checked_links(name: str, links: Sequence[tuple[int, int]], source_count: int, target_count: int) -> Links:
    for link in links:
        try:
            _check_link(link, source_count, target_count)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return tuple(sorted(set(links)))


def _check_link(link: tuple[int, int], source_count: int | None, target_count: int | None) -> None:
    for side, index, count in (("source", link[0], source_count), ("target", link[1], target_count)):
        if count is not None and not 0 <= index < count:
            raise ValueError(f"link {link[0]}-{link[1]}: {_places(side, count)}")


def _places(side: str, count: int) -> str:
    if count == 0:
        return f"the {side} has no words; expected no link"
    return f"the {side} has {counted(count, 'word')}; expected {'0' if count == 1 else f'0 to {count - 1}'}"


_READERS: dict[str, Callable[[str | Path, _NumberedLines], Iterator[GoldPair]]] = {
    "{": _json_pairs,
    "[": _jacana_pairs,
}
