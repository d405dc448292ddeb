"""An alignment as text for a terminal: the sentences, then the tree of phrase pairs, largest first, then the nulls."""

from __future__ import annotations

from collections.abc import Sequence

from forestalign.formats import PhraseEntry, PhraseRecord
from forestalign.tokens import Span

BOLD, DIM, YELLOW, CYAN, PLAIN = "\033[1m", "\033[2m", "\033[33m", "\033[36m", "\033[0m"


def render_text(record: PhraseRecord, colour: bool = False, bars: bool = False, width: int = 0) -> str:
    """A few lines about one pair; `bars` also shows phrases that only the binarisation has."""
    paint = _Paint(colour)
    lines = [
        paint(BOLD, f"{record.id or 'pair'}") + paint(DIM, f"  {_kind(record)}, log score {record.log_score:.2f}"),
        f"  source: {record.source.text}",
        f"  target: {record.target.text}",
    ]
    supported = {k for phrase in record.phrases for k in phrase.supports}
    for k in range(len(record.phrases) - 1, -1, -1):
        if k not in supported:
            _add_phrase(lines, record, k, 1, paint, bars)
    lines += _nulls(record, paint)
    return "\n".join(line[:width] if width else line for line in lines)


class _Paint:
    def __init__(self, colour: bool):
        self.colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{PLAIN}" if self.colour else text


def _kind(record: PhraseRecord) -> str:
    if not record.reached_root:
        return "no phrase aligned"
    return "root completed" if record.completed else "root aligned"


def _add_phrase(lines: list[str], record: PhraseRecord, k: int, depth: int, paint: _Paint, bars: bool) -> None:
    phrase = record.phrases[k]
    is_shown = bars or not phrase.bar
    if is_shown:
        lines.append("  " * depth + _phrase_line(record, phrase, paint, _is_compositional(record, k, bars)))
    order = sorted(phrase.supports, key=lambda s: record.phrases[s].source)
    for support in order:
        _add_phrase(lines, record, support, depth + is_shown, paint, bars)


def _is_compositional(record: PhraseRecord, k: int, bars: bool) -> bool:
    """Bar phrases that are not shown pass the mark on to the phrase above them."""
    phrase = record.phrases[k]
    hidden = [] if bars else [support for support in phrase.supports if record.phrases[support].bar]
    return phrase.compositional and all(_is_compositional(record, support, bars) for support in hidden)


def _phrase_line(record: PhraseRecord, phrase: PhraseEntry, paint: _Paint, compositional: bool) -> str:
    label = phrase.source_label
    if phrase.target_label != phrase.source_label:
        label += f"~{phrase.target_label}"
    source, target = _words(record.source.tokens, phrase.source), _words(record.target.tokens, phrase.target)
    line = f"{paint(CYAN, label)} {source} = {target}"
    if not compositional:
        line += paint(YELLOW, "  [non-compositional]")
    if phrase.inverted:
        line += paint(DIM, "  [inverted]")
    return line


def _nulls(record: PhraseRecord, paint: _Paint) -> list[str]:
    lines = []
    for name, tokens, spans in (
        ("source", record.source.tokens, record.nulls.source),
        ("target", record.target.tokens, record.nulls.target),
    ):
        if spans:
            lines.append(paint(DIM, f"  null in {name}: " + " | ".join(_words(tokens, span) for span in spans)))
    return lines


def _words(tokens: Sequence[str], span: Span) -> str:
    return " ".join(tokens[span.begin : span.end])
