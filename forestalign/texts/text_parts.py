"""A file of prose taken apart: its sentences with the lines they begin on, and what is no prose and left alone.

Plain text has paragraphs, ended by empty lines, and items of lists. Markdown is read by markdown-it: headings, items,
quotations and paragraphs are prose; tables, code, HTML and what stands before the text are left alone and counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestalign.errors import InputError, UsageError, counted
from forestalign.formats.lines import read_text_lines
from forestalign.lexicon.english import looks_english
from forestalign.texts.sentence_split import on_one_line, sentence_spans

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGEST_TEXT = 2_000_000  # characters: some 300,000 words; a book, of which chapters can be compared
MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_MOST_LOOKED_AT = 200  # words, to tell the language
_MARKS = ".,;:!?\"'()[]“”‘’…"
_BLOCK_END = re.compile(r"\n(?=[^\S\n]*(?:\n|[-*•] |\d{1,3}[.)] ))")  # an empty line, or an item of a list
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)]) +")
# A paragraph in which marks are looked for: the work on brackets grows with their square.
_LONGEST_INLINE = 20_000  # characters
_MOST_BRACKETS = 100
MOST_MARKDOWN_LINES = 40_000  # each may be a block of its own, which costs some kilobytes and a fifth of a millisecond
_FRONT = re.compile(r"---[^\S\n]*\n(?:.*\n)*?---[^\S\n]*(?:\n|$)")


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
        return TextParts(tuple(TextSentence(line, number) for number, line in numbered if line))
    return _of_markdown(text) if markdown else TextParts(tuple(_of_plain(text)))


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
    shift, lines = head.count("\n"), text[len(head) :].split("\n")
    tables, code = [], [head] if head else []
    sentences: list[TextSentence] = []
    is_in_table = False
    reader = MarkdownIt("commonmark").enable("table").disable("inline")
    references: dict[str, Any] = {}
    for token in reader.parse(text[len(head) :], references):
        if token.type in ("table_open", "table_close"):
            is_in_table = token.type == "table_open"
            tables += ["\n".join(lines[slice(*(token.map or (0, 0)))])] if is_in_table else []
        elif token.type in ("fence", "code_block", "html_block"):
            code.append(token.content)
        elif token.type == "inline" and not is_in_table:
            is_long = len(token.content) > _LONGEST_INLINE or token.content.count("[") > _MOST_BRACKETS
            content = token.content if is_long else _without_marks(reader, token.content, references)
            sentences += _of_block(content, (token.map or [0])[0] + 1 + shift)
    return TextParts(tuple(sentences), tuple(tables), tuple(code))


def _of_block(content: str, line: int) -> Iterator[TextSentence]:
    """The sentences of a heading or paragraph that begins on a line."""
    for first, last in sentence_spans(content):
        yield TextSentence(on_one_line(content[first:last]), line + content.count("\n", 0, first))


def _without_marks(reader: MarkdownIt, content: str, references: dict[str, Any]) -> str:
    """The words of a paragraph without emphasis and addresses of links; lines stay lines."""
    found: list[Token] = []
    reader.inline.parse(content, reader, references, found)
    return "".join(map(_plain, found))


def _plain(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return token.content if token.type in ("text", "text_special", "code_inline", "image") else ""
