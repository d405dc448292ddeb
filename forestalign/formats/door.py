"""What a sentence has to be before any work is done on it, the same for files, for the command and for the library.

Every complaint is a ValueError that names the side, the value and the expectation. Lengths are looked at first: the
time of the tokenizer grows with the text, and no limit that is looked at afterwards would help.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forestalign.errors import UsageError, counted, shown
from forestalign.formats.fields import finite_number, shorten
from forestalign.tokens import Sentence, Token, tokenize
from forestalign.words.alignment import WordAlignment, WordLink

LONGEST_TEXT = 50_000  # characters of a sentence; 300 long words have about 5,000
LONGEST_WORD = 1_000  # characters; web addresses are the longest words that text has

# Control characters other than tab, newline and return, and halves of surrogate pairs: no text has them, terminals obey
# the former, and the latter cannot be written.
_HARMFUL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAKS = re.compile("[\t\r\n]")


class TooLongError(ValueError):
    """A sentence of more words or characters than the limits allow."""


def checked_sentence(side: str, value: object, max_words: int, *, tokenized: bool = False) -> Sentence:
    """The sentence of a text, of a list of words, or as it is; `tokenized` texts are split at white space alone."""
    if isinstance(value, Sentence):
        _check_words(side, value.words, max_words)
        refuse_harmful(side, value.text)
        return value
    if isinstance(value, str):
        return _of_text(side, value, max_words, tokenized)
    if isinstance(value, bytes | bytearray) or not isinstance(value, Sequence):
        raise ValueError(f"the {side} is {shorten_any(value)}; expected a string, a list of words or a Sentence")
    for index, word in enumerate(value):
        if not isinstance(word, str):
            raise ValueError(f"word {index} of the {side} is {shorten_any(word)}; expected a string")
    return _of_words(side, tuple(value), max_words)


def _of_text(side: str, value: str, max_words: int, tokenized: bool) -> Sentence:
    if len(value) > LONGEST_TEXT:
        raise TooLongError(f"the {side} has {len(value):,} characters; the limit is {LONGEST_TEXT:,}")
    # a line break, which only JSON or a program can bring, counts as a space: a sentence always fits on one line
    text = _LINE_BREAKS.sub(" ", value)
    refuse_harmful(side, text)
    _check_words(side, text.split(), max_words)
    sentence = split_on_spaces(text) if tokenized else tokenize(text.strip())
    _check_words(side, sentence.words, max_words)
    return sentence


def _of_words(side: str, words: tuple[str, ...], max_words: int) -> Sentence:
    _check_words(side, words, max_words)
    for index, word in enumerate(words):
        refuse_harmful(side, word)
        if not word or word != "".join(word.split()):
            raise ValueError(f"token {index} of the {side} is {word!r}; expected one word without white space")
    return Sentence.from_words(words)


def split_on_spaces(text: str) -> Sentence:
    """The user's own tokens: what stands between spaces, offsets into the text as it is."""
    return Sentence(text, tuple(Token(match.group(), *match.span()) for match in re.finditer(r"\S+", text)))


def refuse_harmful(side: str, text: str) -> None:
    """No control characters, no halves of surrogate pairs."""
    found = _HARMFUL.search(text)
    if found:
        code = ord(found.group())
        kind = "half of a surrogate pair" if 0xD800 <= code <= 0xDFFF else "a control character"
        raise ValueError(f"the {side} has {kind}, U+{code:04X} at character {found.start() + 1}")


def check_id(id: object) -> None:
    """UsageError, unless it is a string that can be written."""
    if not isinstance(id, str):
        raise UsageError(f"id is {shown(id)}; expected a string")
    try:
        refuse_harmful("id", id)
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_rows(pairs: object) -> None:
    """UsageError, unless they are rows of (id, source, target, links)."""
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Sequence):
        raise UsageError(f"pairs is {shown(pairs)}; expected a list of (id, source, target, links)")
    for row in pairs:
        if not isinstance(row, tuple | list) or len(row) != 4:
            raise UsageError(f"{shown(row)} is no pair; expected (id, source, target, links)")


def checked_links(links: WordAlignment, source_count: int, target_count: int) -> WordAlignment:
    """Links that a user gave, if they fit the sentences."""
    for link in links if isinstance(links.links, tuple) else (links.links,):
        if not isinstance(link, WordLink) or type(link.source) is not int or type(link.target) is not int:
            raise UsageError(f"links has {shown(link)}; expected a WordLink of two whole numbers")
        if finite_number(link.score) is None:
            raise UsageError(f"link {link.source}-{link.target} has the score {shown(link.score)}; expected a number")
        if not (0 <= link.source < source_count and 0 <= link.target < target_count):
            raise UsageError(
                f"link {link.source}-{link.target} runs past the sentences of {source_count} and "
                f"{counted(target_count, 'word')}"
            )
    return links


def _check_words(side: str, words: Sequence[str], max_words: int) -> None:
    if len(words) > max_words:
        raise TooLongError(
            f"the {side} has {counted(len(words), 'word')}; the limit is {max_words} (setting max_words)"
        )
    longest = max(map(len, words), default=0)
    if longest > LONGEST_WORD:
        raise TooLongError(f"the {side} has a word of {longest:,} characters; the limit is {LONGEST_WORD:,}")


def shorten_any(value: object) -> str:
    """Any value, cut to fit a message."""
    try:
        return shorten(value)
    except (TypeError, ValueError):
        text = repr(value)
        return text if len(text) <= 60 else text[:59] + "…"
