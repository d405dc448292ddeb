"""What makes two aligned sentences say different things: opposites, negations, values and roles, each with its words.

Marks are found on words, by links, dependencies and lexicon. A pair of phrases contradicts itself if a mark lies inside
it and nothing else inside it takes the mark back: a negation and an opposite of the same word (*did not like*,
*disliked*), an opposite and a comparison turned round (*larger than*, *smaller than*), an opposite that tells the same
event from the other side (*bought from*, *sold to*). So a mark rises from two words to the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from forestalign.grammar import negation_words
from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import AGAINST, DIFFERENT, EQUAL, OPPOSITE, OTHER_ROLES, SIMILAR, Finding
from forestalign.lexicon.oppositions import are_opposites
from forestalign.lexicon.quantities import quantity_findings
from forestalign.lexicon.word_classes import WordClass, meaning_words, word_class
from forestalign.meaning import differences as kinds
from forestalign.meaning.comparisons import is_compared, less_of, readings
from forestalign.meaning.differences import Difference, describe
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.negation import Denials, Negation, find_negations
from forestalign.meaning.numbers_apart import DifferentValues
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import RoleComparison, Swap
from forestalign.meaning.scales import ScaleComparison
from forestalign.meaning.substitutions import find_substitutions
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment

Words = tuple[int, ...]
ORDER = (OPPOSITE, OTHER_ROLES, DIFFERENT)  # of relations, where a pair has marks of several kinds
_OF_RELATION = {OPPOSITE: kinds.OPPOSITE, DIFFERENT: kinds.NUMBER, OTHER_ROLES: kinds.ROLES}
_OWN_WORD = frozenset({"lexicon", "quantity", "acronym"})  # evidence that says a relation by itself
_SAME_KIND = ("NN", "VB", "JJ", "RB", "IN", "DT", "CD", "RP")  # beginnings of tags of words that can be opposites
_NEAR_KINDS = ({"IN", "TO"}, {"JJ", "RB"}, {"JJ", "VB"}, {"IN", "RP", "RB"}, {"NN", "DT", "CD", "RB"})
_GRADED = frozenset({"JJR", "RBR", "JJ", "RB"})
_MODIFIERS = ("amod", "advmod", "det", "nummod")


class AlignedPhrases(NamedTuple):
    """A pair of phrases as contradictions look at it: what evidence says of it, and whether pairs lie below it."""

    source: Span
    target: Span
    relation: str
    evidence: tuple[str, ...]
    is_composed: bool

    def mirrored(self) -> AlignedPhrases:
        """The pair with source and target swapped."""
        return self._replace(source=self.target, target=self.source)


class _Mark(NamedTuple):
    """A contradiction, the words that have to be inside a pair beside its own, and the word it denies, if any."""

    said: Difference
    around: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    anchor: int = -1  # of the source, or of the target where the source has none
    is_target_anchor: bool = False
    is_silent: bool = False  # it contradicts nothing by itself, but takes back another one

    def is_inside(self, source: Span, target: Span) -> bool:
        held = Difference("", *self.around, "")
        return self.said.is_inside(source, target) and held.is_inside(source, target)


class _Taken(NamedTuple):
    """Marks that are no contradiction in a pair that holds all of them and these words."""

    marks: tuple[int, ...]
    words: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Contradictions:
    """All marks of two aligned sentences, and which of them take each other back."""

    marks: tuple[_Mark, ...]
    taken: tuple[_Taken, ...]

    def inside(self, source: Span, target: Span) -> tuple[Difference, ...]:
        """The contradictions of a pair of phrases."""
        held = {k for k, mark in enumerate(self.marks) if mark.is_inside(source, target)}
        for taken in self.taken:
            words = Difference("", *taken.words, "")
            if held.issuperset(taken.marks) and words.is_inside(source, target):
                held.difference_update(taken.marks)
        return tuple(self.marks[k].said for k in sorted(held) if not self.marks[k].is_silent)

    def mirrored(self, source: Sentence, target: Sentence) -> Contradictions:
        """Contradictions seen from the other sentence, which is `source` now; no mark is taken back from here on."""
        marks = tuple(
            _Mark(
                _turned(mark.said, source, target),
                mark.around[::-1],
                is_silent=mark.is_silent,
            )
            for mark in self.marks
        )
        return Contradictions(marks, tuple(_Taken(taken.marks, taken.words[::-1]) for taken in self.taken))


def _turned(said: Difference, source: Sentence, target: Sentence) -> Difference:
    return describe(said.kind, said.target, said.source, source, target)


def find_contradictions(
    source: Reading,
    target: Reading,
    links: WordAlignment,
    pairs: Sequence[AlignedPhrases],
    correspondences: Sequence[Correspondence],
) -> Contradictions:
    """The marks of two sentences with their links and pairs of phrases, supports first, and what lines say.

    They are looked for from one of the sentences to the other, and of many that are alike the first is taken; the order
    of their words decides from which, so that the sentences in the other order have the same marks.
    """
    if source.sentence.words > target.sentence.words:
        turned = [pair.mirrored() for pair in pairs], [each.mirrored() for each in correspondences]
        found = find_contradictions(target, source, links.mirrored(), *turned)
        return found.mirrored(source.sentence, target.sentence)
    comparison = RoleComparison.of(source, target, links, load_wordnet())
    finder = _Finder(comparison, pairs, correspondences)
    opposites = [*finder.opposites(), *finder.degrees()]
    marks = [*opposites, *finder.negations(opposites), *finder.values(), *map(_Mark, finder.on_scales)]
    marks += finder.of_phrases(marks)
    swaps = comparison.swaps()
    marks += finder.substitutions(marks, swaps)
    roles = [finder.role_mark(swap) for swap in swaps]
    return Contradictions((*marks, *(mark for mark, _ in roles)), tuple(finder.taken_back(marks, roles)))


class _Finder:
    def __init__(
        self, comparison: RoleComparison, pairs: Sequence[AlignedPhrases], correspondences: Sequence[Correspondence]
    ):
        self.roles, self.pairs, self.wordnet = comparison, pairs, comparison.wordnet
        self.correspondences = correspondences
        self.source, self.target = comparison.source, comparison.target
        self.linked = {*comparison.partner.items(), *_word_pairs(pairs), *comparison.scores}

    @cached_property
    def negated(self) -> tuple[Sequence[Negation], Sequence[Negation]]:
        """The negations of both sides."""
        return find_negations(self.source), find_negations(self.target)

    @cached_property
    def settled(self) -> list[Finding]:
        """What says the same in other words; most pairs have nothing that has to ask."""
        return [each for each in self._findings() if each.relation in (EQUAL, SIMILAR)]

    def _findings(self) -> Iterator[Finding]:
        """What other words say the same: quantities in other units, and lines of the grammar."""
        yield from quantity_findings(self.source.parts, self.target.parts)
        for each in self.correspondences:
            if not each.is_opposite and not each.swapped and (each.source.has_content or each.target.has_content):
                yield Finding(each.source.words, each.target.words, EQUAL)

    def _is_settled(self, i: int, j: int) -> bool:
        return any(i in each.source and j in each.target for each in self.settled)

    def _is_negation(self, i: int, j: int) -> bool:
        """Whether either word negates, which is no opposite: *never*, *nothing*; *without* is one of *with*."""
        sides = (self.source.sentence, i), (self.target.sentence, j)
        return any(each.words[word].lower() in negation_words() and each.tags[word] != "IN" for each, word in sides)

    # ---- marks ----

    def opposites(self) -> list[_Mark]:
        """Linked words that are opposites, and words without a partner that are."""
        free = (
            _free(self.source.sentence, {i for i, _ in self.linked}),
            _free(self.target.sentence, {j for _, j in self.linked}),
        )
        pairs = sorted({*self.linked, *((i, j) for i in free[0] for j in free[1] if self._have_one_head(i, j))})
        taken: tuple[set[int], set[int]] = (set(), set())
        found = []
        for i, j in pairs:
            if i in taken[0] or j in taken[1] or not self._are_opposites(i, j):
                continue
            if self._is_negation(i, j) or any(i in each.source and j in each.target for each in self.on_scales):
                continue
            taken[0].add(i)
            taken[1].add(j)
            found.append(_Mark(self._said(kinds.OPPOSITE, (i,), (j,)), anchor=i))
        return found

    def _have_one_head(self, i: int, j: int) -> bool:
        """Whether two words without partners say something of partners, or are the top of their sentences."""
        heads = self.source.dependencies.heads[i], self.target.dependencies.heads[j]
        return max(heads) < 0 or self.roles.partner.get(heads[0], -2) == heads[1]

    def _are_opposites(self, i: int, j: int) -> bool:
        tags = self.source.sentence.tags[i], self.target.sentence.tags[j]
        is_one_kind = any(tags[0].startswith(kind) and tags[1].startswith(kind) for kind in _SAME_KIND)
        is_one_kind |= any({tag[:2] for tag in tags} <= kinds for kinds in _NEAR_KINDS)
        if not is_one_kind or self.source.lemmas[i] == self.target.lemmas[j]:
            return False
        pairs = product(readings(self.source.sentence, i), readings(self.target.sentence, j))
        degrees = meaning_words().degrees
        are_opposed = (i, j) in self.opposed or any(
            frozenset(each) in degrees or are_opposites(*each, self.wordnet) for each in pairs
        )
        is_of_one = self._relate_the_same(i, j)
        return are_opposed and is_of_one and not self._is_settled(i, j) and not self.roles.may_be_conversive(i, j)

    @cached_property
    def opposed(self) -> frozenset[tuple[int, int]]:
        """The heads of what lines of the grammar call opposites, where no negation is among the words."""
        return frozenset(
            (each.source.head, each.target.head)
            for each in self.correspondences
            if each.is_opposite
            and not each.swapped
            and not any(self.source.sentence.words[word].lower() in negation_words() for word in each.source.words)
            and not any(self.target.sentence.words[word].lower() in negation_words() for word in each.target.words)
        )

    def _relate_the_same(self, i: int, j: int) -> bool:
        """Whether two prepositions join partners to what means the same: *from Rome* and *to Rome* after one word."""
        sides = (self.source.dependencies, i), (self.target.dependencies, j)
        if any(found.relations[word] != "case" for found, word in sides):
            return True
        nouns = [found.heads[word] for found, word in sides]
        heads = [found.heads[noun] for (found, _), noun in zip(sides, nouns, strict=True)]
        are_partners = self.roles.partner.get(nouns[0]) == nouns[1]
        return are_partners and (min(heads) < 0 or self.roles.mean_the_same(*heads))

    def degrees(self) -> list[_Mark]:
        """*Safer* and *less safe*; *more safe* and *less safe* are opposites by their words."""
        found = []
        for i, j in sorted(self.roles.partner.items()):
            less = less_of(self.source, i), less_of(self.target, j)
            more = (self.target.sentence, j) if less[0] >= 0 else (self.source.sentence, i)
            if (less[0] < 0) == (less[1] < 0) or not is_compared(*more):
                continue
            if readings(self.source.sentence, i) & readings(self.target.sentence, j):
                sides = tuple([k for k in (less[0], i) if k >= 0]), tuple([k for k in (less[1], j) if k >= 0])
                found.append(_Mark(self._said(kinds.OPPOSITE, *sides), anchor=i))
        return found

    def negations(self, opposites: Sequence[_Mark]) -> list[_Mark]:
        """Negations of one side only that nothing makes up for."""
        words = (
            frozenset(word for mark in opposites for word in mark.said.source),
            frozenset(word for mark in opposites for word in mark.said.target),
        )
        marks = []
        for each in Denials(self.roles, words, self.settled, self.negated).one_sided():
            cues = (each.negation.cue,)
            said = self._said(kinds.NEGATION, *(((), cues) if each.is_target else (cues, ())))
            mark = _Mark(said, anchor=each.negation.predicate, is_target_anchor=each.is_target)
            marks.append(mark._replace(is_silent=each.is_silent))
        return marks

    def values(self) -> list[_Mark]:
        """Numbers at the same place that are not the same value."""
        smallest = [(pair.source, pair.target) for pair in self.pairs if not pair.is_composed]
        values = DifferentValues(self.roles, smallest, frozenset(self.linked), self.settled)
        return [_Mark(self._said(kinds.NUMBER, *each)) for each in values.found()]

    @cached_property
    def on_scales(self) -> tuple[Difference, ...]:
        """Values of one scale that are far apart, and names of one kind that are not the same."""
        explained = (
            frozenset(word for each in self.settled for word in each.source),
            frozenset(word for each in self.settled for word in each.target),
        )
        negated = (
            frozenset(each.predicate for each in self.negated[0]),
            frozenset(each.predicate for each in self.negated[1]),
        )
        return tuple(ScaleComparison(self.source, self.target, self.roles.partner, explained, negated).differences())

    def substitutions(self, marks: Sequence[_Mark], swaps: Sequence[Swap]) -> list[_Mark]:
        """Other words in one place, where no other mark or evidence says more of them."""
        evidence = [pair for pair in self.pairs if pair.relation == EQUAL and not _OWN_WORD.isdisjoint(pair.evidence)]
        explained = (
            {
                *(word for mark in marks for word in mark.said.source),
                *(word for each in self.settled for word in each.source),
                *(word for swap in swaps for word in swap.source),
                *(word for pair in evidence for word in range(*pair.source)),
            },
            {
                *(word for mark in marks for word in mark.said.target),
                *(word for each in self.settled for word in each.target),
                *(word for swap in swaps for word in swap.target),
                *(word for pair in evidence for word in range(*pair.target)),
            },
        )
        found = find_substitutions(
            self.source, self.target, self.roles.scores, self.roles.partner, self.wordnet, explained
        )
        return [_Mark(each) for each in found]

    def of_phrases(self, marks: Sequence[_Mark]) -> list[_Mark]:
        """Pairs of phrases that evidence itself calls opposite or different, where no word does."""
        found: list[_Mark] = []
        for pair in sorted(self.pairs, key=_size):
            is_own = not pair.is_composed or pair.relation == DIFFERENT  # of a value as a whole: 12 million dollars
            is_said = is_own and not _OWN_WORD.isdisjoint(pair.evidence) and pair.relation in AGAINST
            if is_said and not any(mark.is_inside(pair.source, pair.target) for mark in (*marks, *found)):
                said = self._said(_OF_RELATION[pair.relation], tuple(range(*pair.source)), tuple(range(*pair.target)))
                found.append(_Mark(said, anchor=pair.source.begin))
        return found

    def role_mark(self, swap: Swap) -> tuple[_Mark, Swap]:
        """Two words that changed places."""
        said = self._said(kinds.ROLES, swap.source, tuple(sorted(swap.target)))
        return _Mark(said, around=swap.predicates), swap

    def _said(self, kind: str, own: Words, other: Words) -> Difference:
        return describe(kind, own, other, self.source.sentence, self.target.sentence)

    # ---- what takes marks back ----

    def taken_back(self, marks: Sequence[_Mark], roles: Sequence[tuple[_Mark, Swap]]) -> Iterator[_Taken]:
        """Even numbers of opposites and negations of one word, comparisons turned round, events from the other side."""
        flips = [k for k, mark in enumerate(marks) if mark.said.relation == OPPOSITE]
        used: set[int] = set()
        for number, (_, swap) in enumerate(roles, len(marks)):
            if any(set(swap.source) <= {word for _, word in each.source.fillers} for each in self.converses):
                yield _Taken((number,), ((), ()))
                continue
            turning = [k for k in flips if k not in used and self._turns(marks[k], swap)]
            if len(turning) % 2:
                used.update(turning)
                yield _Taken((*turning, number), ((), ()))
        for k in flips:
            if k not in used and marks[k].said.source and (events := self._turned_events(marks[k])):
                used.add(k)
                yield _Taken((k,), events)
        free = [k for k in flips if k not in used]
        while free:
            first = free.pop(0)
            second = next((k for k in free if self._is_near(marks[first], marks[k])), None)
            if second is not None:
                free.remove(second)
                yield _Taken((first, second), ((), ()))

    @cached_property
    def converses(self) -> list[Correspondence]:
        """Lines that say the same and hold at least two fillers that are partners."""
        return [
            each
            for each in self.correspondences
            if not each.is_opposite
            and not each.swapped
            and sum(self.roles.partner.get(word) == each.target.filler(letter) for letter, word in each.source.fillers)
            > 1
        ]

    def _turns(self, flip: _Mark, swap: Swap) -> bool:
        """Whether an opposite turns a comparison round."""
        return swap.is_comparison and any(self.source.sentence.tags[word] in _GRADED for word in flip.said.source)

    def _turned_events(self, flip: _Mark) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The two events of *before* and *after*, where what one side puts above the other side puts below."""
        below = self.source.dependencies.heads[flip.said.source[0]]
        if len(flip.said.source) != 1 or below not in self.roles.partner:
            return None
        for above, _ in self.source.places[below]:
            other = self.roles.partner.get(above)
            if other is not None and any(
                place.predicate == self.roles.partner[below] for place in self.target.places[other]
            ):
                return (below, above), (self.roles.partner[below], other)
        return None

    def _is_near(self, one: _Mark, other: _Mark) -> bool:
        """Whether two marks are about one word, or about a word and what it governs, on either side."""
        with_heads = kinds.NEGATION in {one.said.kind, other.said.kind}
        return any(
            side.distance(first, second) < 2
            for side, is_target in ((self.source, False), (self.target, True))
            for first in self._anchors(one, is_target, with_heads)
            for second in self._anchors(other, is_target, with_heads)
        )

    def _anchors(self, mark: _Mark, is_target: bool, with_heads: bool) -> list[int]:
        """The word of a side that a mark is about; beside a negation, an opposite that modifies a noun is about it."""
        side, word = self.target if is_target else self.source, mark.anchor
        if mark.is_target_anchor != is_target:
            words = mark.said.target if is_target else mark.said.source
            partners = self.roles.partner if is_target else self.roles.back
            word = words[0] if len(words) == 1 else partners.get(mark.anchor, -1)
        if word < 0:
            return []
        relation, head = side.dependencies.relations[word], side.dependencies.heads[word]
        if not with_heads or mark.said.kind != kinds.OPPOSITE or head < 0:
            return [word]
        if relation == "case":  # *without a ticket*: about what it is done with or without
            return [word, side.dependencies.heads[head]]
        return [word, head] if relation in _MODIFIERS else [word]


def _word_pairs(pairs: Sequence[AlignedPhrases]) -> Iterator[tuple[int, int]]:
    for pair in pairs:
        if pair.source.end - pair.source.begin == pair.target.end - pair.target.begin == 1:
            yield pair.source.begin, pair.target.begin


def _size(pair: AlignedPhrases) -> tuple[int, Span, Span]:
    """By this the small ones stand first, from whichever sentence the pairs were found."""
    return sum(span.end - span.begin for span in (pair.source, pair.target)), pair.source, pair.target


def _phrase(sentence: Sentence, words: Words) -> str:
    return sentence.phrase(Span(words[0], words[-1] + 1)) if words else ""


def _free(sentence: Sentence, linked: set[int]) -> list[int]:
    tokens = sentence.tokens
    return [k for k in range(len(tokens)) if k not in linked and word_class(tokens[k]) == WordClass.CONTENT]
