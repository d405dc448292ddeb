"""Lines of a file, one at a time: plain or gzip by suffix, `-` for standard input, UTF-8 checked line by line.

A line ends at a newline alone, so the separators that Unicode knows besides (U+2028 and others) stay inside it, and the
number of a line is the one an editor shows.

Words in the cells of a table that somebody may open in a spreadsheet.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, NamedTuple, TypeVar, cast

from forestalign.errors import InputError
from forestalign.outputs import packed_file

STDIN = "-"
Content = TypeVar("Content")
Other = TypeVar("Other")
LONGEST_LINE = 1 << 26  # bytes; a result of two long sentences has some hundred thousand, a device has no end
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its end, with its number from 1; `error` says why it is not text."""

    number: int
    text: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Unread(Generic[Content]):
    """A piece of a file that nobody has looked into yet: its text, and how to read it.

    A run that is resumed holds the text against what it did before, and reads only what is new.
    """

    text: str
    read: Callable[[], Content]

    def then(self, function: Callable[[Content], Other]) -> Unread[Other]:
        """This text, read when it is asked for and then passed through a function."""
        return Unread(self.text, lambda: function(self.read()))


def read_lines(path: str | Path) -> Iterator[Line]:
    """The lines as they come; the first is there before the last is read.

    A file that breaks off (a truncated gzip) raises InputError once the lines before the break are delivered.
    """
    number = 0
    with _open_file(path) as stream:
        try:
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise InputError(
                        path, number, f"the line has more than {LONGEST_LINE:,} bytes; expected lines of text"
                    )
                yield _decode(number, raw)
        except (EOFError, zlib.error, OSError) as error:
            raise InputError(
                path, number + 1, f"the file breaks off or is damaged after line {number}: {error}"
            ) from error


def read_text_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file in which every line has to be text."""
    for line in read_lines(path):
        if line.error:
            raise InputError(path, line.number, line.error)
        yield line.number, line.text


def first_text(path: str | Path) -> str:
    """The first line that is not blank, without the blanks around it; empty if there is none. It tells the format."""
    return next((text.strip() for _, text in read_text_lines(path) if text.strip()), "")


def read_text(path: str | Path) -> str:
    """A whole file, for formats in which lines mean nothing."""
    return "\n".join(text for _, text in read_text_lines(path))


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines, each ended by a newline; gzip by suffix."""
    with packed_file(path) as file:
        file.writelines(line.encode() + b"\n" for line in lines)


@contextmanager
def _open_file(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        stream = gzip.open(path, "rb") if str(path).endswith(".gz") else open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(path, None, f"cannot be read: {error.strerror}") from error
    with stream:
        yield cast(BinaryIO, stream)


def _decode(number: int, raw: bytes) -> Line:
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if number == 1:
        raw = raw.removeprefix(_BYTE_ORDER_MARK)
    try:
        return Line(number, raw.decode())
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        return Line(number, "", f"byte {error.start + 1} of the line is 0x{byte:02x}, which is not UTF-8")


_FORMULA = ("=", "+", "-", "@")


def cell(text: str) -> str:
    """Words as a cell: what a spreadsheet would take for a formula, and run, has an apostrophe before it.

    >>> cell("=1+1"), cell("a = b")
    ("'=1+1", 'a = b')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
