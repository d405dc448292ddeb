"""Which pairs of phrases a reader is shown: the one rule of text, tables, the page and the library.

Binarised trees have phrases that no grammar knows, such as *fat cat* in *the fat cat* (bar phrases). A pair of which
one side is such a phrase is shown where it says something that its parts do not. It does so if they leave out words of
either side. A short one also does if several of its parts are worded otherwise (*knocked out power* with *lost
electricity*) or one is and they changed their order (*Turn off the water* with *Switch the water off*). It is not shown
below a pair that is shown and has the same words; marks of punctuation are no words here.

And which phrases are loosely aligned though they are in no pair: *by him* is null where *him* is aligned with *He*, but
says no more. An extended phrase is a constituent of several words that is in no pair; around the largest pair inside it
there are only words that are null and small: prepositions, connectives, articles, auxiliaries, case markers,
punctuation. Pronouns stand for arguments, and negations change what is said, so neither is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from forestalign.dependencies.phrase_tree import word_lists
from forestalign.grammar import base_label, is_small_word, negation_words, punctuation_tags
from forestalign.tokens import Span
from forestalign.trees import Tree, constituents, preorder

MOST_WORDS = 6  # a side of a pair that is shown though its parts cover it; what longer ones say is said by their parts

Marks = tuple[frozenset[int], frozenset[int]]  # places of marks of punctuation in source and target


class SpanPair(Protocol):
    """What is asked of a pair: its spans, whether one is a bar phrase, and the pairs that support it."""

    @property
    def source(self) -> tuple[int, int]:
        """The source's words, half-open."""

    @property
    def target(self) -> tuple[int, int]:
        """The target's words, half-open."""

    @property
    def is_bar(self) -> bool:
        """Whether either side is a bar phrase."""

    @property
    def supports(self) -> tuple[int, ...]:
        """The places of the pairs that support it."""


def shown_pairs(
    pairs: Sequence[SpanPair], source: Sequence[str], target: Sequence[str], bars: bool | None = None
) -> tuple[bool, ...]:
    """Whether each pair is shown; `bars` asks for all bar phrases or for none. `source` and `target` are the words.

    Pairs stand after those that support them, so the ones above come first when we go backwards.
    """
    if bars is not None or not any(pair.is_bar for pair in pairs):
        return tuple(bars is not False or not pair.is_bar for pair in pairs)
    marks = _marks(source), _marks(target)
    shown = [True] * len(pairs)
    above: list[int | None] = [None] * len(pairs)
    for k in range(len(pairs) - 1, -1, -1):
        pair, over = pairs[k], above[k]
        if pair.is_bar:
            repeats = over is not None and _covered(pairs[over], [pair], marks)
            shown[k] = not repeats and (
                not _is_covered_by_parts(pairs, k, marks) or _is_reworded(pairs, k, marks, source, target)
            )
        for support in pair.supports:
            above[support] = k if shown[k] else over
    return tuple(shown)


def each_once(pairs: Sequence[SpanPair], shown: Sequence[bool]) -> tuple[bool, ...]:
    """Of the pairs that are shown, of those with the same words the uppermost: *him* is a phrase and a word."""
    last = {(pair.source, pair.target): k for k, pair in enumerate(pairs) if shown[k]}
    return tuple(last.get((pair.source, pair.target)) == k for k, pair in enumerate(pairs))


def _marks(words: Sequence[str]) -> frozenset[int]:
    return frozenset(k for k, word in enumerate(words) if not any(map(str.isalnum, word)))


def _is_covered_by_parts(pairs: Sequence[SpanPair], k: int, marks: Marks) -> bool:
    return _covered(pairs[k], [pairs[support] for support in pairs[k].supports], marks)


def _is_reworded(pairs: Sequence[SpanPair], k: int, marks: Marks, source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether several parts of a short pair are worded otherwise, or one is and their order changed.

    What begins or ends with a mark is no phrase that one would quote.
    """
    for (begin, end), are_marks in zip((pairs[k].source, pairs[k].target), marks, strict=True):
        if end - begin > MOST_WORDS or not are_marks.isdisjoint((begin, end - 1)):
            return False
    parts = sorted(_parts(pairs, k, marks), key=lambda part: part.source)
    places = [part.target for part in parts]
    changed_count = sum(_folded(source, part.source) != _folded(target, part.target) for part in parts)
    return changed_count > 1 or (changed_count == 1 and places != sorted(places))


def _parts(pairs: Sequence[SpanPair], k: int, marks: Marks) -> Iterator[SpanPair]:
    """The pairs that support one, and in place of bar phrases that are covered by their parts these."""
    for support in pairs[k].supports:
        if pairs[support].is_bar and pairs[support].supports and _is_covered_by_parts(pairs, support, marks):
            yield from _parts(pairs, support, marks)
        else:
            yield pairs[support]


def _folded(words: Sequence[str], span: tuple[int, int]) -> list[str]:
    return [word.casefold() for word in words[slice(*span)] if any(map(str.isalnum, word))]


def _covered(pair: SpanPair, parts: Iterable[SpanPair], marks: Marks) -> bool:
    """Whether some parts have all words of a pair on both sides."""
    sources, targets = set(marks[0]), set(marks[1])
    for part in parts:
        sources.update(range(*part.source))
        targets.update(range(*part.target))
    return sources.issuperset(range(*pair.source)) and targets.issuperset(range(*pair.target))


# ---- phrases around pairs ----


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
