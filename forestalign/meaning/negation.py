"""Negations: what a sentence denies, and whether the other sentence affirms it and nothing makes up for that.

What is denied is a predicate: *come* in *did not come*, *came* in *no guest came*. A verb denies, too: *failed* and
*come* in *failed to come*. *Not only*, *no less than* and their like deny nothing.

*Not far from the bridge* denies *far*; a sentence that has no *far* (*near the bridge*) is not contradicted. Words that
say as much as a negation make up for one: *instead of*, *too late*, *homeless* (grammar/near_negations.txt). *No other
is as fast* says what a superlative or a comparison turned round says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from forestalign.grammar import near_negations, negation_words
from forestalign.lexicon.findings import Finding
from forestalign.lexicon.oppositions import PREFIXES
from forestalign.lexicon.word_classes import meaning_words
from forestalign.meaning.comparisons import has_superlative, is_compared, is_turned, path_up
from forestalign.meaning.readings import Reading
from forestalign.meaning.role_changes import RoleComparison
from forestalign.tokens import standard_form

_WITHIN = ("xcomp", "ccomp", "advmod", "amod", "obj")  # relations below a predicate that are part of what it says
_WHETHER = ("or", "not")
_TOO = "too"  # behind which an adjective follows: too late


class Negation(NamedTuple):
    """The number of the negating word, and of the predicate that it denies."""

    cue: int
    predicate: int


def find_negations(frames: Reading) -> list[Negation]:
    """All negations of a sentence; *no ... nor* and *neither ... nor* are one."""
    words = [standard_form(word).lower().removeprefix("can ") for word in frames.sentence.words]
    found, denied = [], _denied_verbs(frames)
    for cue, word in enumerate(words):
        if cue in denied:
            found.append(Negation(cue, denied[cue]))
        if (word not in negation_words() and word not in meaning_words().denying) or _is_harmless(words, cue):
            continue
        if word == "nor" and any(each in meaning_words().before_nor for each in words[:cue]):
            continue
        found.append(Negation(cue, frames.predicate_over(cue)))
    return found


def _denied_verbs(frames: Reading) -> dict[int, int]:
    """Verbs that deny, and the verbs that they deny: *answer* in *failed to answer*."""
    words, tags, denied = frames.sentence.words, frames.sentence.tags, dict[int, int]()
    for cue, lemma in enumerate(frames.lemmas[:-1]):
        if tags[cue][:2] == "VB":
            following, verb = (words[cue + 1].lower(), cue + 2) if tags[cue + 1] != "VBG" else ("-ing", cue + 1)
            is_verb = verb < len(tags) and tags[verb][:2] == "VB"
            if is_verb and frozenset((lemma, following)) in meaning_words().denying_verbs:
                denied[cue] = verb
    return denied


def _is_harmless(words: list[str], cue: int) -> bool:
    following = words[cue + 1] if cue + 1 < len(words) else ""
    lists = meaning_words()
    if words[cue] in lists.before_harmless and following in lists.harmless:
        return not (following in lists.harmless_with_than and "than" not in words[cue + 2 : cue + 4])
    if words[cue] in lists.before_exception and not lists.exception.isdisjoint(words[cue + 1 :]):
        return True  # nothing ... except: only
    is_whether = cue > 0 and (words[cue - 1], words[cue]) == _WHETHER
    return is_whether or (words[cue] == "no" and following in (",", ""))


# ---- two sentences ----


class OneSided(NamedTuple):
    """A negation of one side; a silent one contradicts nothing, but takes back another one or an opposite beside it."""

    negation: Negation
    is_target: bool
    is_silent: bool


@dataclass(frozen=True)
class Denials:
    """Two sentences, the words of one each that opposites explain, and what says the same otherwise."""

    roles: RoleComparison
    explained: tuple[frozenset[int], frozenset[int]]
    settled: Sequence[Finding]
    negations: tuple[Sequence[Negation], Sequence[Negation]]

    @cached_property
    def sides(self) -> tuple[Reading, Reading]:
        """The role frames of source and target."""
        return self.roles.source, self.roles.target

    def one_sided(self) -> Iterator[OneSided]:
        """The negations of each side that the other does not have."""
        own, other = (list(each) for each in self.negations)
        for one in list(own):
            match = next((each for each in other if self.roles.partner.get(one.predicate) == each.predicate), None)
            if match is not None:
                own.remove(one)
                other.remove(match)
        own, other = self._unexplained(own, 0), self._unexplained(other, 1)
        both = min(len(own), len(other))
        for side, left in ((0, own[both:]), (1, other[both:])):
            speaking = self._that_contradict(left, side)
            yield from (OneSided(each, bool(side), each not in speaking) for each in left)

    def _unexplained(self, negations: Sequence[Negation], side: int) -> list[Negation]:
        """Negations of a side, but for those that opposites or other words of the other side explain."""
        words = {word for each in self.settled for word in (each.source, each.target)[side]} | self.explained[side]
        return [each for each in negations if each.cue not in words]

    def _that_contradict(self, negations: Sequence[Negation], side: int) -> list[Negation]:
        near = self._near_negations(1 - side)
        found = [each for each in negations if self._is_affirmed(each, side) and not self._is_compared(each, side)]
        return found[near:]

    def _is_affirmed(self, negation: Negation, side: int) -> bool:
        """Whether the other side has all words that a negation is about; one about a negation is always heard."""
        frames = self.sides[side]
        about = {frames.dependencies.heads[negation.cue], negation.predicate} - {-1, negation.cue}
        if any(each.cue in about for each in self.negations[side]):
            return True
        about |= set(self._degrees_below(negation.predicate, side))
        return all(self._has_same(word, side) for word in about)

    def _degrees_below(self, predicate: int, side: int) -> Iterator[int]:
        """Comparatives of what is denied: *do not let it get warmer than that* says that it stays below."""
        frames = self.sides[side]
        relations = frames.dependencies.relations
        for word in range(len(frames.sentence.tokens)):
            path = path_up(frames.dependencies.heads, word) if is_compared(frames.sentence, word) else []
            way = path[: path.index(predicate)] if predicate in path else []
            if way and all(relations[each].startswith(_WITHIN) for each in way):
                yield word

    def _has_same(self, word: int, side: int) -> bool:
        partner = (self.roles.partner, self.roles.back)[side].get(word)
        if partner is None:
            return False
        frames, other = self.sides[side], self.sides[1 - side]
        if frames.sentence.tags[word][:2] == "RB":  # links put adverbs together for want of better ones: far, near
            return frames.lemmas[word] == other.lemmas[partner]
        return self.roles.mean_the_same(*((partner, word) if side else (word, partner)))

    def _is_compared(self, negation: Negation, side: int) -> bool:
        """*Not before May*; *no other is as fast*: the other side has the best, or compares from the other end."""
        frames, other = self.sides[side], self.sides[1 - side]
        is_plain = frames.sentence.words[negation.cue].lower() in meaning_words().plain_negation
        if is_plain and self._has_bound(frames, negation.cue) and not self._has_bound(other, 0):
            return True
        return is_plain and (is_turned(self.roles) or (has_superlative(other) and not has_superlative(frames)))

    def _has_bound(self, frames: Reading, begin: int) -> bool:
        """*Not before May*, *not until noon*: from then on."""
        return any(word.lower() in meaning_words().bound for word in frames.sentence.words[begin:])

    def _near_negations(self, side: int) -> int:
        """How many words of a side say as much as a negation and have no partner that does."""
        frames, other = self.sides[side], self.sides[1 - side]
        partners = (self.roles.partner, self.roles.back)[side]
        count = 0
        for word in range(len(frames.sentence.tokens)):
            partner = partners.get(word)
            count += self._is_near(frames, word) and (partner is None or not self._is_near(other, partner))
        return count

    def _is_near(self, frames: Reading, word: int) -> bool:
        """Whether a word says as much as a negation: by the list, or by its prefix or suffix."""
        lemma, tags = frames.lemmas[word], frames.sentence.tags
        if lemma == _TOO:
            return word + 2 < len(tags) and tags[word + 1][:2] in ("JJ", "RB")
        if lemma in near_negations() or tags[word][:2] not in ("JJ", "RB", "VB"):
            return lemma in near_negations()
        stem = next((lemma.removeprefix(each) for each in PREFIXES if lemma.startswith(each)), "")
        return lemma.endswith("less") or (len(stem) > 3 and stem in self.roles.wordnet)
