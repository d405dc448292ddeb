"""Words that differ by degree or by name: *must* and *may*, *all* and *some*, *Monday* and *Tuesday*.

grammar/scales.tsv says which. On a scale of levels two values differ if they are far apart; names differ always. A
value is about a word: *must pay* about *pay*, *most shops* about *shops*. Two values of one scale are compared if what
they are about is partners, or they are themselves; names are compared whatever they are about, each side's names that
the other does not have. A value that is negated is left to negation: *must not* is *may not*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.meaning.differences import KINDS, Difference
from forestalign.meaning.readings import Reading

APART = 3  # levels between two values that say different things
_FUNCTION = ("aux", "mark", "det", "advmod", "amod", "case", "nummod", "cc", "fixed")
_HIGHEST = 10


class ScaleValue(NamedTuple):
    """A row of the table: kind of difference, scale, level (-1 for a name), name."""

    kind: str
    scale: str
    level: int
    name: str


class Expression(NamedTuple):
    """Words of the table, and the values that they stand for."""

    words: tuple[str, ...]
    values: tuple[ScaleValue, ...]


class Value(NamedTuple):
    """A value met in a sentence: its words, and the word that it is about."""

    said: ScaleValue
    words: tuple[int, ...]
    about: int


@cache
def scales() -> dict[str, tuple[Expression, ...]]:
    """The expressions of grammar/scales.tsv by their first words, the longest first."""
    return read_scales(grammar_root() / "scales.tsv")


def read_scales(path: Path) -> dict[str, tuple[Expression, ...]]:
    """Rows KIND, SCALE, LEVEL or NAME, EXPRESSIONS separated by `|`."""
    found: dict[tuple[str, ...], tuple[ScaleValue, ...]] = {}
    for number, (kind, scale, level, row) in read_rows(path, 4):
        if kind not in KINDS:
            raise GrammarError(path, number, f"{kind!r}: expected one of {', '.join(KINDS)}")
        if level.isdigit() and not 0 <= int(level) <= _HIGHEST:
            raise GrammarError(path, number, f"level {level}: expected 0 to {_HIGHEST}, or a name")
        value = ScaleValue(kind, scale, int(level) if level.isdigit() else -1, "" if level.isdigit() else level)
        for expression in row.split("|"):
            words = tuple(expression.split())
            if not words or any(value.scale == other.scale for other in found.get(words, ())):
                raise GrammarError(path, number, f"{expression!r}: expected words that the scale has once")
            found[words] = (*found.get(words, ()), value)
    first: dict[str, list[Expression]] = {}
    for words, values in found.items():
        first.setdefault(words[0], []).append(Expression(words, values))
    return {word: tuple(sorted(each, key=lambda one: -len(one.words))) for word, each in first.items()}


def find_values(frames: Reading) -> list[Value]:
    """The values of a sentence, from left to right; of expressions inside each other the longest."""
    forms = [{word, word.lower(), frames.lemmas[k]} for k, word in enumerate(frames.sentence.words)]
    table, values = scales(), list[Value]()
    at = 0
    while at < len(forms):
        met = next(
            (
                each
                for key in sorted(forms[at] & table.keys())
                for each in table[key]
                if len(each.words) <= len(forms) - at
                and all(word in forms[at + k] for k, word in enumerate(each.words))
                and _is_name(frames, at, each.words[0])
            ),
            None,
        )
        if met is not None:
            words = tuple(range(at, at + len(met.words)))
            values += [Value(said, words, _about(frames, words[-1])) for said in met.values]
        at += len(met.words) if met is not None else 1
    return values


def _is_name(frames: Reading, word: int, key: str) -> bool:
    """Whether a word in capitals is a name where the table has one: *May*, not the *May* that begins a question."""
    return not key[0].isupper() or frames.sentence.tags[word][:2] in ("NN", "CD")


def _about(frames: Reading, word: int) -> int:
    """The verb, noun or adjective that a value is about; *most of the shops* is about shops."""
    heads, relations = frames.dependencies.heads, frames.dependencies.relations
    below = [k for k, head in enumerate(heads) if head == word and relations[k] == "nmod:of"]
    if below:
        return below[0]
    seen = 0
    while heads[word] >= 0 and relations[word].split(":")[0] in _FUNCTION and seen < len(heads):
        word, seen = heads[word], seen + 1
    return word


class ScaleComparison(NamedTuple):
    """Two sentences, partners of words, words that other evidence explains, and predicates that are negated."""

    source: Reading
    target: Reading
    partner: Mapping[int, int]
    explained: tuple[Collection[int], Collection[int]]
    negated: tuple[Collection[int], Collection[int]]

    def differences(self) -> Iterator[Difference]:
        """All differences of values."""
        own, other = self._values(0), self._values(1)
        for scale in dict.fromkeys(value.said.scale for value in (*own, *other)):
            mine = [value for value in own if value.said.scale == scale]
            theirs = [value for value in other if value.said.scale == scale]
            if any(value.said.name for value in (*mine, *theirs)):
                yield from self._names(mine, theirs)
            else:
                yield from self._levels(mine, theirs)

    def _values(self, side: int) -> list[Value]:
        frames, skipped = (self.source, self.target)[side], self.explained[side]
        return [
            value for value in find_values(frames) if not skipped or not all(word in skipped for word in value.words)
        ]

    def _names(self, own: list[Value], other: list[Value]) -> Iterator[Difference]:
        names = {value.said.name for value in own}, {value.said.name for value in other}
        mine = [value for value in own if value.said.name not in names[1]]
        theirs = [value for value in other if value.said.name not in names[0]]
        for one, another in zip(mine, theirs, strict=False):
            yield self._difference(one, another)

    def _levels(self, own: list[Value], other: list[Value]) -> Iterator[Difference]:
        """Values about partners, each with the nearest."""
        right = list(other)
        for one in own:
            partners = [each for each in right if self._are_partners(one, each)]
            if not partners:
                continue
            same = min(partners, key=lambda each: abs(each.said.level - one.said.level))
            right.remove(same)
            is_negated = self._is_negated(0, one) or self._is_negated(1, same)
            if not is_negated and abs(one.said.level - same.said.level) >= APART:
                yield self._difference(one, same)

    def _are_partners(self, one: Value, other: Value) -> bool:
        if self.partner.get(one.about) == other.about:
            return True
        return any(self.partner.get(word) in other.words for word in one.words)

    def _is_negated(self, side: int, value: Value) -> bool:
        """Whether what a value is about is negated, or what governs it."""
        heads = (self.source, self.target)[side].dependencies.heads
        return any(word in self.negated[side] for word in (value.about, heads[value.about]))

    def _difference(self, one: Value, other: Value) -> Difference:
        texts = [
            " ".join(frames.sentence.words[word] for word in value.words)
            for frames, value in ((self.source, one), (self.target, other))
        ]
        return Difference(one.said.kind, one.words, other.words, f"{texts[0]} became {texts[1]}")
