"""The journal beside an output file: which run wrote it, and the result of each pair of the input.

`x.jsonl.journal` is one line of JSON with the settings of the run, then a record for each pair: a digest of the pair,
its number, whether it was done, its result, and checksums. A record is added before the result goes to the output, so
the output can always be made from the journal. A pair that failed and is tried again gets a second record, behind the
others. A journal that was cut keeps what is whole. It is read in step with the input, in little memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from forestalign.batch.run_facts import Settings
from forestalign.errors import OutputError, UsageError
from forestalign.own_files import open_regular, started

FORMAT = "forestalign-run"
RECORDS = 3  # counted up whenever what a record holds changes
_BEGIN = json.dumps({"format": FORMAT})[:-1].encode()  # of every journal
_FIELDS = struct.Struct("<QQIBI")
_WITH_OWN = struct.Struct("<QQIBII")  # with a checksum of the fields
HEAD = _WITH_OWN.size  # bytes before a result
_LONGEST_HEADER = 1 << 20


class PairState(IntEnum):
    """What became of a pair. A failure is tried again by a resumed run; a line that holds no pair is not."""

    DONE = 0
    FAILED = 1
    BAD = 2


class Head(NamedTuple):
    """What is said of a pair before its result: digest of the input, number, bytes and checksum of the result."""

    digest: int
    number: int
    size: int
    state: int
    check: int


def digest_of(text: str) -> int:
    """64 bits that stand for one pair of the input."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


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


class RunJournal:
    """A journal on disk. Nothing in the file is changed before the first `append`."""

    def __init__(self, path: str):
        """Read which pairs an earlier run did; UsageError for what is no whole journal of ours."""
        self.path = path
        try:
            self._file = cast(BinaryIO, os.fdopen(open_regular(path, os.O_RDWR), "r+b"))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}; expected the journal of a run") from None
        try:
            header = self._file.readline(_LONGEST_HEADER)
            content = _content(header)
            if content is None:
                raise UsageError(f"{path} is not a journal of a run; expected the one that was written with the output")
            self.settings: Settings = content["settings"]
            self.is_current = content.get("records") == RECORDS
            self._begin = self._end = len(header)
            self.count = 0
            self.failed: set[int] = set()
            self._again: dict[int, int] = {}  # places of second records, by number
            if self.is_current:
                self._find()
        except BaseException:
            self.close()
            raise

    @classmethod
    def new(cls, path: str, settings: Settings) -> RunJournal:
        """An empty journal, whatever stood there."""
        header = json.dumps({"format": FORMAT, "records": RECORDS, "settings": settings}).encode() + b"\n"
        os.close(started(path, header))
        return cls(path)

    @classmethod
    def found(cls, path: str) -> RunJournal | None:
        """The journal of this name; None if there is none, or none whose first line is whole."""
        if not os.path.lexists(path):
            return None
        if is_journal(path):
            with open(open_regular(path), "rb") as file:
                if not file.readline(_LONGEST_HEADER).endswith(b"\n"):
                    return None
        return cls(path)

    def _find(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        for place, head in self._heads(self._file):
            if place + HEAD + head.size > size:
                return
            if head.number > self.count:
                raise self.damage(self.count)
            if head.number < self.count:
                self._again[head.number] = place
            self.count = max(self.count, head.number + 1)
            self._mark(head)
            self._end = place + HEAD + head.size

    def _mark(self, head: Head) -> None:
        if head.state == PairState.FAILED:
            self.failed.add(head.number)
        else:
            self.failed.discard(head.number)

    def _heads(self, file: BinaryIO) -> Iterator[tuple[int, Head]]:
        """The records in the order of the file, each with its place; a cut ends them."""
        place, number = self._begin, 0
        file.seek(place)
        while len(data := file.read(HEAD)) == HEAD:
            *fields, own = _WITH_OWN.unpack(data)
            if own != zlib.crc32(data[: _FIELDS.size]):
                raise self.damage(number)
            head, number = Head(*fields), number + 1
            yield place, head
            place += HEAD + head.size
            file.seek(place)

    def damage(self, number: int) -> UsageError:
        """What is told of a journal that somebody changed."""
        return UsageError(
            f"{self.path} was changed after it was written (the record of pair {number + 1}): --resume cannot "
            "continue the run; --force starts anew"
        )

    def pairs(self, with_results: bool) -> Iterator[tuple[Head, bytes]]:
        """The last record of each pair that was held at the start, in the order of the input."""
        count, again, number = self.count, dict(self._again), 0
        with open(open_regular(self.path), "rb") as file, open(open_regular(self.path), "rb") as second:
            for place, head in self._heads(cast(BinaryIO, file)):
                if number == count:
                    return
                if head.number != number:
                    continue  # the second record of an earlier pair
                source = file
                if number in again:
                    place, source = again[number], second
                    second.seek(place)
                    head = Head(*_FIELDS.unpack_from(second.read(HEAD)))
                data = b""
                if with_results and head.size:
                    source.seek(place + HEAD)
                    data = source.read(head.size)
                    if zlib.crc32(data) != head.check:
                        raise self.damage(number)
                number += 1
                yield head, data

    def append(self, digest: int, number: int, state: int, result: bytes) -> None:
        """Add the record of a pair. When the disk is full, what was written before stays and is whole."""
        head = Head(digest, number, len(result), state, zlib.crc32(result))
        fields = _FIELDS.pack(*head)
        data = _WITH_OWN.pack(*head, zlib.crc32(fields)) + result
        write_at(self._file.fileno(), data, self._end, self.path)
        self._end += len(data)
        self.count = max(self.count, number + 1)
        self._mark(head)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_at(descriptor: int, data: bytes, place: int, path: str) -> None:
    """All of it at a place, and nothing behind it; where that is impossible, nothing of it."""
    try:
        if os.fstat(descriptor).st_size > place:
            os.ftruncate(descriptor, place)
        os.lseek(descriptor, place, os.SEEK_SET)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(descriptor, place)
        raise OutputError(
            f"cannot write to {path}: {error.strerror}; what was written before is kept, and --resume continues it"
        ) from error
