"""The units of an aligned pair that edits are told of: phrases whose words are all kept, and what replaces what.

The phrase pairs cut both sentences: from the top of each tree of pairs down to what is the same or has nothing below
it. A phrase is one unit with the small words that only its looser partner has (*his car*, *by his automobile*). Linked
words in no phrase pair are units, too, and one word that is linked with several neighbours is one unit with them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE, SIMILAR
from forestalign.meaning.differences import Difference
from forestalign.mining.edit_sides import EditSide
from forestalign.phrases.result.alignment import Alignment, PhrasePair
from forestalign.tokens import Span
from forestalign.words.alignment import WordLink

Words = tuple[int, ...]
_PARTICLES = frozenset({"IN", "RP", "TO"})


@dataclass(frozen=True, slots=True)
class EditUnit:
    """Two spans, whether their words are the same, and what the source is to the target if not."""

    source: Span
    target: Span
    is_kept: bool
    relation: str

    @property
    def spans(self) -> tuple[Span, Span]:
        """Where the unit stands in source and target."""
        return self.source, self.target


def units_of(
    alignment: Alignment, source: EditSide, target: EditSide, contradictions: Sequence[Difference] = ()
) -> list[EditUnit]:
    """All units, in the order of the source; neighbours that were kept are one."""
    opposites = {(each.source, each.target) for each in contradictions if each.kind == OPPOSITE}
    return _Units(alignment, source, target, opposites).all()


class _Units:
    def __init__(self, alignment: Alignment, source: EditSide, target: EditSide, opposites: set[tuple[Words, Words]]):
        self.alignment, self.source, self.target, self.opposites = alignment, source, target, opposites
        self.pairs, self.links = alignment.phrases.pairs, alignment.words

    def all(self) -> list[EditUnit]:
        """From phrase pairs, then from links."""
        units = self._with_loose(self._of_phrases())
        units += self._linked_words(units)
        units = self._with_small_words(self._with_particles(self._with_neighbours(units)))
        return _join_units(sorted(units, key=lambda unit: (unit.source, unit.target)))

    def _of_phrases(self) -> list[EditUnit]:
        supporting = {support for pair in self.pairs for support in pair.supports}
        waiting = [index for index in range(len(self.pairs)) if index not in supporting]
        units = []
        while waiting:
            pair = self.pairs[waiting.pop()]
            is_kept = self._are_same(pair.source, pair.target)
            if is_kept or not pair.supports or self._is_one_value(pair):
                units.append(EditUnit(pair.source, pair.target, is_kept, "" if is_kept else pair.relation))
            else:
                waiting += pair.supports
        return units

    def _is_one_value(self, pair: PhrasePair) -> bool:
        """Whether a phrase says the same with another number: *three days*, *72 hours*."""
        return pair.relation == EQUAL and any(self.pairs[below].relation == DIFFERENT for below in pair.supports)

    def _are_same(self, source: Span, target: Span) -> bool:
        return self.source.lowered(source) == self.target.lowered(target)

    def _with_loose(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """A replaced phrase whose looser partner adds small words beside it is replaced with these, on either side."""
        found = list(units)
        for side, span, _, index, _ in self.alignment.extended:
            pair = self.pairs[index]
            for k, unit in enumerate(units):
                is_widened = getattr(found[k], side) != getattr(unit, side)
                if unit.is_kept or is_widened or unit.spans != (pair.source, pair.target):
                    continue
                if not any(_meets(getattr(other, side), span) for other in (*found[:k], *found[k + 1 :])):
                    found[k] = replace(found[k], source=span) if side == "source" else replace(found[k], target=span)
        return found

    def _linked_words(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """Words that are linked but in no phrase pair, the surest links first: *not like* and *liked* share a verb."""
        taken = _words(unit.source for unit in units), _words(unit.target for unit in units)
        found = []
        for link in sorted(self.links, key=lambda link: (-link.score, self._order_link(link))):
            if link.source not in taken[0] and link.target not in taken[1]:
                taken[0].add(link.source)
                taken[1].add(link.target)
                spans = Span(link.source, link.source + 1), Span(link.target, link.target + 1)
                is_kept = self._are_same(*spans)
                is_equal = not is_kept and self.source.lemma(link.source) == self.target.lemma(link.target)
                is_opposite = ((link.source,), (link.target,)) in self.opposites
                found.append(EditUnit(*spans, is_kept, EQUAL if is_equal else OPPOSITE if is_opposite else ""))
        return found

    def _order_link(self, link: WordLink) -> tuple[int, int]:
        """In the order of the sentences by their words: ties fall the same way when they are swapped."""
        is_turned = self.target.words < self.source.words
        return (link.target, link.source) if is_turned else (link.source, link.target)

    def _with_neighbours(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """One word for several: a word without a partner joins the replaced neighbour that its link leads to."""
        found = list(units)
        taken = _words(unit.source for unit in found), _words(unit.target for unit in found)
        for link in sorted(self.links, key=self._order_link):
            for k, unit in enumerate(found):
                if unit.is_kept:
                    continue
                if link.source not in taken[0] and link.target in range(*unit.target):
                    wider = _widened(unit.source, link.source)
                elif link.target not in taken[1] and link.source in range(*unit.source):
                    wider = _widened(unit.target, link.target)
                else:
                    continue
                if wider is None:
                    continue
                told = replace(unit, relation=unit.relation or SIMILAR)
                is_source = link.source not in taken[0]
                found[k] = replace(told, source=wider) if is_source else replace(told, target=wider)
                taken[0].add(link.source)
                taken[1].add(link.target)
                break
        return found

    def _with_particles(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """A replaced verb and the replaced particle behind it are one: *looked after*, *cared for*."""
        found: list[EditUnit] = []
        for unit in sorted(units, key=lambda unit: (unit.source, unit.target)):
            last = found[-1] if found else None
            follows = last and (last.source.end, last.target.end) == (unit.source.begin, unit.target.begin)
            if last and follows and self._is_verb_and_particle(last, unit):
                spans = Span(last.source.begin, unit.source.end), Span(last.target.begin, unit.target.end)
                found[-1] = EditUnit(*spans, False, last.relation or SIMILAR)
            else:
                found.append(unit)
        return found

    def _is_verb_and_particle(self, first: EditUnit, second: EditUnit) -> bool:
        if first.is_kept or second.is_kept or OPPOSITE in (first.relation, second.relation):
            return False
        return all(
            side.tags[verb.end - 1].startswith("VB") and particle.size == 1 and side.tags[particle.begin] in _PARTICLES
            for side, verb, particle in (
                (self.source, first.source, second.source),
                (self.target, first.target, second.target),
            )
        )

    def _with_small_words(self, units: Sequence[EditUnit]) -> list[EditUnit]:
        """Small words that only one side has go with what they belong to: *approved* and *was approved*, *a dog* and
        *two dogs*, *failed to* and *did not*."""
        found = list(units)
        free = (
            set(range(len(self.source.words))) - _words(unit.source for unit in found),
            set(range(len(self.target.words))) - _words(unit.target for unit in found),
        )
        for k, unit in enumerate(found):
            spans = self._with_auxiliaries(unit, free) or self._with_count(unit, free) or self._with_to(unit, free)
            if spans:
                is_equal = unit.is_kept or self.source.lemma(unit.source.end - 1) == self.target.lemma(
                    unit.target.end - 1
                )
                found[k] = EditUnit(*spans, False, EQUAL if is_equal else unit.relation)
                free[0].difference_update(range(*spans[0]))
                free[1].difference_update(range(*spans[1]))
        return found

    def _with_auxiliaries(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A verb that is passive on one side only, with its *was*."""
        if not unit.source.size == unit.target.size == 1:
            return None
        passive = unit.source.begin in self.source.passives, unit.target.begin in self.target.passives
        is_verb = self.source.is_verb(unit.source.begin) and self.target.is_verb(unit.target.begin)
        if not is_verb or passive[0] == passive[1]:
            return None
        side, span, its = (self.source, unit.source, free[0]) if passive[0] else (self.target, unit.target, free[1])
        begin = span.begin
        while begin - 1 in its and side.tags[begin - 1].startswith("VB"):
            begin -= 1
        wider = Span(begin, span.end)
        return None if wider == span else (wider, unit.target) if passive[0] else (unit.source, wider)

    def _with_count(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A noun of another number, with the words that count it on both sides."""
        if unit.is_kept or not unit.source.size == unit.target.size == 1:
            return None
        before = unit.source.begin - 1, unit.target.begin - 1
        tags = self.source.tags[unit.source.begin], self.target.tags[unit.target.begin]
        is_counted = before[0] in free[0] and before[1] in free[1] and {*tags} == {"NN", "NNS"}
        counts = self.source.tags[before[0]], self.target.tags[before[1]]
        if not is_counted or not all(tag in ("DT", "CD", "PRP$") for tag in counts):
            return None
        return Span(before[0], unit.source.end), Span(before[1], unit.target.end)

    def _with_to(self, unit: EditUnit, free: tuple[set[int], set[int]]) -> tuple[Span, Span] | None:
        """A replaced verb with the *to* behind it."""
        sides = (self.source, unit.source, free[0]), (self.target, unit.target, free[1])
        source, target = [
            Span(span.begin, span.end + (span.end in its and _is_verb_with_to(side, span.end)))
            for side, span, its in sides
        ]
        return None if unit.is_kept or (source, target) == unit.spans else (source, target)


def _is_verb_with_to(side: EditSide, word: int) -> bool:
    return side.tags[word] == "TO" and side.tags[word - 1].startswith("VB")


def _widened(span: Span, word: int) -> Span | None:
    """The span with a word just before or behind it."""
    if word == span.end:
        return Span(span.begin, word + 1)
    return Span(word, span.end) if word == span.begin - 1 else None


def _words(spans: Iterable[Span]) -> set[int]:
    return {word for span in spans for word in range(*span)}


def _meets(one: Span, other: Span) -> bool:
    return one.begin < other.end and other.begin < one.end


def _holds(outer: Span, inner: Span) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


def _join_units(units: Sequence[EditUnit]) -> list[EditUnit]:
    """Kept units that follow each other on both sides are one."""
    joined: list[EditUnit] = []
    for unit in units:
        last = joined[-1] if joined else None
        follows = last and (last.source.end, last.target.end) == (unit.source.begin, unit.target.begin)
        if last and follows and last.is_kept and unit.is_kept:
            spans = Span(last.source.begin, unit.source.end), Span(last.target.begin, unit.target.end)
            joined[-1] = EditUnit(*spans, True, "")
        else:
            joined.append(unit)
    return joined
