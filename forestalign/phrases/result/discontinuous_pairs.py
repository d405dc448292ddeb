"""Phrases that are not nodes of the tree and belong together all the same: *turned the offer down* and *rejected it*.

The search aligns nodes, so the two words *turned* and *down*, or *did not remember* before its object, cannot be a pair
of their own. Where evidence joins such words, no pair of the result contradicts it and some of them would be null,
they are reported beside the pairs, and are not null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forestalign.phrases.evidence.phrase_evidence import SPAN, PhraseEvidence
from forestalign.phrases.result.alignment import DIGITS, DiscontinuousPair
from forestalign.tokens import Sentence, Span

LEAST_STRENGTH = 0.4


class AlignedSpans(NamedTuple):
    """What there is of a phrase pair before it is known what its phrases are to each other."""

    source: Span
    target: Span
    supports: tuple[int, ...] = ()


class Ends(NamedTuple):
    """For each word the pair without supports that covers it, by the words of both sides."""

    source: dict[int, tuple[Span, Span]]
    target: dict[int, tuple[Span, Span]]


def runs_of(words: Sequence[int]) -> list[Span]:
    """The stretches of text that some words make.

    >>> runs_of([1, 2, 5])
    [Span(begin=1, end=3), Span(begin=5, end=6)]
    """
    runs: list[Span] = []
    for word in words:
        if runs and word == runs[-1].end:
            runs[-1] = Span(runs[-1].begin, word + 1)
        else:
            runs.append(Span(word, word + 1))
    return runs


def scattered_words(sentence: Sentence, words: Sequence[int]) -> str:
    """Words as they stand in the text, with dots where something stands between them."""
    return " … ".join(map(sentence.phrase, runs_of(words)))


def discontinuous_pairs(
    evidence: Iterable[PhraseEvidence], pairs: Sequence[AlignedSpans], names: dict[str, str]
) -> tuple[DiscontinuousPair, ...]:
    """Evidence that the pairs agree with and none of them carries, the strongest first, none twice over a word."""
    known = {(pair.source, pair.target) for pair in pairs}
    ends = _ends(pairs)
    rows = [row for row in evidence if _is_asked(row, known) and _agrees(row, ends)]
    rows.sort(key=lambda row: (-row.strength, -len(row.source) - len(row.target), row.source, row.target))
    kept: list[DiscontinuousPair] = []
    for row in rows:
        if all(set(row.source).isdisjoint(one.source) and set(row.target).isdisjoint(one.target) for one in kept):
            strength = round(row.strength, DIGITS)
            kept.append(DiscontinuousPair(row.source, row.target, names[row.kind], row.relation, strength))
    return tuple(sorted(kept))


def with_likely(
    joined: Sequence[DiscontinuousPair],
    evidence: Iterable[PhraseEvidence],
    pairs: Sequence[AlignedSpans],
    names: dict[str, str],
) -> tuple[DiscontinuousPair, ...]:
    """These pairs, and those that the scores of units find sure and that neither repeat nor cut any of these."""
    known = {(tuple(range(*pair.source)), tuple(range(*pair.target))) for pair in pairs}
    likely = [
        DiscontinuousPair(row.source, row.target, names[row.kind], row.relation, round(row.strength, DIGITS))
        for row in evidence
        if row.kind == SPAN and (row.source, row.target) not in known
    ]
    return tuple(sorted([*joined, *[one for one in likely if not any(_clash(one, other) for other in joined)]]))


def _clash(likely: DiscontinuousPair, joined: DiscontinuousPair) -> bool:
    """Whether one has the words of the other on one side, or a part of them: *He turned* of *turned … down*."""
    sides = (likely.source, joined.source), (likely.target, joined.target)
    return any(own == words or not (set(own).isdisjoint(words) or set(own) >= set(words)) for own, words in sides)


def _ends(pairs: Sequence[AlignedSpans]) -> Ends:
    ends = Ends({}, {})
    for pair in pairs:
        if not pair.supports:
            ends.source.update(dict.fromkeys(range(*pair.source), (pair.source, pair.target)))
            ends.target.update(dict.fromkeys(range(*pair.target), (pair.source, pair.target)))
    return ends


def _is_asked(row: PhraseEvidence, known: set[tuple[Span, Span]]) -> bool:
    if row.kind == SPAN or max(len(row.source), len(row.target)) < 2 or row.strength < LEAST_STRENGTH:
        return False
    spans = Span(row.source[0], row.source[-1] + 1), Span(row.target[0], row.target[-1] + 1)
    is_whole = all(
        end - begin == len(words) for (begin, end), words in zip(spans, (row.source, row.target), strict=True)
    )
    return not (is_whole and spans in known)


def _agrees(row: PhraseEvidence, ends: Ends) -> bool:
    """Whether no aligned word of it has a partner outside, and some word of it has none."""
    own, other = set(row.source), set(row.target)
    touching = [ends.source[i] for i in row.source if i in ends.source]
    touching += [ends.target[j] for j in row.target if j in ends.target]
    if not all(own.issuperset(range(*source)) and other.issuperset(range(*target)) for source, target in touching):
        return False
    return not own <= ends.source.keys() or not other <= ends.target.keys()
