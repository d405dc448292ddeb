"""What a terminal is shown: control characters in names, cards and words are made visible and never obeyed.

A file name or a model's card may hold sequences that move the cursor, change the title of a window or fill a clipboard.
Streams that lead to a terminal pass through here; files and pipes get every byte as it is.
"""

from __future__ import annotations

import codecs
import html
import os
import re
from collections.abc import Iterable
from typing import Any

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "\033[1m", "\033[2m", "\033[1;31m", "\033[32m", "\033[33m", "\033[36m"
PLAIN = "\033[0m"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line feeds
_COLOURS = re.compile("(" + "|".join(map(re.escape, (BOLD, DIM, RED, GREEN, YELLOW, CYAN, PLAIN))) + ")")


# Directional marks, embeddings, overrides and isolates can make a text read otherwise than it is.
# `view/assets/draw.js` has the same list.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A sentence or a word with every character that would steer its reading as its number: `[U+202E]`."""
    return _STEERING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def lines_html(text: str) -> str:
    """Lines of text as a notebook shows them, in the widths of letters that a terminal has."""
    lines = "\n".join(map(visible, text.split("\n")))
    return f"<pre>{html.escape(lines)}</pre>"


def harmless(text: str, colours: bool = False) -> str:
    """The text with control characters as their numbers; with `colours` those of our own stay.

    >>> harmless("a\\x1b]0;title\\x07b")
    'a[U+001B]0;title[U+0007]b'
    """
    if colours:
        parts = _COLOURS.split(text)  # every second one is a colour
        return "".join(part if k % 2 else harmless(part) for k, part in enumerate(parts))
    return _CONTROL.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def wants_colour(stream: Any) -> bool:
    """Whether a stream is a terminal that shows colours, and nobody said by NO_COLOR that they do not want them."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class TerminalText:
    """A stream of text that leads to a terminal. A return that a progress line begins with stays."""

    def __init__(self, stream: Any):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without control characters that would steer the terminal."""
        begin = "\r" if text.startswith("\r") else ""
        self._stream.write(begin + harmless(text.removeprefix("\r")))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several lines, each as `write` does."""
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> TerminalBytes:
        """A stream of bytes to the same terminal, made harmless in the same way."""
        return TerminalBytes(self._stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class TerminalBytes:
    """A stream of bytes that leads to a terminal; characters may come in pieces."""

    def __init__(self, stream: Any):
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> int:
        """Write bytes without control characters that would steer the terminal."""
        self._stream.write(harmless(self._decoder.decode(data)).encode())
        return len(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Write several lines, each as `write` does."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Paint:
    """Colours, or none."""

    def __init__(self, colour: bool):
        self.colour = colour

    def __call__(self, code: str, text: str) -> str:
        """The text in a colour."""
        return f"{code}{text}{PLAIN}" if self.colour and code else text
