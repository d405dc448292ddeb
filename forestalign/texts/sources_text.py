"""What a summary rests on, for a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from forestalign.errors import counted
from forestalign.terminal import BOLD, CYAN, DIM, PLAIN, RED, visible
from forestalign.texts.comparison_page import page
from forestalign.texts.summary_sources import SourcedPhrase, SourcedSentence

AID = "a reading aid, not a verdict: it shows where to look"


def render_sources(sentences: Sequence[SourcedSentence], names: tuple[str, str], colour: bool = False) -> str:
    """Each sentence of the summary, and below it its phrases with what they rest on."""
    paint = _Paint(colour)
    article, summary = map(visible, names)
    lines = [paint(BOLD, f"{summary}, by {article}") + f": {_summary(sentences)} ({AID})"]
    for sentence in sentences:
        lines += ["", paint(CYAN, f"line {sentence.line}") + f": {visible(sentence.text)}"]
        lines += [f"  {_line(phrase, paint)}" for phrase in sentence.phrases]
        lines += [paint(RED, f"  {visible(sentence.error)}")] if sentence.error else []
    return "\n".join(lines)


class _Paint:
    def __init__(self, colour: bool):
        self._colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{PLAIN}" if self._colour else text


def _summary(sentences: Sequence[SourcedSentence]) -> str:
    whole = sum(not sentence.unsupported for sentence in sentences)
    count = sum(len(sentence.unsupported) for sentence in sentences)
    return f"{counted(len(sentences), 'sentence')}, {whole} found whole, {counted(count, 'phrase')} found nowhere"


def _line(phrase: SourcedPhrase, paint: _Paint) -> str:
    own = visible(phrase.text)
    if phrase.line:
        words = "" if phrase.source.lower() == phrase.text.lower() else f": {visible(phrase.source)}"
        return own + paint(DIM, f"  ← line {phrase.line}{words}")
    if phrase.against:
        return paint(RED, f"{own}  ← nothing; the article has {visible(phrase.against)}")
    return paint(RED, f"{own}  ← nothing")


def sources_page(sentences: Sequence[SourcedSentence], names: tuple[str, str]) -> str:
    """A page that is whole in itself."""
    article, summary = (escape(visible(name)) for name in names)
    title = f"{summary}, by {article}"
    content = [
        f"<h1>{title}</h1>",
        f'<p class="soft">{escape(_summary(sentences))}. This is {AID}.</p>',
        *map(_section, sentences),
    ]
    return page(title, "\n".join(content))


def _section(sentence: SourcedSentence) -> str:
    numbers = ", ".join(map(str, sentence.lines))
    about = f"{'line' if len(sentence.lines) == 1 else 'lines'} {numbers}" if numbers else "nothing"
    error = f" {escape(visible(sentence.error))}" if sentence.error else ""
    return (
        f'<section class="change"><div class="about"><span>line {sentence.line}</span>'
        f'<span>rests on {about}{error}</span></div><div class="sides">'
        f"<p>{''.join(_marked(sentence))}</p><p>{'<br>'.join(map(_told, sentence.phrases))}</p></div></section>"
    )


def _marked(sentence: SourcedSentence) -> Iterator[str]:
    at = 0
    for phrase in sentence.phrases:
        yield escape(visible(sentence.text[at : phrase.begin]))
        text = escape(visible(phrase.text))
        yield f'<ins title="{escape(visible(phrase.source))}">{text}</ins>' if phrase.line else f"<mark>{text}</mark>"
        at = phrase.end
    yield escape(visible(sentence.text[at:]))


def _told(phrase: SourcedPhrase) -> str:
    own = escape(visible(phrase.text))
    if phrase.line:
        return f'{own} <span class="soft">← line {phrase.line}: {escape(visible(phrase.source))}</span>'
    there = f"; the article has {escape(visible(phrase.against))}" if phrase.against else ""
    return f"<mark>{own}</mark> ← nothing{there}"
