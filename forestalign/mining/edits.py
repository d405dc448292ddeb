"""How the second sentence of an aligned pair differs from the first.

The phrase pairs cut both sentences into units: a phrase whose words are all kept, or the smallest pair of phrases that
differ. Linked words that are in no phrase pair are units, too. What is in no unit is deleted or inserted. Units off the
heaviest sequence that both sentences share are moved.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from forestalign.errors import UsageError, counted, shown
from forestalign.lexicon.findings import DIFFERENT, EQUAL, SIMILAR
from forestalign.lexicon.word_classes import is_mark
from forestalign.meaning import differences as kinds
from forestalign.meaning.differences import Difference
from forestalign.mining.edit_units import EditSide, EditUnit, is_other_number, units_of, words_of
from forestalign.phrases.result.alignment import Alignment
from forestalign.phrases.result.discontinuous_pairs import runs_of
from forestalign.terminal import visible
from forestalign.tokens import Span

SpanPair = tuple[Span, Span]
_OWN_EDITS = (kinds.NEGATION, kinds.NUMBER, kinds.ROLES, kinds.COMPARISON, kinds.OPPOSITE)
Place = TypeVar("Place", int, Span)


class EditKind(StrEnum):
    """What can happen to a phrase, and to a sentence."""

    KEPT = "kept"
    REPLACED = "replaced"
    DELETED = "removed"
    INSERTED = "added"
    MOVED = "moved"
    SPLIT = "split"  # into more sentences
    MERGED = "merged"
    VOICE = "voice changed"
    NEGATION = "negation changed"
    NUMBER = "number changed"  # a value, or singular and plural
    ROLES = "roles swapped"  # two words changed places


@dataclass(frozen=True, slots=True, repr=False)
class Edit:
    """One edit: where, the words as they stand in the text, and for a replacement the relation, where one is known.

    `source` is None for what was inserted, `target` for what was deleted. `rest` are further stretches of the source
    and of the target, where words do not stand together (*turned … down*). `detail` says more: of a change of number
    `value` or `grammatical`, of a change of voice what the target is, of swapped roles which words changed places.
    """

    kind: EditKind
    source: Span | None
    target: Span | None
    source_text: str = ""
    target_text: str = ""
    relation: str = ""
    detail: str = ""
    rest: tuple[tuple[Span, ...], tuple[Span, ...]] = ((), ())

    def __str__(self) -> str:
        """In words: `replaced: must → may (modality)`."""
        texts = {text.lower(): text for text in (self.target_text, self.source_text) if text}
        told = self.detail or (self.relation if self.relation not in (EQUAL, SIMILAR) else "")
        return visible(f"{self.kind}: {' → '.join(reversed(texts.values()))}{f' ({told})' if told else ''}")

    def __repr__(self) -> str:
        return f"<Edit {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class PairEdits:
    """The edits of one pair, and the share of its words (marks of punctuation apart) that were kept."""

    id: str
    edits: tuple[Edit, ...]
    kept_share: float
    contradictions: tuple[Difference, ...] = ()  # what makes the sentences say different things

    def __str__(self) -> str:
        """A line for each change."""
        return "\n".join(map(str, self.changes)) or "nothing changed"

    def __repr__(self) -> str:
        return f"<PairEdits: {counted(len(self.changes), 'edit')}, {self.kept_share:.2f} of the words kept>"

    def _repr_html_(self) -> str:
        from forestalign.terminal import lines_html

        return lines_html(str(self))

    @property
    def changes(self) -> tuple[Edit, ...]:
        """The edits that a reader wants to know: of what was not kept, and of more than marks of punctuation."""
        edits = (edit for edit in self.edits if edit.kind is not EditKind.KEPT)
        return tuple(edit for edit in edits if not (is_mark(edit.source_text) and is_mark(edit.target_text)))

    @property
    def is_same(self) -> bool:
        """Whether nothing was edited."""
        return all(edit.kind is EditKind.KEPT for edit in self.edits)

    def of_kind(self, kind: str) -> tuple[Edit, ...]:
        """The edits of one kind, as `edits.of_kind("replaced")`."""
        if kind not in list(EditKind):
            raise UsageError(f"kind is {shown(kind)}; expected one of {', '.join(EditKind)}")
        return tuple(edit for edit in self.edits if edit.kind == kind)

    def to_json(self) -> str:
        """One line; what is empty in an edit is left out."""
        edits = [
            {
                name: value
                for name in ("kind", "source", "target", "source_text", "target_text", "relation", "detail")
                if (value := getattr(edit, name))
            }
            | ({"rest": edit.rest} if any(edit.rest) else {})
            for edit in self.edits
            if edit.kind is not EditKind.KEPT
        ]
        return json.dumps({"id": self.id, "kept_share": self.kept_share, "edits": edits}, ensure_ascii=False)


def edits_of(alignment: Alignment) -> PairEdits:
    """The edits that turn the source of a result into its target."""
    return _Comparison(alignment).edits()


class _Comparison:
    """One result with its sides analysed."""

    def __init__(self, alignment: Alignment):
        self.id, self.links, self.pairs = alignment.id, alignment.words, alignment.phrases.pairs
        self.source = EditSide.of(alignment.source, alignment.source_tree)
        self.target = EditSide.of(alignment.target, alignment.target_tree)
        self.contradictions = tuple(each for each in alignment.differences if each.contradicts)
        self.units = units_of(alignment, self.source, self.target, self.contradictions)
        covered = words_of(self.units)
        self.deleted = runs_of([i for i in range(len(alignment.source)) if i not in covered[0]])
        self.inserted = runs_of([j for j in range(len(alignment.target)) if j not in covered[1]])

    def edits(self) -> PairEdits:
        """All edits: those of phrases in the order of the source, insertions, then those of the whole."""
        phrases = [
            self._edit(EditKind.KEPT, *unit.spans) if unit.is_kept else self._replace(unit) for unit in self.units
        ]
        phrases += [self._edit(EditKind.DELETED, span, None) for span in self.deleted]
        phrases.sort(key=lambda edit: edit.source or (0, 0))
        inserted = [self._edit(EditKind.INSERTED, None, span) for span in self.inserted]
        others = [
            *self._moved(),
            *self._sentences(),
            *self._voice(),
            *self._negations(),
            *self._numbers(),
            *self._roles(),
        ]
        return PairEdits(self.id, (*phrases, *inserted, *others), self._kept_share(), self.contradictions)

    def _edit(
        self, kind: EditKind, source: Span | None, target: Span | None, relation: str = "", detail: str = ""
    ) -> Edit:
        return Edit(kind, source, target, self.source.text(source), self.target.text(target), relation, detail)

    def _replace(self, unit: EditUnit) -> Edit:
        source, target = (
            " … ".join(map(side.text, spans))
            for side, spans in zip((self.source, self.target), unit.stretches, strict=True)
        )
        detail = self._kind_inside(unit)
        return Edit(EditKind.REPLACED, *unit.spans, source, target, unit.relation, detail, unit.rest)

    def _kept_share(self) -> float:
        kept = [unit for unit in self.units if unit.is_kept]
        count = sum(self.source.content_count(unit.source) + self.target.content_count(unit.target) for unit in kept)
        whole = self.source.content_count() + self.target.content_count()
        return round(count / whole, 5) if whole else 1.0

    # ---- kinds of edits ----

    def _moved(self) -> Iterable[Edit]:
        """The largest phrase pairs that moved as they are; function words and marks alone do not move."""
        units = [(self._order_sides(*unit.spans), self._weight(unit)) for unit in self.units if self._can_move(unit)]
        phrases = sorted(self._order_sides(pair.source, pair.target) for pair in self.pairs)
        for source, target in sorted(self._order_sides(*spans) for spans in _moved(sorted(units), phrases)):
            yield self._edit(EditKind.MOVED, source, target)

    def _order_sides(self, source: Place, target: Place) -> tuple[Place, Place]:
        """In the order of the sentences by their words, or back: ties fall the same way when they are swapped."""
        return (target, source) if self.target.words < self.source.words else (source, target)

    def _weight(self, unit: EditUnit) -> int:
        """Verbs stay, and what is said of them moves; then content words count, then a number of the texts.

        It decides the same way when sentences are swapped.
        """
        sides = self.source.lowered(unit.source), self.target.lowered(unit.target)
        texts = sorted(" ".join(words) for words in sides)
        count = self.source.content_count(unit.source) + self.target.content_count(unit.target)
        tags = self.source.tags[slice(*unit.source)], self.target.tags[slice(*unit.target)]
        has_verb = all(any(tag.startswith("VB") for tag in each) for each in tags)
        return (has_verb << 64) + (count << 48) + zlib.crc32("\t".join(texts).encode())

    def _can_move(self, unit: EditUnit) -> bool:
        """Whether a unit is more than function words and marks; a sign (*$10*, *10 dollars*) has its fixed place."""
        sides = (self.source, unit.source), (self.target, unit.target)
        is_content = self.source.has_content(unit.source) or self.target.has_content(unit.target)
        return is_content and all(side.has_letter(span) for side, span in sides)

    def _sentences(self) -> Iterable[Edit]:
        counts = self.source.sentence_count, self.target.sentence_count
        if counts[0] != counts[1]:
            kind = EditKind.SPLIT if counts[0] < counts[1] else EditKind.MERGED
            whole = Span(0, len(self.source.words)), Span(0, len(self.target.words))
            yield Edit(kind, *whole, detail=f"{counts[0]} to {counts[1]} sentences")

    def _voice(self) -> Iterable[Edit]:
        for link in self.links:
            if self.source.is_verb(link.source) and self.target.is_verb(link.target):
                is_passive = link.target in self.target.passives
                if is_passive != (link.source in self.source.passives):
                    spans = Span(link.source, link.source + 1), Span(link.target, link.target + 1)
                    yield self._edit(EditKind.VOICE, *spans, detail="passive" if is_passive else "active")

    def _negations(self) -> Iterable[Edit]:
        """Negations of one side only, unless the other side says them in other words (*did not like*, *disliked*)."""
        for each in self.contradictions:
            if each.kind == kinds.NEGATION:
                yield self._edit(EditKind.NEGATION, _span(each.source), _span(each.target))

    def _roles(self) -> Iterable[Edit]:
        for each in self.contradictions:
            if each.kind in (kinds.ROLES, kinds.COMPARISON):
                yield self._edit(EditKind.ROLES, _span(each.source), _span(each.target), detail=each.reason)

    def _numbers(self) -> Iterable[Edit]:
        """Other values, be they aligned or not, and nouns that changed from singular to plural or back."""
        found: list[SpanPair] = []
        for unit in (unit for unit in self.units if not unit.is_kept):
            if unit.relation == DIFFERENT and not self._kind_inside(unit):
                found.append(unit.spans)
                yield self._edit(EditKind.NUMBER, *unit.spans, detail="value")
            elif self._is_other_number(unit):
                yield self._edit(EditKind.NUMBER, *unit.spans, detail="grammatical")
        for each in self.contradictions:
            own, other = _span(each.source), _span(each.target)
            if each.kind == kinds.NUMBER and not any(each.is_inside(*spans) for spans in found):
                yield self._edit(EditKind.NUMBER, own, other, detail="value")

    def _kind_inside(self, unit: EditUnit) -> str:
        """The kind of the first difference in a unit that has no edit of its own: *modality*, *time*, *name*."""
        inside = (each.kind for each in self.contradictions if each.is_inside(unit.source, unit.target))
        return next((kind for kind in inside if kind not in _OWN_EDITS), "")

    def _is_other_number(self, unit: EditUnit) -> bool:
        """One noun in singular and plural: the unit itself, or linked words in it (*a dog*, *two dogs*)."""
        pairs = [(link.source, link.target) for link in self.links]
        if unit.source.end - unit.source.begin == unit.target.end - unit.target.begin == 1:
            pairs = [(unit.source.begin, unit.target.begin)]
        return any(
            source in range(*unit.source)
            and target in range(*unit.target)
            and is_other_number(
                (self.source.words[source], self.source.tags[source]),
                (self.target.words[target], self.target.tags[target]),
            )
            for source, target in pairs
        )


def _span(words: Sequence[int]) -> Span | None:
    """From the first word to the last."""
    return Span(min(words), max(words) + 1) if words else None


def _moved(units: Sequence[tuple[SpanPair, int]], phrases: Sequence[SpanPair]) -> Iterable[SpanPair]:
    """Of units with their weights, in the order of one side, those that leave the heaviest common order."""
    spans = [unit for unit, _ in units]
    staying = heaviest_common_order([other for _, other in spans], [weight for _, weight in units])
    moved = [unit for index, unit in enumerate(spans) if index not in staying]
    while moved:
        wholes = (phrase for phrase in phrases if _moves_as_one(phrase, moved[0], spans, moved))
        largest = max(wholes, key=lambda phrase: sum(end - begin for begin, end in phrase), default=moved[0])
        yield largest
        moved = [unit for unit in moved[1:] if not _inside(unit[0], largest[0])]


def _moves_as_one(phrase: SpanPair, first: SpanPair, units: Sequence[SpanPair], moved: Sequence[SpanPair]) -> bool:
    """Whether a pair of phrases holds the unit and only moved ones, in one order on both sides."""
    if not (_inside(first[0], phrase[0]) and _inside(first[1], phrase[1])):
        return False
    held = [unit for unit in units if _inside(unit[0], phrase[0]) or _inside(unit[1], phrase[1])]
    return all(unit in moved for unit in held) and held == sorted(held, key=lambda unit: unit[1])


def _inside(inner: Span, outer: Span) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


def heaviest_common_order(targets: Sequence[Span], weights: Sequence[int]) -> set[int]:
    """The heaviest sequence of units, in source order, whose targets ascend.

    best(k) = weight(k) + max of best(j) over j < k with target(j) <= target(k)
    """
    best: list[int] = []
    previous: list[int] = []
    for k, target in enumerate(targets):
        before = max((j for j in range(k) if targets[j] <= target), key=lambda j: (best[j], -j), default=-1)
        best.append(weights[k] + (best[before] if before >= 0 else 0))
        previous.append(before)
    last = max(range(len(best)), key=lambda k: (best[k], -k), default=-1)
    chosen = set()
    while last >= 0:
        chosen.add(last)
        last = previous[last]
    return chosen
