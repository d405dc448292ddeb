"""Numbers of two sentences that stand at one place and are not the same value: *two* and *three*, *12 %* and *$12*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from forestalign.lexicon.findings import Finding
from forestalign.lexicon.numbers import same_number
from forestalign.lexicon.quantities import Measure, are_other_measures, find_measures
from forestalign.meaning.role_changes import RoleComparison
from forestalign.tokens import Sentence, Span


class DifferentValue(NamedTuple):
    """The words of two values."""

    source: tuple[int, ...]
    target: tuple[int, ...]


@dataclass(frozen=True)
class DifferentValues:
    """Two sentences, their smallest pairs of phrases, their pairs of words, and what says the same in other words."""

    roles: RoleComparison
    pairs: Sequence[tuple[Span, Span]]
    linked: frozenset[tuple[int, int]]
    settled: Sequence[Finding]

    @cached_property
    def sentences(self) -> tuple[Sentence, Sentence]:
        """Both sentences."""
        return self.roles.source.sentence, self.roles.target.sentence

    def found(self) -> Iterator[DifferentValue]:
        """Numbers at the same place that are not the same number, or of which the units are of two kinds."""
        taken: tuple[set[int], set[int]] = (set(), set())
        source, target = self.sentences
        for i, j in sorted({*self.linked, *self._at_one_place(), *self._of_phrases()}):
            if not (is_number(source, i) and is_number(target, j)) or i in taken[0] or j in taken[1]:
                continue
            value = self._other_measures(i, j) if self._are_same(i, j) else DifferentValue((i,), (j,))
            if value is None or self._is_in_settled(i, j) or self._has_equal(i, j):
                continue
            taken[0].update(value.source)
            taken[1].update(value.target)
            yield value

    def _are_same(self, i: int, j: int) -> bool:
        words = self.sentences[0].words[i], self.sentences[1].words[j]
        is_one_kind = _is_score(words[0]) == _is_score(words[1])  # *4-1* and *four* are not of one kind
        return same_number(*words) or words[0].lower() == words[1].lower() or not is_one_kind

    def _other_measures(self, i: int, j: int) -> DifferentValue | None:
        """*12 percent* and *12 million dollars*: one number, and nothing on either side that the other measures."""
        own, other = self._measures
        for left in own:
            for right in other:
                if i in left.tokens and j in right.tokens and are_other_measures(left, other, right, own):
                    return DifferentValue(left.tokens, right.tokens)
        return None

    @cached_property
    def _measures(self) -> tuple[tuple[Measure, ...], tuple[Measure, ...]]:
        return find_measures(self.roles.source.parts), find_measures(self.roles.target.parts)

    def _is_in_settled(self, i: int, j: int) -> bool:
        return any(i in each.source or j in each.target for each in self.settled)

    def _has_equal(self, i: int, j: int) -> bool:
        """Whether either number has the same number for a partner elsewhere."""
        own, other = self.sentences[0].words, self.sentences[1].words
        return any((a == i) != (b == j) and same_number(own[a], other[b]) for a, b in self.linked)

    def _at_one_place(self) -> Iterator[tuple[int, int]]:
        """Numbers without a partner of which the nouns are partners."""
        for predicate, other in self.roles.partner.items():
            for i, roles in self.roles.source.arguments[predicate]:
                if i not in self.roles.partner and is_number(self.sentences[0], i):
                    for j in self.roles.target.fillers(other, roles):
                        if j not in self.roles.back:
                            yield i, j

    def _of_phrases(self) -> Iterator[tuple[int, int]]:
        """The numbers of phrases that are partners as wholes, where each has one: *in 1903*, *in 1897*."""
        for source, target in self.pairs:
            own = [word for word in range(*source) if is_number(self.sentences[0], word)]
            other = [word for word in range(*target) if is_number(self.sentences[1], word)]
            if len(own) == len(other) == 1:
                yield own[0], other[0]


def is_number(sentence: Sentence, word: int) -> bool:
    """Whether a word is tagged as a number."""
    return sentence.tags[word] == "CD"


def _is_score(word: str) -> bool:
    """Whether a word is two numbers: *4-1*, *1990-95*."""
    return any(map(str.isdigit, word)) and any(dash in word[1:] for dash in ("-", "–"))
