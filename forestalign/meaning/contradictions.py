"""What makes two aligned sentences say different things, each with its words: opposites, negations, values, roles.

Marks are found on words, by links, dependencies and lexicon. A pair of phrases contradicts itself if a mark lies inside
it and nothing else inside it takes the mark back: a negation and an opposite of the same word (*did not like*,
*disliked*), an opposite and a comparison turned round (*larger than*, *smaller than*), an event told from its other end
(*left before he came*, *came after she left*). So a mark rises from two words to the whole.

*Not far from the bridge* denies *far*; a sentence that has no *far* (*near the bridge*) is not contradicted. Words that
say as much as a negation make up for one: *instead of*, *too late*, *homeless* (grammar/near_negations.txt). *No other
is as fast* says what a superlative or a comparison turned round says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forestalign.grammar import near_negations
from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import AGAINST, DIFFERENT, EQUAL, OPPOSITE, OTHER_ROLES
from forestalign.lexicon.word_classes import meaning_words
from forestalign.lexicon.wordnet import PREFIXES
from forestalign.meaning import differences as kinds
from forestalign.meaning.claims import Negation, has_superlative, is_compared, path_up, standard_of
from forestalign.meaning.differences import Difference, describe
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import RoleComparison, Swap
from forestalign.meaning.word_changes import WordChanges
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment

ORDER = (OPPOSITE, OTHER_ROLES, DIFFERENT)  # of relations, where a pair has marks of several kinds
_OF_RELATION = {OPPOSITE: kinds.OPPOSITE, DIFFERENT: kinds.NUMBER, OTHER_ROLES: kinds.ROLES}
_OWN_WORD = frozenset({"lexicon", "quantity", "acronym"})  # evidence that says a relation by itself
_GRADED = frozenset({"JJR", "RBR", "JJ", "RB"})
_MODIFIERS = ("amod", "advmod", "det", "nummod")
_WITHIN = ("xcomp", "ccomp", "advmod", "amod", "obj")  # relations below a predicate that are part of what it says
_NAMES = ("NN", "PRP", "CD", "JJ", "DT")  # beginnings of the tags of words that name what is compared
_TOO = "too"  # behind which an adjective follows: too late


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
    """A contradiction, the words that have to be inside a pair beside its own, and the word it is about."""

    said: Difference
    around: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    anchor: int = -1  # of the source, or of the target where the source has none
    is_target_anchor: bool = False
    is_silent: bool = False  # it contradicts nothing by itself, but takes back another one

    def is_inside(self, source: Span, target: Span) -> bool:
        return self.said.is_inside(source, target) and _are_inside(self.around, source, target)


class _Taken(NamedTuple):
    """Marks that are no contradiction in a pair that holds all of them and these words."""

    marks: tuple[int, ...]
    words: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class Contradictions:
    """All marks of two aligned sentences, and which of them take each other back."""

    marks: tuple[_Mark, ...]
    taken: tuple[_Taken, ...]

    def inside(self, source: Span, target: Span) -> tuple[Difference, ...]:
        """The contradictions of a pair of phrases."""
        held = {k for k, mark in enumerate(self.marks) if mark.is_inside(source, target)}
        for taken in self.taken if held else ():
            if held.issuperset(taken.marks) and _are_inside(taken.words, source, target):
                held.difference_update(taken.marks)
        return tuple(self.marks[k].said for k in sorted(held) if not self.marks[k].is_silent)

    def mirrored(self, source: Sentence, target: Sentence) -> Contradictions:
        """Contradictions seen from the other sentence, which is `source` now; no mark is taken back from here on."""
        turned = [describe(mark.said.kind, mark.said.target, mark.said.source, source, target) for mark in self.marks]
        marks = [
            _Mark(said, mark.around[::-1], is_silent=mark.is_silent)
            for said, mark in zip(turned, self.marks, strict=True)
        ]
        return Contradictions(tuple(marks), tuple(_Taken(taken.marks, taken.words[::-1]) for taken in self.taken))


def _are_inside(words: tuple[tuple[int, ...], tuple[int, ...]], source: Span, target: Span) -> bool:
    return words == ((), ()) or Difference("", *words, "").is_inside(source, target)


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
    return _Finder(
        RoleComparison.of(source, target, links, load_wordnet(), correspondences), pairs, correspondences
    ).find()


class _Finder:
    def __init__(
        self, roles: RoleComparison, pairs: Sequence[AlignedPhrases], correspondences: Sequence[Correspondence]
    ):
        self.roles, self.pairs, self.correspondences = roles, pairs, correspondences
        self.source, self.target = self.sides = roles.source, roles.target
        smallest = [(pair.source, pair.target) for pair in pairs if not pair.is_composed]
        self.words = WordChanges(roles, smallest, correspondences)

    def find(self) -> Contradictions:
        """All marks, and which of them are taken back."""
        marks = [_Mark(said, anchor=_top(self.source, said.source)) for said in self.words.opposites()]
        marks += self.negations(marks)
        marks += map(_Mark, (*self.words.values(), *self.words.on_scales))
        marks += self.of_phrases(marks)
        swaps = self.roles.swaps()
        marks += map(_Mark, self.words.substitutions(self.explained(marks, swaps)))
        marks += self.turned_comparison(marks) if not swaps else []
        marks += self.other_fillers() if not (marks or swaps) else []
        first_role = len(marks)
        marks += [
            _Mark(self.words.say(kinds.ROLES, swap.source, tuple(sorted(swap.target))), swap.predicates)
            for swap in swaps
        ]
        return Contradictions(tuple(marks), tuple(self.taken_back(marks, first_role, swaps)) if marks else ())

    def of_phrases(self, marks: Sequence[_Mark]) -> list[_Mark]:
        """Pairs of phrases that evidence itself calls opposite or different, where no word does."""
        against = [
            pair
            for pair in self.pairs
            if pair.relation in AGAINST
            and (not pair.is_composed or pair.relation == DIFFERENT)  # of a value as a whole: 12 million dollars
            and not _OWN_WORD.isdisjoint(pair.evidence)
        ]
        found: list[_Mark] = []
        for pair in sorted(against, key=lambda each: (each.source.size + each.target.size, each.source, each.target)):
            words = tuple(range(*pair.source)), tuple(range(*pair.target))
            if not any(mark.is_inside(pair.source, pair.target) for mark in (*marks, *found)) and not any(
                set(words[0]) <= set(said.source) and set(words[1]) <= set(said.target)
                for said in self.words.equivalents
            ):  # not accept, turn down: said as a whole
                found.append(_Mark(self.words.say(_OF_RELATION[pair.relation], *words), anchor=pair.source.begin))
        return found

    def explained(self, marks: Sequence[_Mark], swaps: Sequence[Swap]) -> tuple[set[int], set[int]]:
        """The words of either side of which marks or other evidence say something already."""
        own, other = (set(words) for words in self.words.settled_words)
        said: list[Difference | Swap] = [*(mark.said for mark in marks), *swaps]
        for each in said:
            own.update(each.source)
            other.update(each.target)
        for pair in self.pairs:
            if pair.relation == EQUAL and not _OWN_WORD.isdisjoint(pair.evidence):
                own.update(range(*pair.source))
                other.update(range(*pair.target))
        return own, other

    def turned_comparison(self, marks: Sequence[_Mark]) -> list[_Mark]:
        """*More in the country than in the city*, *more in the city than in the country*; no word is turned, too."""
        if any(mark.said.relation == OPPOSITE for mark in marks) or not self._is_turned():
            return []
        degrees = [
            {lemma for k, lemma in enumerate(side.lemmas) if is_compared(side.sentence, k)} for side in self.sides
        ]
        if degrees[0].isdisjoint(degrees[1]):
            return []
        own, other = (tuple(sorted(standard_of(side))) for side in self.sides)
        return [_Mark(self.words.say(kinds.COMPARISON, own, other))]

    def other_fillers(self) -> list[_Mark]:
        """Lines of which two slots changed their fillers: *sued the bank*, *was taken to court by the bank*."""
        for each in self.correspondences:
            if len(each.swapped) > 1 and not each.is_opposite:
                own, other = (
                    tuple(sorted(one.filler(letter) for letter in each.swapped)) for one in (each.source, each.target)
                )
                return [_Mark(self.words.say(kinds.ROLES, own, other), (each.source.words, each.target.words))]
        return []

    # ---- negations ----

    def negations(self, opposites: Sequence[_Mark]) -> list[_Mark]:
        """Negations of one side only that nothing makes up for; of those that contradict nothing silent ones."""
        own, other = (list(each) for each in self.words.negations)
        if not (own or other):
            return []
        for one in list(own):
            match = next((each for each in other if self.roles.partner.get(one.predicate) == each.predicate), None)
            if match is not None:
                own.remove(one)
                other.remove(match)
        settled = self.words.settled_words
        opposed = {k for one in opposites for k in one.said.source}, {k for one in opposites for k in one.said.target}
        own = [each for each in own if each.cue not in settled[0] | opposed[0]]
        other = [each for each in other if each.cue not in settled[1] | opposed[1]]
        both, marks = min(len(own), len(other)), []
        for side, left in ((0, own[both:]), (1, other[both:])):
            affirmed = [each for each in left if self._is_affirmed(each, side) and not self._is_compared(each, side)]
            speaking = affirmed[self._near_negations(1 - side) :] if affirmed else []
            for each in left:
                said = self.words.say(kinds.NEGATION, *(((), (each.cue,)) if side else ((each.cue,), ())))
                marks.append(_Mark(said, ((), ()), each.predicate, bool(side), each not in speaking))
        return marks

    def _is_affirmed(self, negation: Negation, side: int) -> bool:
        """Whether the other side has all words that a negation is about; one about a negation is always heard."""
        heads = self.sides[side].dependencies.heads
        about = {heads[negation.cue], negation.predicate} - {-1, negation.cue}
        if any(each.cue in about for each in self.words.negations[side]):
            return True
        return all(self._has_same(word, side) for word in about | set(self._degrees_below(negation.predicate, side)))

    def _degrees_below(self, predicate: int, side: int) -> Iterator[int]:
        """Comparatives of what is denied: *do not let it get warmer than that* says that it stays below."""
        heads, relations = self.sides[side].dependencies.heads, self.sides[side].dependencies.relations
        for word in range(len(heads)):
            path = path_up(heads, word) if is_compared(self.sides[side].sentence, word) else []
            way = path[: path.index(predicate)] if predicate in path else []
            if way and all(relations[each].startswith(_WITHIN) for each in way):
                yield word

    def _has_same(self, word: int, side: int) -> bool:
        partner = (self.roles.partner, self.roles.back)[side].get(word)
        if partner is None:
            return False
        if self.sides[side].sentence.tags[word][:2] == "RB":  # linked for want of better ones: far, near
            return self.sides[side].lemmas[word] == self.sides[1 - side].lemmas[partner]
        return self.roles.mean_the_same(*((partner, word) if side else (word, partner)))

    def _is_compared(self, negation: Negation, side: int) -> bool:
        """*Not before May*; *no other is as fast*: the other side has the best, or compares from the other end."""
        own, other = self.sides[side], self.sides[1 - side]
        words, lists = own.sentence.lower_words, meaning_words()
        if words[negation.cue] not in lists.plain_negation:
            return False
        if not lists.bound.isdisjoint(words[negation.cue :]) and lists.bound.isdisjoint(other.sentence.lower_words):
            return True
        return self._is_turned() or (has_superlative(other) and not has_superlative(own))

    def _is_turned(self) -> bool:
        """Whether both sides compare, and each has before *than* what the other has behind it.

        *More people live in the suburb than in the province* is *fewer people live in the province than in the
        suburb*. Only words count, so that it does not matter which roles they have.
        """
        standards = standard_of(self.source), standard_of(self.target)
        return all(standards) and all(
            2 * sum(partners[word] not in other for word in named) > len(named)
            for side, own, partners, other in (
                (self.source, standards[0], self.roles.partner, standards[1]),
                (self.target, standards[1], self.roles.back, standards[0]),
            )
            for named in [[k for k in own if side.sentence.tags[k].startswith(_NAMES) and k in partners]]
        )

    def _near_negations(self, side: int) -> int:
        """How many words of a side say as much as a negation and have no partner that does."""
        own, other, partners = self.sides[side], self.sides[1 - side], (self.roles.partner, self.roles.back)[side]
        near = [word for word in range(len(own.lemmas)) if self._is_near_negation(own, word)]
        return sum(word not in partners or not self._is_near_negation(other, partners[word]) for word in near)

    def _is_near_negation(self, side: Reading, word: int) -> bool:
        """Whether a word says as much as a negation: by the list, or by its prefix or suffix."""
        lemma, tags = side.lemmas[word], side.sentence.tags
        if lemma == _TOO:
            return word + 2 < len(tags) and tags[word + 1][:2] in ("JJ", "RB")
        if lemma in near_negations() or tags[word][:2] not in ("JJ", "RB", "VB"):
            return lemma in near_negations()
        stem = next((lemma.removeprefix(each) for each in PREFIXES if lemma.startswith(each)), "")
        return lemma.endswith("less") or (len(stem) > 3 and stem in self.roles.wordnet)

    # ---- what takes marks back ----

    def taken_back(self, marks: Sequence[_Mark], first_role: int, swaps: Sequence[Swap]) -> Iterator[_Taken]:
        """Even numbers of opposites and negations of one word, comparisons turned round, events from the other side."""
        free = [k for k, mark in enumerate(marks) if mark.said.relation == OPPOSITE]
        converses = [
            {word for _, word in each.source.fillers}
            for each in (self.correspondences if swaps else ())
            if not (each.is_opposite or each.swapped)
            and sum(self.roles.partner.get(word) == each.target.filler(mark) for mark, word in each.source.fillers) > 1
        ]  # who stands where in lines that say the same
        for number, swap in enumerate(swaps, first_role):
            if any(fillers.issuperset(swap.source) for fillers in converses):
                yield _Taken((number,))
                continue
            turning = [k for k in free if swap.is_comparison and self._is_graded(marks[k])]
            if len(turning) % 2:
                free = [k for k in free if k not in turning]
                yield _Taken((*turning, number))
        graded = [k for k in free if self._is_graded(marks[k])]
        if not swaps and len(graded) % 2 and self._is_turned():  # you have more than we do, we have fewer than you
            free = [k for k in free if k not in graded]
            yield _Taken(tuple(graded))
        for k in list(free):
            events = self._turned_events(marks[k])
            if events is not None:
                free.remove(k)
                yield _Taken((k,), events)
        while free:
            first = free.pop(0)
            second = next((k for k in free if self._is_near(marks[first], marks[k])), None)
            if second is not None:
                free.remove(second)
                yield _Taken((first, second))

    def _is_graded(self, flip: _Mark) -> bool:
        return any(self.source.sentence.tags[word] in _GRADED for word in flip.said.source)

    def _turned_events(self, flip: _Mark) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The two events of *before* and *after*, where what one side puts above the other side puts below."""
        partner, words = self.roles.partner, flip.said.source
        below = self.source.dependencies.heads[words[0]] if len(words) == 1 else -1
        for above, _ in self.source.places[below] if below in partner else ():
            other = partner.get(above)
            if other is not None and any(place.predicate == partner[below] for place in self.target.places[other]):
                return (below, above), (partner[below], other)
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
        side, word = self.sides[is_target], mark.anchor
        if mark.is_target_anchor != is_target:
            words = mark.said.target if is_target else mark.said.source
            partners = self.roles.partner if is_target else self.roles.back
            word = _top(side, words) if words else partners.get(mark.anchor, -1)
        if word < 0:
            return []
        relation, head = side.dependencies.relations[word], side.dependencies.heads[word]
        if not with_heads or mark.said.kind != kinds.OPPOSITE or head < 0:
            return [word]
        if relation == "case":  # *without a ticket*: about what it is done with or without
            return [word, side.dependencies.heads[head]]
        return [word, head] if relation in _MODIFIERS else [word]


def _top(side: Reading, words: tuple[int, ...]) -> int:
    """The word that governs the others."""
    return next((k for k in words if set(path_up(side.dependencies.heads, k)[1:]).isdisjoint(words)), words[-1])
