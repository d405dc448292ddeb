"""The journal beside an output file: which run wrote it, and one record for each pair of the input.

`x.jsonl.journal` is one line of JSON with the settings of the run, then records of fixed size: a digest of the pair,
the bytes of its result, the bytes that were added to the file with it (of a compressed file: those of a whole group,
in the record of its last pair) and their checksum, whether it was done, and a checksum of the record itself. Records
are read in step with the input, so that a file of any length is resumed in little memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import IntEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from forestalign.arrays import AnyArray
from forestalign.batch.run_facts import FILE_FIELDS
from forestalign.errors import UsageError
from forestalign.grammar import grammar_hash
from forestalign.inputs import content_digest
from forestalign.own_files import open_regular

FORMAT = "forestalign-run"
RECORDS = 2  # counted up whenever what a record holds changes
_BEGIN = json.dumps({"format": FORMAT})[:-1].encode()  # of every journal
_FIELDS = struct.Struct("<QIIIB")
RECORD = np.dtype(
    [("digest", "<u8"), ("size", "<u4"), ("stored", "<u4"), ("check", "<u4"), ("state", "u1"), ("own", "<u4")]
)
_BLOCK = 1 << 14  # records read at a time
_LONGEST_HEADER = 1 << 20

Settings = Mapping[str, object]


class PairState(IntEnum):
    """What became of a pair. A failure is tried again by a resumed run; a line that holds no pair is not."""

    DONE = 0
    FAILED = 1
    BAD = 2


class Record(NamedTuple):
    """A pair in the journal: digest of its input, bytes of its result and of what is stored, checksum, state."""

    digest: int
    size: int
    stored: int
    check: int
    state: int
    own: int = 0  # checksum of the others

    def with_bytes(self, data: bytes) -> Record:
        """The record as it is written, with the bytes that are stored along with it."""
        found = self._replace(stored=len(data), check=zlib.crc32(data))
        return found._replace(own=found.checksum())

    def checksum(self) -> int:
        """What `own` has to be."""
        return zlib.crc32(_FIELDS.pack(*self[:-1]))


def digest_of(text: str) -> int:
    """64 bits that stand for one pair of the input."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def settings_of(start: Callable[..., object]) -> dict[str, object]:
    """What the results of a run depend on: version, grammar, and the fields of the function that starts its workers.

    A setting that names a file or a folder stands for what it holds.
    """
    found: dict[str, object] = {"version": version("forestalign"), "grammar": grammar_hash()}
    found["work"] = _work_name(start)
    for owner, field, value in _flat(start):
        name = f"{field} of {owner}" if field in found else field
        found[name] = value
        if field in FILE_FIELDS and value and (digest := content_digest(str(value))):
            found[f"content of {name}"] = digest
    return found


def _work_name(work: object) -> str:
    """The name of a function or of a callable object, with those of the functions it is made of."""
    parts = [inner for _, inner in _own_fields(work) if callable(inner)]
    name = str(getattr(work, "__qualname__", type(work).__qualname__))
    return f"{name}({', '.join(map(_work_name, parts))})" if parts else name


def _flat(value: object) -> Iterator[tuple[str, str, object]]:
    """The fields of a dataclass and of those inside it: the name of the class, that of the field, and its value."""
    for name, inner in _own_fields(value):
        if is_dataclass(inner):
            yield from _flat(inner)
        elif not hasattr(inner, "__qualname__"):  # functions have their place in the name of the work
            plain = inner if isinstance(inner, bool | int | float | str) else repr(inner)
            yield type(value).__qualname__, name, plain


def _own_fields(value: object) -> Iterator[tuple[str, object]]:
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield field.name, getattr(value, field.name)


def header_of(settings: Settings) -> bytes:
    """The first line of a journal."""
    return json.dumps({"format": FORMAT, "records": RECORDS, "settings": settings}).encode() + b"\n"


def is_journal(path: str | Path) -> bool:
    """Whether a file is a journal, or as much of one as a full disk or a cut left."""
    try:
        with open(open_regular(path), "rb") as file:
            line = file.readline(_LONGEST_HEADER)
    except OSError:
        return False
    if not line.endswith(b"\n"):
        return line.startswith(_BEGIN) or _BEGIN.startswith(line)
    return _content(line) is not None


def _content(line: bytes) -> dict[str, Any] | None:
    """The header of a journal; None if it is of another file."""
    try:
        content = json.loads(line)
        is_ours = content["format"] == FORMAT and isinstance(content["settings"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return content if is_ours else None


class JournalFile:
    """A journal on disk, for reading."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        with self._opened() as file:
            self.header = file.readline(_LONGEST_HEADER)
        content = _content(self.header)
        if content is None:
            raise UsageError(
                f"{self.path} is not a journal of a run; expected the one that was written with the output"
            )
        self.settings: Settings = content["settings"]
        self.is_current = content.get("records") == RECORDS
        self.begin = len(self.header)

    def _opened(self) -> BinaryIO:
        try:
            return open(open_regular(self.path), "rb")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}; expected the journal of a run") from None

    @property
    def count(self) -> int:
        """Whole records that it holds."""
        return (self.path.stat().st_size - self.begin) // RECORD.itemsize

    def blocks(self, begin: int = 0) -> Iterator[AnyArray]:
        """The records from a number on, many at a time; one that was cut off in the middle is left out."""
        with self._opened() as file:
            file.seek(self.begin + begin * RECORD.itemsize)
            while data := file.read(_BLOCK * RECORD.itemsize):
                yield np.frombuffer(data[: len(data) // RECORD.itemsize * RECORD.itemsize], RECORD)

    def records(self, begin: int, end: int) -> Iterator[Record]:
        """The records from one number up to another."""
        left = end - begin
        for block in self.blocks(begin):
            yield from map(Record._make, block[:left].tolist())
            left -= len(block)
            if left <= 0:
                return


def found_journal(path: str | Path) -> JournalFile | None:
    """The journal of this name; None if there is none, or none whose first line is whole."""
    if not os.path.lexists(path):
        return None
    if is_journal(path) and not _has_whole_header(path):
        return None
    return JournalFile(path)


def _has_whole_header(path: str | Path) -> bool:
    with open(open_regular(path), "rb") as file:
        return file.readline(_LONGEST_HEADER).endswith(b"\n")


def refuse_other_settings(output: str, old: Settings, new: Settings) -> None:
    """Say which settings differ from those that the output was made with."""
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    if names:
        told = "; ".join(f"{name} was {_shown(old, name)} and is now {_shown(new, name)}" for name in names[:4])
        raise UsageError(f"{output} was made with other settings and cannot be resumed: {told}; --force starts anew")


def _shown(settings: Settings, name: str) -> str:
    return repr(settings[name]) if name in settings else "not set"
