"""Phrases without a partner of their own that say no more than an aligned phrase inside them: *by him* around *him*.

Alignments are one to one and exact before large, so *by him* is null as a phrase where *him* is aligned with *He*. To
a reader it has a partner all the same, if a looser one. An extended phrase is a constituent of several words that is in
no pair; around the largest pair inside it there are only words that are null and small: prepositions, connectives,
articles, auxiliaries, case markers, punctuation. Pronouns stand for arguments, and negations change what is said, so
neither is small. Everything is read off the trees, the pairs and the null phrases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from forestalign.dependencies.phrase_tree import word_lists
from forestalign.grammar import base_label, is_small_word, negation_words, punctuation_tags
from forestalign.tokens import Span
from forestalign.trees import Tree, constituents, preorder

Side_co = TypeVar("Side_co", covariant=True)


class LoosePhrase(NamedTuple):
    """A phrase around a pair: its side (`source`, `target`), the number of the pair, and the words that it adds."""

    side: str
    span: Span
    label: str
    pair: int
    added: tuple[int, ...]


class _TwoSides(Protocol[Side_co]):
    """A pair of phrases, or of scattered words, as results and records have them."""

    @property
    def source(self) -> Side_co: ...
    @property
    def target(self) -> Side_co: ...


def loose_phrases(
    trees: tuple[Tree, Tree],
    pairs: Sequence[_TwoSides[Span]],
    nulls: tuple[Sequence[Span], Sequence[Span]],
    scattered: Sequence[_TwoSides[tuple[int, ...]]] = (),
) -> tuple[LoosePhrase, ...]:
    """The extended phrases of the source, then of the target, each from left to right, larger before smaller ones."""
    source = _null_words(nulls[0]).difference(*(one.source for one in scattered))
    target = _null_words(nulls[1]).difference(*(one.target for one in scattered))
    return (
        *_of_side("source", trees[0], [pair.source for pair in pairs], source),
        *_of_side("target", trees[1], [pair.target for pair in pairs], target),
    )


def _null_words(spans: Sequence[Span]) -> set[int]:
    return {word for span in spans for word in range(*span)}


def _of_side(name: str, tree: Tree, spans: Sequence[Span], null_words: set[int]) -> Iterator[LoosePhrase]:
    aligned, addable = set(spans), small_words(tree) & null_words
    for phrase in constituents(tree):
        span = Span(phrase.begin, phrase.end)
        if span.size == 1 or span in aligned:
            continue
        pair = _largest_inside(spans, span)
        if pair >= 0:
            added = (*range(span.begin, spans[pair].begin), *range(spans[pair].end, span.end))
            if addable.issuperset(added):
                yield LoosePhrase(name, span, phrase.label, pair, added)


def _largest_inside(spans: Sequence[Span], outer: Span) -> int:
    """The number of the largest span inside, of equal ones the last, which is the higher node; -1 without any."""
    inside = [(end - begin, k) for k, (begin, end) in enumerate(spans) if outer.begin <= begin and end <= outer.end]
    return max(inside, default=(0, -1))[1]


def small_words(tree: Tree) -> frozenset[int]:
    """The words that add nothing of their own to a phrase."""
    return frozenset(
        child.begin
        for node in preorder(tree)
        for child in node.children
        if child.word is not None and _is_small(child.word.lower(), child.label, node.children)
    )


def _is_small(form: str, tag: str, sisters: Sequence[Tree]) -> bool:
    if form in negation_words():
        return False
    if tag in punctuation_tags() or is_small_word(form, tag):
        return True
    return tag.startswith("VB") and _is_auxiliary(form, sisters)


def _is_auxiliary(form: str, sisters: Sequence[Tree]) -> bool:
    """A form of *be*, or of *have*, *do*, *get* beside a verb phrase: *has* in *has sold*, not in *has a car*."""
    lists = word_lists()
    return form in lists.be or (form in lists.auxiliary and any(base_label(sister.label) == "VP" for sister in sisters))
