"""A file of prose taken apart: its sentences with the lines they begin on, and what is no prose and left alone.

Plain text has paragraphs, ended by empty lines, and items of lists. Markdown is read by markdown-it: headings, items,
quotations and paragraphs are prose; tables, code, HTML and what stands before the text are left alone and counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestalign.errors import InputError, UsageError, counted
from forestalign.formats.lines import read_text_lines
from forestalign.lexicon.wordnet import looks_english

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
            yield from _strip(text, begin, found.end())
            begin = found.end()
    yield from _strip(text, begin, stop)


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


def _strip(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    if begin < end:
        yield begin, end


# ---- files ----


LARGEST_TEXT = 2_000_000  # characters: some 300,000 words; a book, of which chapters can be compared
MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_MOST_LOOKED_AT = 200  # words, to tell the language
_MARKS = ".,;:!?\"'()[]“”‘’…"
_BLOCK_END = re.compile(r"\n(?=[^\S\n]*(?:\n|[-*•] |\d{1,3}[.)] ))")  # an empty line, or an item of a list
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)]) +")
# A paragraph in which marks are looked for: the work on stars and brackets grows with their square.
_LONGEST_INLINE = 20_000  # characters
_MOST_BRACKETS = 100
# A line of Markdown may be a block of its own, which costs some kilobytes; sentences are compared with each other.
MOST_MARKDOWN_LINES = MOST_SENTENCES = 40_000
_FRONT = re.compile(r"---[^\S\n]*\n(?:.*\n)*?---[^\S\n]*(?:\n|$)")
_BELOW_HEADER = re.compile(r"(?=[^\n]*\|)\s{0,3}\|?(?:[ \t]*:?-+:?[ \t]*(?:\||$))+[ \t]*")  # the second line of a table


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence on one line, and the number of the line on which it begins, from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TextParts:
    """The sentences of a text, and what was left alone, as it stands there."""

    sentences: tuple[TextSentence, ...]
    tables: tuple[str, ...] = ()
    code: tuple[str, ...] = ()  # with HTML and the lines before the text

    @property
    def texts(self) -> list[str]:
        """The words of each sentence, without its place."""
        return [sentence.text for sentence in self.sentences]

    @property
    def left_alone(self) -> str:
        """What was left alone in words; empty if nothing was."""
        counts = (len(self.tables), "table"), (len(self.code), "piece")
        told = [counted(number, noun) + (" of code" if noun == "piece" else "") for number, noun in counts if number]
        return " and ".join(told)

    @property
    def looks_english(self) -> bool:
        """Whether most words of the first sentences are English."""
        words = [word for each in self.sentences[:_MOST_LOOKED_AT] for word in each.text.split()]
        return looks_english([word.strip(_MARKS) for word in words[:_MOST_LOOKED_AT] if word.strip(_MARKS)])


def read_prose(path: str | Path) -> str:
    """A text from a file or from stdin (`-`); InputError where it is too large or no text."""
    lines, size = [], 0
    for number, line in read_text_lines(path):
        size += len(line) + 1
        if size > LARGEST_TEXT:
            raise InputError(
                path, None, f"has more than {LARGEST_TEXT:,} characters; expected a chapter, not a library"
            )
        if "\0" in line:
            raise InputError(path, number, "holds a zero byte, which no text does; expected UTF-8 text")
        lines.append(line)
    return "\n".join(lines)


def is_markdown(path: str | Path) -> bool:
    """Whether a name is that of a Markdown file."""
    return str(path).lower().removesuffix(".gz").endswith(MARKDOWN_SUFFIXES)


def take_text_apart(text: str, markdown: bool = False, lines: bool = False) -> TextParts:
    """The sentences of a text with their lines; `lines`: each line that is not empty is one.

    >>> take_text_apart("One is here.\\nTwo\\nfollows. Three.").sentences[1]
    TextSentence(text='Two follows.', line=2)
    """
    if lines:
        numbered = enumerate(map(on_one_line, text.split("\n")), start=1)
        parts = TextParts(tuple(TextSentence(line, number) for number, line in numbered if line))
    else:
        parts = _of_markdown(text) if markdown else TextParts(tuple(_of_plain(text)))
    if len(parts.sentences) > MOST_SENTENCES:
        raise UsageError(f"the text has more than {MOST_SENTENCES:,} sentences; expected a chapter, not a library")
    return parts


def _of_plain(text: str) -> Iterator[TextSentence]:
    newlines = [found.start() for found in re.finditer("\n", text)]
    begin = 0
    for end in [*(found.start() for found in _BLOCK_END.finditer(text)), len(text)]:
        item = _ITEM.match(text, begin, end)
        for first, last in sentence_spans(text, item.end() if item else begin, end):
            yield TextSentence(on_one_line(text[first:last]), bisect_right(newlines, first) + 1)
        begin = end


# ---- Markdown ----


def _of_markdown(text: str) -> TextParts:
    from markdown_it import MarkdownIt  # only here, for the start

    if text.count("\n") >= MOST_MARKDOWN_LINES:
        raise UsageError(
            f"the Markdown text has more than {MOST_MARKDOWN_LINES:,} lines; expected a chapter, not a library"
        )

    front = _FRONT.match(text)
    head = front.group() if front else ""
    lines = text[len(head) :].split("\n")
    tables, code = [], [head] if head else []
    sentences: list[TextSentence] = []
    reader = MarkdownIt("commonmark").disable("inline")
    references: dict[str, Any] = {}
    for token in reader.parse(text[len(head) :], references):
        if token.type in ("fence", "code_block", "html_block"):
            code.append(token.content)
        elif token.type == "inline":
            begin, end = token.map or (0, 0)
            content = token.content.split("\n")
            length = _lines_before_table(content)
            if length < len(content):
                tables.append("\n".join(lines[begin + length : end]))
            prose = _without_marks(reader, "\n".join(content[:length]), references)
            sentences += _of_block(prose, begin + 1 + head.count("\n"))
    return TextParts(tuple(sentences), tuple(tables), tuple(code))


def _lines_before_table(lines: Sequence[str]) -> int:
    """How many lines of a paragraph come before the header of a table; a table ends with its paragraph.

    The reader's own rule for tables fills up short rows, which makes large tables of small texts.
    """
    for number, (header, below) in enumerate(pairwise(lines)):
        if "|" in header and _BELOW_HEADER.fullmatch(below) and _count_columns(header) == _count_columns(below):
            return number
    return len(lines)


def _count_columns(row: str) -> int:
    return row.replace("\\|", "").strip().removeprefix("|").removesuffix("|").count("|") + 1


def _of_block(content: str, line: int) -> Iterator[TextSentence]:
    """The sentences of a heading or paragraph that begins on a line."""
    before = 0
    for first, last in sentence_spans(content):
        line += content.count("\n", before, first)
        before = first
        yield TextSentence(on_one_line(content[first:last]), line)


def _without_marks(reader: MarkdownIt, content: str, references: dict[str, Any]) -> str:
    """The words of a paragraph without emphasis and addresses of links; lines stay lines.

    A paragraph that is too long for a search of marks keeps them.
    """
    if len(content) > _LONGEST_INLINE or content.count("[") > _MOST_BRACKETS:
        return content
    found: list[Token] = []
    reader.inline.parse(content, reader, references, found)
    return "".join(map(_plain, found))


def _plain(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return token.content if token.type in ("text", "text_special", "code_inline", "image") else ""
