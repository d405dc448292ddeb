"""Text cut into sentences: by marks that end one, unless they end an abbreviation.

A sentence ends at `.`, `!`, `?` or `…` with closing quotes and brackets behind it, where white space follows and then
something that can begin a sentence. Only a window before the mark is looked at, so that the work is linear whatever a
line holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# an end, closing quotes and brackets, white space, and something that can begin a sentence
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-Þ])")
_WINDOW = 16  # characters before an end that an abbreviation may have
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sen|Rep|Gov|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Jr|Sr|vs|No|Nos|Fig|Inc|Ltd|Co|Corp"
    r"|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|e\.g|i\.e|cf|approx|[A-Z])\.$"
)
_INITIALS = re.compile(r"\b(?:[A-Z]\.[A-Z](?:\.[A-Z])*|[ap]\.m)\.$")  # may end a sentence as well
_BEGINNING = re.compile(
    r"[\"'“‘(\[]*(?:The|A|An|He|She|It|They|We|I|You|This|That|These|Those|There|In|On|At|But|And|So|If|When|His|Her"
    r"|Its|Their|Our)\b"
)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")


def sentence_spans(text: str, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the sentences of a paragraph begin and end, without the white space around them."""
    stop = len(text) if end is None else end
    for found in _END.finditer(text, begin, stop):
        if not _is_abbreviated(text, begin, found):
            yield from _stripped(text, begin, found.end())
            begin = found.end()
    yield from _stripped(text, begin, stop)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, on one line each; empty lines always end one.

    >>> split_sentences('Mr. Smith left. "Why?" she asked.')
    ['Mr. Smith left.', '"Why?" she asked.']
    """
    return [
        on_one_line(paragraph[slice(*span)])
        for paragraph in _PARAGRAPH.split(text)
        for span in sentence_spans(paragraph)
    ]


def on_one_line(text: str) -> str:
    """The text with single spaces for all white space."""
    return " ".join(text.split())


def _is_abbreviated(text: str, begin: int, found: re.Match[str]) -> bool:
    before = text[max(begin, found.start() - _WINDOW) : found.start()]
    if _INITIALS.search(before):
        return not _BEGINNING.match(text, found.end())
    return bool(_ABBREVIATION.search(before))


def _stripped(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    if begin < end:
        yield begin, end
