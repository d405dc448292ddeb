"""An alignment as text for a terminal: the sentences, the tree of phrase pairs, and in words what differs.

Each pair has its confidence before it and its relation behind it, unless that is *equal*; contradictions are red. Below
phrases of the same words nothing is told, and marks of punctuation are left out. `verbose` tells everything: labels,
steps, evidence, scores, words that are linked without a pair. Words stand as in the original text.

An alignment as two sentences with brackets around what corresponds, numbered alike on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from forestalign.lexicon.word_classes import is_mark
from forestalign.lexicon.wordnet import looks_english
from forestalign.mining.edit_units import edit_units
from forestalign.phrases.result.alignment import (
    CHANGED,
    SAME,
    UNRELATED,
    Alignment,
    DiscontinuousPair,
    PhraseAlignment,
    PhrasePair,
)
from forestalign.phrases.result.discontinuous_pairs import scattered_words
from forestalign.terminal import BOLD, CYAN, DIM, RED, YELLOW, Paint, visible
from forestalign.tokens import Sentence, Span
from forestalign.view.differences import find_differences, is_confident

CONTRADICTIONS = frozenset({"opposite", "different value", "other roles"})
_SILENT = frozenset({"", "equal", "similar"})  # relations that go without saying
MIN_CONFIDENCE = 0.6  # of pairs that are printed; of those below a quarter is right
_UNSURE = 0.7  # confidence below which a pair is marked in colour
_MOST_REASONS = 3  # in the first line


def render_text(
    alignment: Alignment,
    colour: bool = False,
    bars: bool | None = None,
    *,
    verbose: bool = False,
    min_confidence: float | None = None,
) -> str:
    """A few lines about one pair of sentences; `bars` asks for all bar phrases or for none.

    Pairs below `min_confidence` are left out (None: those below MIN_CONFIDENCE, and with `verbose` none).
    """
    least = min_confidence if min_confidence is not None else 0.0 if verbose else MIN_CONFIDENCE
    paint, tree = Paint(colour), _Tree(alignment, bars, verbose, least)
    lines = [
        paint(BOLD, visible(alignment.id or "pair")) + _head(alignment, paint),
        f"  source: {visible(alignment.source.text)}",
        f"  target: {visible(alignment.target.text)}",
        *_lines(list(tree.rows()), paint, verbose),
        *_differences(alignment, paint, least),
        *(_details(alignment, paint) if verbose else ()),
    ]
    lines += [
        paint(YELLOW, f"  not English? most words of the {name} are unknown")
        for name, sentence in (("source", alignment.source), ("target", alignment.target))
        if not looks_english(sentence.words)
    ]
    return "\n".join(lines)


def confidence_text(value: float | None) -> str:
    """Two digits, as in `.97`; nothing where it is not known.

    >>> confidence_text(0.974), confidence_text(1.0), confidence_text(None)
    ('.97', '1.0', '')
    """
    if value is None:
        return ""
    return "1.0" if value >= 0.995 else f"{value:.2f}".removeprefix("0")


class _Row(NamedTuple):
    """A line of the tree: a pair of phrases, or of words that are no phrase."""

    depth: int
    source: str
    target: str
    pair: PhrasePair | DiscontinuousPair
    is_compositional: bool
    evidence: tuple[str, ...]  # besides links


class _Tree:
    """The pairs that are shown, each below the smallest one that is shown and holds it."""

    def __init__(self, alignment: Alignment, bars: bool | None, verbose: bool, least: float):
        self._alignment, self._pairs, self._verbose = alignment, alignment.phrases.pairs, verbose
        self._shown = [
            is_wanted and is_confident(pair, least)
            for is_wanted, pair in zip(alignment.shown(bars), self._pairs, strict=True)
        ]
        self._scattered: dict[int | None, list[DiscontinuousPair]] = {}
        for one in alignment.phrases.scattered:
            if not is_confident(one, least) or (one.is_likeness and not verbose and self._is_composed(one)):
                continue
            self._scattered.setdefault(self._holder(one), []).append(one)
        supported = {support for pair in self._pairs for support in pair.supports}
        tops = [k for k in range(len(self._pairs) - 1, -1, -1) if k not in supported]
        whole = Span(0, len(alignment.source)), Span(0, len(alignment.target))
        is_whole = len(tops) == 1 and (self._pairs[tops[0]].source, self._pairs[tops[0]].target) == whole
        self.whole = tops[0] if is_whole and self._shown[tops[0]] else None  # told with the sentences, and not again
        self._tops = tops

    def rows(self) -> Iterator[_Row]:
        """All lines, from the top down."""
        if self.whole is None:
            yield from self._below(None, self._tops, 0)
        elif self._verbose:
            yield from self._row(self.whole, 0)
        else:
            yield from self._inside(self.whole, 0)

    def _holder(self, one: DiscontinuousPair) -> int | None:
        return next(
            (
                k
                for k, pair in enumerate(self._pairs)  # the smallest stand first
                if self._shown[k]
                and all(pair.source.begin <= word < pair.source.end for word in one.source)
                and all(pair.target.begin <= word < pair.target.end for word in one.target)
            ),
            None,
        )

    def _is_composed(self, one: DiscontinuousPair) -> bool:
        """Whether pairs that are shown tell all of its words: *He bought* beside *He* and *bought*."""
        left, right = set(one.source), set(one.target)
        for pair, is_shown in zip(self._pairs, self._shown, strict=True):
            own, other = set(range(*pair.source)), set(range(*pair.target))
            if is_shown and own <= set(one.source) and other <= set(one.target):
                left, right = left - own, right - other
        return not left and not right

    def _below(self, holder: int | None, indices: Sequence[int], depth: int) -> Iterator[_Row]:
        """Phrases and scattered words at one place, in the order of the source."""
        placed: list[tuple[int, int, int | DiscontinuousPair]] = [
            (self._pairs[k].source.begin, k, k) for k in self._lifted(holder, indices)
        ]
        placed += [(one.source[0], -1, one) for one in self._scattered.get(holder, ())]
        for _, _, each in sorted(placed, key=lambda place: place[:2]):
            if isinstance(each, DiscontinuousPair):
                source = scattered_words(self._alignment.source, each.source)
                target = scattered_words(self._alignment.target, each.target)
                yield _Row(depth, source, target, each, True, (each.evidence,))
            else:
                yield from self._row(each, depth)

    def _row(self, k: int, depth: int) -> Iterator[_Row]:
        pair = self._pairs[k]
        if self._verbose or not self._is_told(k):
            evidence = self._own_evidence(k)
            yield _Row(depth, pair.source.text, pair.target.text, pair, self._is_compositional(k), evidence)
        yield from self._inside(k, depth + 1)

    def _inside(self, k: int, depth: int) -> Iterator[_Row]:
        pair = self._pairs[k]
        if self._verbose or pair.source.text.lower() != pair.target.text.lower():
            yield from self._below(k, pair.supports, depth)

    def _lifted(self, holder: int | None, indices: Sequence[int]) -> Iterator[int]:
        """Pairs that are not shown, or have the words of the pair above, give their place to what supports them."""
        for k in indices:
            if self._shown[k] and (self._verbose or holder is None or not self._is_same(k, holder)):
                yield k
            else:
                yield from self._lifted(holder, self._pairs[k].supports)

    def _is_same(self, k: int, holder: int) -> bool:
        """Whether two pairs differ in marks of punctuation at most."""
        return self._words(k) == self._words(holder)

    def _words(self, k: int) -> tuple[list[int], ...]:
        sides = (self._alignment.source, self._pairs[k].source), (self._alignment.target, self._pairs[k].target)
        return tuple([word for word in range(*span) if not is_mark(own.words[word])] for own, span in sides)

    def _is_told(self, k: int) -> bool:
        """Whether a word is part of scattered ones that are shown, or a mark: then only `verbose` shows its pair."""
        pair = self._pairs[k]
        words = set(range(*pair.source)), set(range(*pair.target))
        return all(is_mark(self._alignment.source.words[word]) for word in words[0]) or (
            not pair.supports
            and any(
                words[0].issubset(one.source) and words[1].issubset(one.target)
                for one in self._alignment.phrases.joined
            )
        )

    def _is_compositional(self, k: int) -> bool:
        """Pairs that are not shown pass the mark on to the pair above them."""
        pair = self._pairs[k]
        hidden = [support for support in pair.supports if not self._shown[support]]
        return pair.compositional and all(map(self._is_compositional, hidden))

    def _own_evidence(self, k: int) -> tuple[str, ...]:
        """What a pair rests on besides links; what is about scattered words in it is told of these alone."""
        others = {"links", *(one.evidence for one in self._scattered.get(k, ()))}
        return tuple(name for name in self._pairs[k].evidence if name not in others)


def _head(alignment: Alignment, paint: Paint) -> str:
    colours = {SAME: BOLD, CHANGED: RED}
    return paint(colours.get(alignment.verdict, DIM), "  " + headline(alignment))


def headline(alignment: Alignment) -> str:
    """The verdict, how likely the meaning is the same, and what has changed; why is told of what differs alone."""
    told = alignment.verdict
    if told != UNRELATED:
        told += f" {confidence_text(alignment.probability)}"
    if alignment.verdict != CHANGED:
        return told
    found = alignment.differences
    reasons = [each.reason for each in found if each.contradicts] or [each.reason for each in found]
    reasons = reasons[:_MOST_REASONS]
    return told + visible(f": {'; '.join(reasons)}" if reasons else "")


def _relation(relation: str, paint: Paint, before: str = "  ", reason: str = "") -> str:
    """What the target is where it is not equal, by its reason in words where there is one."""
    if relation in _SILENT:
        return ""
    return paint(RED if relation in CONTRADICTIONS else DIM, f"{before}({visible(reason or relation)})")


def _lines(rows: Sequence[_Row], paint: Paint, verbose: bool) -> Iterator[str]:
    """A reason rises with its relation to all pairs around; it is told of the smallest."""
    for k, row in enumerate(rows):
        inside = takewhile(lambda other, depth=row.depth: other.depth > depth, rows[k + 1 :])  # type: ignore[misc]
        told = {reason for other in inside for reason in _reasons(other)}
        yield _line(row, "; ".join(reason for reason in _reasons(row) if reason not in told), paint, verbose)


def _reasons(row: _Row) -> list[str]:
    reason = row.pair.reason if isinstance(row.pair, PhrasePair) else ""
    return reason.split("; ") if reason else []


def _line(row: _Row, reason: str, paint: Paint, verbose: bool) -> str:
    pair = row.pair
    is_unsure = pair.confidence is not None and pair.confidence < _UNSURE
    number = paint(YELLOW if is_unsure else DIM, f"{confidence_text(pair.confidence):<3}")
    words = visible(f"{row.source} = {row.target}")
    label = ""
    if verbose and isinstance(pair, PhrasePair):
        names = (
            [pair.source_label] if pair.source_label == pair.target_label else [pair.source_label, pair.target_label]
        )
        label = paint(CYAN, visible("~".join(names))) + " "
    marks = _marks(row, paint) if verbose else ""
    return f"  {number}  {'  ' * row.depth}{label}{words}{_relation(pair.relation, paint, reason=reason)}{marks}"


def _marks(row: _Row, paint: Paint) -> str:
    """What only those want to know who look at how it was found."""
    marks = paint(YELLOW, "  [non-compositional]") if not row.is_compositional else ""
    if isinstance(row.pair, PhrasePair) and row.pair.inverted:
        marks += paint(DIM, "  [inverted]")
    return marks + (paint(DIM, f"  [by {visible(', '.join(row.evidence))}]") if row.evidence else "")


def _differences(alignment: Alignment, paint: Paint, least: float) -> Iterator[str]:
    found = find_differences(alignment, least)
    if found.replaced:
        told = (visible(f"{one.source} → {one.target}") + _relation(one.relation, paint, " ") for one in found.replaced)
        yield paint(BOLD, "  replaced: ") + " | ".join(told)
    for name, texts in (("removed", found.removed), ("added", found.added)):
        if texts:
            yield paint(BOLD, f"  {name}: ") + " | ".join(map(visible, texts))


# ---- what `verbose` adds ----


def _details(alignment: Alignment, paint: Paint) -> Iterator[str]:
    found, source, target = alignment.phrases, alignment.source, alignment.target
    if alignment.left_out:
        words = (f"{source.words[link.source]}–{target.words[link.target]}" for link in alignment.left_out)
        yield paint(DIM, "  words linked outside the pairs: " + " | ".join(map(visible, words)))
    for side, span, _, k, added in alignment.extended:
        yield paint(DIM, visible(_wider(source if side == "source" else target, side, span, found.pairs[k], added)))
    yield paint(DIM, f"  {_kind(found)}, log score {found.log_score:.2f}")


def _wider(own: Sentence, side: str, span: Span, pair: PhrasePair, added: Sequence[int]) -> str:
    """A phrase around a pair that adds words without a partner to it."""
    whole = own.phrase(span)
    sides = (whole, pair.target.text) if side == "source" else (pair.source.text, whole)
    return f"  wider: {sides[0]} ~ {sides[1]}  [{side} adds {scattered_words(own, added)}]"


def _kind(found: PhraseAlignment) -> str:
    if not found.reached_root:
        return "roots not aligned"
    return "root completed" if found.completed else "root aligned"


def render_short(alignment: Alignment, colour: bool = False) -> str:
    """The id, and both sentences in brackets: phrases of the same words, or the smallest pairs that differ."""
    paint = Paint(colour)
    units = [unit.words for unit in edit_units(alignment) if not is_mark(alignment.source.phrase(unit.source))]
    return "\n".join(
        [
            paint(BOLD, visible(alignment.id or "pair")),
            "  " + _bracket(alignment.source, [source for source, _ in units], paint),
            "  " + _bracket(alignment.target, [target for _, target in units], paint),
        ]
    )


def _bracket(sentence: Sentence, units: Sequence[Sequence[int]], paint: Paint) -> str:
    """The text as it stands; words of one unit that do not follow each other have brackets of their own."""
    owner = {word: number for number, words in enumerate(units, start=1) for word in words}
    text, end = "", 0
    for k, token in enumerate(sentence.tokens):
        number, before, after = (owner.get(each) for each in (k, k - 1, k + 1))
        text += visible(sentence.text[end : token.start])
        if number is not None and number != before:
            text += paint(CYAN, f"[{number}") + " "
        text += visible(token.text)
        if number is not None and number != after:
            text += paint(CYAN, "]")
        end = token.end
    return text
