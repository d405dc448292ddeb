"""An alignment as text for a terminal: the sentences, then the tree of phrase pairs, largest first, then the nulls.

What is no pair comes last: null phrases, words that belong together, links in no pair, looser partners. Words stand as
in the original text. Pairs that contradict each other, opposites and different values, are marked in red; any other
relation than equal or similar and any other evidence than word links are named behind the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from forestalign.formats import PhrasePairEntry, PhraseRecord
from forestalign.formats.phrase_records import SideRecord
from forestalign.lexicon.english import looks_english
from forestalign.view.characters import visible

BOLD, DIM, RED, YELLOW, CYAN = "\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[36m"
PLAIN = "\033[0m"
CONTRADICTIONS = frozenset({"opposite", "different value"})
_SILENT = frozenset({"", "equal", "similar"})  # relations that go without saying


def render_text(record: PhraseRecord, colour: bool = False, bars: bool = False, width: int = 0) -> str:
    """A few lines about one pair; `bars` also shows phrases that only the binarisation has and only links carry."""
    paint = _Paint(colour)
    lines = [
        paint(BOLD, visible(record.id or "pair")) + paint(DIM, f"  {_kind(record)}, log score {record.log_score:.2f}"),
        f"  source: {visible(record.source.text)}",
        f"  target: {visible(record.target.text)}",
    ]
    texts = _PhraseTexts(record)
    supported = {k for phrase in record.phrases for k in phrase.supports}
    for k in range(len(record.phrases) - 1, -1, -1):
        if k not in supported:
            _add_phrase(lines, texts, k, 1, paint, bars)
    lines += _nulls(record, paint) + _extended(texts, paint)
    lines += [
        paint(YELLOW, f"  not English? most words of the {name} are unknown")
        for name, side in (("source", record.source), ("target", record.target))
        if not looks_english(side.tokens)
    ]
    return "\n".join(line[:width] if width else line for line in lines)


class _PhraseTexts:
    """A record with the words of its phrases, found once."""

    def __init__(self, record: PhraseRecord):
        self.record = record
        self.source = record.source.phrases(phrase.source for phrase in record.phrases)
        self.target = record.target.phrases(phrase.target for phrase in record.phrases)


class _Paint:
    def __init__(self, colour: bool):
        self.colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{PLAIN}" if self.colour else text


def _kind(record: PhraseRecord) -> str:
    if not record.reached_root:
        return "no phrase aligned"
    return "root completed" if record.completed else "root aligned"


def _add_phrase(lines: list[str], texts: _PhraseTexts, k: int, depth: int, paint: _Paint, bars: bool) -> None:
    record = texts.record
    phrase = record.phrases[k]
    is_shown = bars or not _is_hidden(phrase)
    if is_shown:
        words = visible(f"{texts.source[k]} = {texts.target[k]}")
        lines.append("  " * depth + _phrase_line(phrase, words, paint, _is_compositional(record, k, bars)))
    order = sorted(phrase.supports, key=lambda s: record.phrases[s].source)
    for support in order:
        _add_phrase(lines, texts, support, depth + is_shown, paint, bars)


def _is_hidden(phrase: PhrasePairEntry) -> bool:
    """Bar phrases; but what evidence says is shown: the *stepped down* of *stepped down on Tuesday* is *resigned*."""
    return phrase.bar and set(phrase.evidence) <= {"links"}


def _is_compositional(record: PhraseRecord, k: int, bars: bool) -> bool:
    """Bar phrases that are not shown pass the mark on to the phrase above them."""
    phrase = record.phrases[k]
    hidden = [] if bars else [support for support in phrase.supports if _is_hidden(record.phrases[support])]
    return phrase.compositional and all(_is_compositional(record, support, bars) for support in hidden)


def _phrase_line(phrase: PhrasePairEntry, words: str, paint: _Paint, compositional: bool) -> str:
    label = phrase.source_label
    if phrase.target_label != phrase.source_label:
        label += f"~{phrase.target_label}"
    line = f"{paint(CYAN, visible(label))} {words}"
    if phrase.relation in CONTRADICTIONS:
        line += paint(RED, f"  [{phrase.relation}]")
    elif phrase.relation not in _SILENT:
        line += paint(DIM, f"  [{visible(phrase.relation)}]")
    if not compositional:
        line += paint(YELLOW, "  [non-compositional]")
    if phrase.inverted:
        line += paint(DIM, "  [inverted]")
    others = [visible(name) for name in phrase.evidence if name != "links"]
    return line + (paint(DIM, f"  [by {', '.join(others)}]") if others else "")


def _scattered_words(side: SideRecord, words: Sequence[int]) -> str:
    """Words with dots where something stands between them."""
    text = side.tokens[words[0]]
    for before, word in pairwise(words):
        text += f"{' ' if word == before + 1 else ' … '}{side.tokens[word]}"
    return text


def _extended(texts: _PhraseTexts, paint: _Paint) -> list[str]:
    """Phrases around a pair that add null words to it, beside the partner of what is inside them."""
    lines = []
    for side, span, _, pair, added in texts.record.extended:
        own = texts.record.source if side == "source" else texts.record.target
        whole = own.phrases([span])[0]
        sides = (whole, texts.target[pair]) if side == "source" else (texts.source[pair], whole)
        line = f"  loosely: {sides[0]} ~ {sides[1]}  [{side} adds {_scattered_words(own, added)}]"
        lines.append(paint(DIM, visible(line)))
    return lines


def _nulls(record: PhraseRecord, paint: _Paint) -> list[str]:
    """Null phrases, words that belong together, and word links in no pair; a word of these is no null."""
    left_out = record.left_out
    lines = []
    for name, side, spans, linked in (
        ("source", record.source, record.nulls.source, {word.source for word in left_out}),
        ("target", record.target, record.nulls.target, {word.target for word in left_out}),
    ):
        kept = [span for span in spans if not linked.issuperset(range(span.begin, span.end))]
        if kept:
            lines.append(paint(DIM, f"  null in {name}: " + " | ".join(map(visible, side.phrases(kept)))))
    for one in record.scattered:
        sides = _scattered_words(record.source, one.source), _scattered_words(record.target, one.target)
        marks = f"  [{visible(one.relation)}]" if one.relation not in _SILENT else ""
        line = (
            f"  together, but no phrase: {visible(sides[0])} = {visible(sides[1])}{marks}  [by {visible(one.evidence)}]"
        )
        lines.append(paint(RED if one.relation in CONTRADICTIONS else DIM, line))
    if left_out:
        words = (f"{record.source.tokens[word.source]}–{record.target.tokens[word.target]}" for word in left_out)
        lines.append(paint(DIM, "  linked, but in no pair: " + " | ".join(map(visible, words))))
    return lines
