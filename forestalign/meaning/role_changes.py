"""Aligned predicates and what became of their arguments: the same, swapped, other, missing.

A word stands at a place: a predicate and a role (`role_frames`). If it is still where the word links lead, nothing
changed. If another word stands there, and that one came from where ours is now, the two changed places. A head that
became the dependent of its own dependent (*the king of the city*, *the city of the king*) changed places with it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import NamedTuple

from forestalign.lexicon import WordNet
from forestalign.lexicon.wordnet import are_opposites, conversives
from forestalign.meaning.matcher import Correspondence
from forestalign.meaning.readings import SUBJECT, THAN, Reading
from forestalign.words.alignment import WordLink

_MOVABLE = ("NN", "PRP", "CD", "JJ", "VB")  # beginnings of the tags of words that can change places
_MOST_VERBS = 4  # of one name that are paired by their arguments
_SURE = 0.6  # a link of two different words that says they are the same


class ArgumentKind(StrEnum):
    """What became of an argument."""

    SAME = "same"
    SWAPPED = "swapped"
    OTHER = "other"  # another word stands at its place
    MISSING = "missing"  # nothing does


class AlignedArgument(NamedTuple):
    """An argument of the source with its partner; `role` has the names of the role, the first by the alphabet."""

    kind: ArgumentKind
    role: str
    source: int
    target: int


class AlignedPredicate(NamedTuple):
    """Two predicates, by the numbers of their words, and the arguments of the source."""

    source: int
    target: int
    arguments: tuple[AlignedArgument, ...]


class Swap(NamedTuple):
    """Two words that changed places; `source` and `target` are in the order of the source."""

    source: tuple[int, int]
    target: tuple[int, int]
    predicates: tuple[tuple[int, ...], tuple[int, ...]]  # below which they stand, on both sides
    is_comparison: bool  # one of them stands behind *than*


@dataclass(frozen=True, slots=True)
class RoleComparison:
    """Two sentences with the surest partner of each word."""

    source: Reading
    target: Reading
    partner: dict[int, int]  # of source words
    back: dict[int, int]
    scores: dict[tuple[int, int], float]
    wordnet: WordNet

    @classmethod
    def of(
        cls,
        source: Reading,
        target: Reading,
        links: Iterable[WordLink],
        wordnet: WordNet,
        correspondences: Iterable[Correspondence] = (),
    ) -> RoleComparison:
        """Words are partners if each is the best of the other, and verbs that a line of the grammar calls equal."""
        scores: dict[tuple[int, int], float] = {}
        for link in links:
            scores[link.source, link.target] = max(scores.get((link.source, link.target), 0.0), link.score)
        own, other = source.lemmas, target.lemmas
        ranks = {pair: (own[pair[0]] == other[pair[1]], round(score, 2)) for pair, score in scores.items()}
        best: dict[int, tuple[int, int]] = {}
        best_back: dict[int, tuple[int, int]] = {}
        for pair in sorted(ranks, key=lambda pair: (ranks[pair], -pair[0] - pair[1], -abs(pair[0] - pair[1]))):
            best[pair[0]] = best_back[pair[1]] = pair
        partner = {i: pair[1] for i, pair in best.items() if best_back[pair[1]] == pair}
        _pair_by_modifiers(source, target, partner)
        _add_same_words(source, target, partner)
        _pair_by_arguments(source, target, partner)
        for each in correspondences:
            i, j, said = each.source.head, each.target.head, each.source.has_content and each.target.has_content
            are_verbs = source.sentence.tags[i][:2] == target.sentence.tags[j][:2] == "VB"
            if said and are_verbs and not (each.is_opposite or each.swapped or i in partner or j in partner.values()):
                partner[i] = j
        return cls(source, target, partner, {j: i for i, j in partner.items()}, scores, wordnet)

    # ---- arguments ----

    def predicates(self) -> tuple[AlignedPredicate, ...]:
        """All aligned predicates that have arguments with partners."""
        swapped = {pair for swap in self.swaps() for pair in zip(swap.source, swap.target, strict=True)}
        found = []
        for predicate, other in sorted(self.partner.items()):
            arguments = tuple(
                AlignedArgument(self._kind(word, roles, other, predicate, swapped), min(roles), word, partner)
                for word, roles in self.source.arguments[predicate]
                if (partner := self.partner.get(word)) is not None
            )
            if arguments:
                found.append(AlignedPredicate(predicate, other, arguments))
        return tuple(found)

    def _kind(
        self, word: int, roles: frozenset[str], other: int, predicate: int, swapped: set[tuple[int, int]]
    ) -> ArgumentKind:
        partner = self.partner[word]
        if (word, partner) in swapped:
            return ArgumentKind.SWAPPED
        held = self.target.fillers(other, self._translated(predicate, other, roles))
        below = [argument for argument, _ in self.target.arguments[other]]
        if partner in held or (partner in below and not held):
            return ArgumentKind.SAME
        return ArgumentKind.OTHER if held else ArgumentKind.MISSING

    def _translated(self, predicate: int, other: int, roles: frozenset[str]) -> frozenset[str]:
        """The roles of a source predicate as the target one names them: the buyer is whom something is sold to."""
        lemmas = self.source.lemmas[predicate], self.target.lemmas[other]
        table = conversives().get(lemmas)
        if table is None:
            return roles
        turned = frozenset(right for left, right in table if left in roles)
        return roles | turned if lemmas[0] == lemmas[1] else turned or roles

    def may_be_conversive(self, predicate: int, other: int) -> bool:
        """Whether two predicates can tell one event: nobody stands on the same side of both (*a shop that sells it*,
        *where you can buy it*)."""
        table = conversives().get((self.source.lemmas[predicate], self.target.lemmas[other]))
        return table is not None and not any(
            (partner := self.partner.get(word)) is not None
            and partner in self.target.fillers(other, roles & {left for left, right in table if left != right})
            for word, roles in self.source.arguments[predicate]
        )

    # ---- changes of places ----

    def swaps(self) -> tuple[Swap, ...]:
        """All pairs of words that changed places, each once."""
        found: dict[tuple[int, int], Swap] = {}
        for swap in (*self._exchanged(), *self._turned_edges()):
            if self._is_sure(swap):
                found.setdefault(swap.source, swap)
        return tuple(found[key] for key in sorted(found))

    def _exchanged(self) -> Iterator[Swap]:
        for word, partner in sorted(self.partner.items()):
            for predicate, roles in self.source.places[word]:
                other = self.partner.get(predicate)
                held = [] if other is None else self._fillers(predicate, other, roles)
                if other is None or partner in held:
                    continue
                for now in held:
                    before = self.back.get(now)
                    if before is None or before == word:
                        continue
                    for second, its in self.source.places[before]:
                        if self._stands(partner, second, its) and not self._still(before, now):
                            yield self._swap(word, before, (predicate, second), THAN in roles | its)

    def displaced(self, correspondences: Iterable[Correspondence]) -> list[int]:
        """Words that no place of theirs leads to their partners, nor a line of the grammar."""
        lines = [each.source for each in correspondences if not each.is_opposite]
        told = {word for each in lines for word in (*each.words, *(filler for _, filler in each.fillers))}
        found = []
        for word in sorted(self.partner.keys() - told):
            known = [place for place in self.source.places[word] if place.predicate in self.partner]
            kinds = {self._kind(word, roles, self.partner[head], head, set()) for head, roles in known}
            if kinds and ArgumentKind.SAME not in kinds:
                found.append(word)
        return found

    def _fillers(self, predicate: int, other: int, roles: frozenset[str]) -> list[int]:
        return self.target.fillers(other, self._translated(predicate, other, roles))

    def _stands(self, word: int, predicate: int, roles: frozenset[str]) -> bool:
        """Whether a word of the target stands where this place of the source leads."""
        other = self.partner.get(predicate)
        return other is not None and word in self._fillers(predicate, other, roles)

    def _still(self, word: int, partner: int) -> bool:
        """Whether a word has kept one of its places."""
        return any(self._stands(partner, predicate, roles) for predicate, roles in self.source.places[word])

    def _turned_edges(self) -> Iterator[Swap]:
        """Heads that became dependents of their dependents in the same role."""
        for word, partner in sorted(self.partner.items()):
            for head, roles in self.source.places[word]:
                other = self.partner.get(head)
                if other is None:
                    continue
                for above, its in self.target.places[other]:
                    is_turned = above == partner and its == roles and self._are_alike(word, head)
                    if is_turned and not self._is_identity(word, head, roles):
                        yield self._swap(word, head, (), THAN in roles)

    def _are_alike(self, *words: int) -> bool:
        """Whether words and their partners are of one kind each."""
        tags = self.source.sentence.tags, self.target.sentence.tags
        return all(tags[0][word][:2] == tags[1][self.partner[word]][:2] for word in words)

    def _is_identity(self, word: int, head: int, roles: frozenset[str]) -> bool:
        """*Paris is a city* says what *a city is Paris* says; *dogs are animals* cannot be turned round."""
        if roles != {SUBJECT} or self.source.sentence.tags[head][:2] == "VB":
            return False
        has_name = any(self.source.is_name(each) for each in (word, head))
        return has_name or (self.source.is_definite(word) and self.source.is_definite(head))

    def _swap(self, word: int, other: int, predicates: tuple[int, ...], is_comparison: bool) -> Swap:
        own = tuple(sorted((word, other)))
        places = tuple(sorted({each for each in predicates if each not in own}))
        return Swap(
            (own[0], own[1]),
            (self.partner[own[0]], self.partner[own[1]]),
            (places, tuple(sorted(self.partner[each] for each in places))),
            is_comparison,
        )

    def _are_told_apart(self, swap: Swap) -> bool:
        """Whether two things of one name are other ones by their modifiers, and each is what its partner is."""
        own = [self.source.modifiers(word) for word in swap.source]
        return own[0] != own[1] and all(own) and own == [self.target.modifiers(word) for word in swap.target]

    def _is_sure(self, swap: Swap) -> bool:
        """Two different words of kinds that change places, each with a partner that is the same word or as good."""
        tags = self.source.sentence.tags, self.target.sentence.tags
        lemmas = [self.source.lemmas[word] for word in swap.source]
        others = [self.target.lemmas[word] for word in swap.target]
        pairs = zip(swap.source, swap.target, strict=True)
        if not all(tags[0][i].startswith(_MOVABLE) or tags[1][j].startswith(_MOVABLE) for i, j in pairs):
            return False
        if self.source.are_coordinated(*swap.source) and self.target.are_coordinated(*swap.target):
            return False
        if lemmas[0] == lemmas[1] == others[0] == others[1]:
            return self._are_told_apart(swap)
        if lemmas[0] == lemmas[1] or others[0] == others[1]:
            return False
        if lemmas[0] == others[1] or lemmas[1] == others[0]:
            return False
        return all(self.mean_the_same(i, j) for i, j in zip(swap.source, swap.target, strict=True))

    def mean_the_same(self, word: int, partner: int) -> bool:
        """Whether two words are the same or as good: by the lexicon, or by a sure link."""
        own, other = self.source.lemmas[word], self.target.lemmas[partner]
        if own == other or self.wordnet.are_synonyms(own, other) or self.wordnet.are_derivations(own, other):
            return True
        return self.scores.get((word, partner), 0.0) >= _SURE and not are_opposites(own, other, self.wordnet)


def _pair_by_modifiers(source: Reading, target: Reading, partner: dict[int, int]) -> None:
    """Things of one name, of which both sides have several, are partners by what tells them apart: *this* and *last*.

    Word links go by the place where all else is the same.
    """
    sides = [_things_by_name(frames) for frames in (source, target)]
    for name in sorted(sides[0].keys() & sides[1].keys()):
        own, other = sides[0][name], sides[1][name]
        alike = [(i, j) for i, its in own.items() for j, theirs in other.items() if its & theirs]
        firsts, seconds = Counter(i for i, _ in alike), Counter(j for _, j in alike)
        told = {i: j for i, j in alike if firsts[i] == seconds[j] == 1}
        for word in [each for each, held in partner.items() if held in told.values()]:
            del partner[word]
        partner |= told


def _things_by_name(frames: Reading) -> dict[str, dict[int, frozenset[str]]]:
    """The modifiers of nouns that a sentence has several times, by name."""
    names: dict[str, dict[int, frozenset[str]]] = {}
    for word, tag in enumerate(frames.sentence.tags):
        if tag.startswith("NN"):
            names.setdefault(frames.lemmas[word], {})[word] = frames.modifiers(word)
    return {name: words for name, words in names.items() if len(words) > 1}


def _pair_by_arguments(source: Reading, target: Reading, partner: dict[int, int]) -> None:
    """Verbs of one name, of which both sides have as many, are partners by their arguments, or else by their order.

    Word links go by the place, so that the conjuncts of *involved trains and involved deaths* would seem to change
    their objects when they change places. Only arguments that a sentence has once can tell.
    """
    sides = [_verbs_by_name(frames) for frames in (source, target)]
    for name in sorted(sides[0].keys() & sides[1].keys()):
        own, other = sides[0][name], sides[1][name]
        if not len(own) == len(other) <= _MOST_VERBS or any(partner.get(i) not in other for i in own):
            continue
        shared = {(i, j): _shared_arguments(source, target, partner, i, j) for i in own for j in other}
        ways = {way: sum(shared[each] for each in zip(own, way, strict=True)) for way in permutations(other)}
        best = [way for way, count in ways.items() if count and count == max(ways.values())]
        if len(best) == 1 or tuple(other) in best:
            partner |= dict(zip(own, best[0], strict=True))  # the first is in the order of the sentence


def _verbs_by_name(frames: Reading) -> dict[str, list[int]]:
    """The verbs that a sentence has several times, by name."""
    names: dict[str, list[int]] = {}
    for word, tag in enumerate(frames.sentence.tags):
        if tag.startswith("VB") and frames.arguments[word]:
            names.setdefault(frames.lemmas[word], []).append(word)
    return {name: words for name, words in names.items() if len(words) > 1}


def _shared_arguments(source: Reading, target: Reading, partner: dict[int, int], i: int, j: int) -> int:
    """How many arguments of two verbs are partners of each other, of those that their sentence has once."""
    lemmas = Counter(source.lemmas)
    below = {word for word, _ in target.arguments[j]}
    return sum(partner.get(word) in below and lemmas[source.lemmas[word]] == 1 for word, _ in source.arguments[i])


def _add_same_words(source: Reading, target: Reading, partner: dict[int, int]) -> None:
    """A word that stands once on each side, without a partner on either: *two* in another place."""
    taken = set(partner.values())
    free = [
        {
            k: frames.lemmas[k]
            for k, tag in enumerate(frames.sentence.tags)
            if k not in held and (tag.startswith(_MOVABLE) or frames.places[k])
        }
        for frames, held in ((source, partner), (target, taken))
    ]
    for i, lemma in free[0].items():
        same = [j for j, other in free[1].items() if other == lemma]
        if len(same) == 1 and list(free[0].values()).count(lemma) == 1:
            partner[i] = same[0]
