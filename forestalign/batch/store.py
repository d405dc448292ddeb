"""An output file and its journal, which grow together; plain, or gzip by the suffix.

A result is in the file before its record is in the journal, and the journal is cut before the file is, so what has a
record is whole. A compressed file has one gzip member for each group of pairs; the groups are counted from the
beginning of the input, so that a file which was resumed has the same bytes as one that was not. Records of a group
count when its member is there: a run that is killed does the pairs of an unfinished group again.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from forestalign.batch.run_journal import (
    RECORD,
    JournalFile,
    PairState,
    Record,
    Settings,
    found_journal,
    header_of,
    is_journal,
)
from forestalign.errors import OutputError, UsageError
from forestalign.own_files import open_alone, open_regular, renamed, started

GROUP = 64  # pairs in a gzip member
_GZIP = 31  # zlib's number for gzip headers


class Store:
    """The two files, open and locked. Nothing is changed before `begin` or the first `append`."""

    def __init__(self, path: str, packed: bool):
        self.path, self.journal_path = path, f"{path}.journal"
        self._group = GROUP if packed else 1
        self._packed = packed
        self.is_new = not os.path.lexists(path)
        self._file, self._journal = open_alone(path), -1
        self._end = self._journal_end = 0
        self._records: list[Record] = []
        self._results: list[bytes] = []
        self._has_news = False
        self.count = self.failed = 0

    @property
    def has_begun(self) -> bool:
        """Whether there is a journal already."""
        return self._journal >= 0

    @property
    def is_empty(self) -> bool:
        """Whether the file holds nothing."""
        return os.fstat(self._file).st_size == 0

    def begin(self, settings: Settings) -> None:
        """Start from nothing: new files take the place of old ones, first that of the results."""
        try:
            if not self.is_empty:
                old, self._file = self._file, started(self.path)
                os.close(old)
            header = header_of(settings)
            self._journal, self._journal_end = started(self.journal_path, header), len(header)
        except OSError as error:
            raise OutputError(f"cannot write to {error.filename or self.journal_path}: {error.strerror}") from error

    def recover(self, journal: JournalFile) -> None:
        """Find out what a run left that ended anywhere; the rest of both files is cut off at the next write."""
        with open(self._file, "rb", closefd=False) as file:
            held = held_results(self.path, file, journal, self._group)
        self._journal = self._opened_journal(journal)
        self.count, self.failed, self._end = held.count, held.failed, held.end
        self._journal_end = journal.begin + self.count * RECORD.itemsize
        if self.count % self._group:
            self._take_up_group(journal)

    def _opened_journal(self, journal: JournalFile) -> int:
        try:
            descriptor = open_regular(self.journal_path, os.O_RDWR)
        except OSError as error:
            raise OutputError(f"cannot write to {self.journal_path}: {error.strerror}") from error
        if os.read(descriptor, journal.begin) != journal.header:
            os.close(descriptor)
            raise UsageError(f"{self.journal_path} was replaced while it was read")
        return descriptor

    def _take_up_group(self, journal: JournalFile) -> None:
        begin = self.count - self.count % self._group
        records = list(journal.records(begin, self.count))
        stored = records[-1].stored
        os.lseek(self._file, self._end - stored, os.SEEK_SET)
        data = zlib.decompress(os.read(self._file, stored), _GZIP) if stored else b""
        for record in records:
            self._records.append(record._replace(stored=0, check=0))
            self._results.append(data[: record.size])
            data = data[record.size :]
        self._end -= stored
        self._journal_end -= len(self._records) * RECORD.itemsize

    def append(self, digest: int, state: int, result: bytes) -> None:
        """Add a pair; it is written with the next block."""
        self._records.append(Record(digest, len(result), 0, 0, state))
        self._results.append(result)
        self.count += 1
        self._has_news = True
        if len(self._records) == self._group:
            self.flush()

    def flush(self) -> None:
        """Write what is there; a group that is not full yet is written again when it is."""
        if not self._records or not self._has_news:
            return
        data = b"".join(self._results)
        if self._packed and data:
            data = zlib.compress(data, wbits=_GZIP)
        records = _checked(self._records, data)
        self._cut(self._journal, self._journal_end, self.journal_path)  # it never tells of what is written over
        self._write(self._file, data, self._end, self.path)
        self._write(self._journal, records.tobytes(), self._journal_end, self.journal_path)
        self._has_news = False
        if len(self._records) == self._group:
            self._end += len(data)
            self._journal_end += records.nbytes
            self._records.clear()
            self._results.clear()

    def _cut(self, descriptor: int, place: int, path: str) -> None:
        try:
            if os.fstat(descriptor).st_size > place:
                os.ftruncate(descriptor, place)
        except OSError as error:
            raise OutputError(f"cannot write to {path}: {error.strerror}") from error

    def _write(self, descriptor: int, data: bytes, place: int, path: str) -> None:
        """All of it and nothing behind it; when the disk is full, what was written before stays and is whole."""
        self._cut(descriptor, place, path)
        view = memoryview(data)
        try:
            os.lseek(descriptor, place, os.SEEK_SET)
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(descriptor, place)
            raise OutputError(
                f"cannot write to {path}: {error.strerror}; what was written before is kept, and --resume continues it"
            ) from error

    def move_to(self, path: str) -> None:
        """Take the place of another pair of files. The first rename decides; `finish_move` does the second if need be.

        The locks stay, since they belong to the files and not to their names.
        """
        self.flush()
        os.fsync(self._journal)
        self._file = renamed(self._file, self.path, path)
        self._journal = renamed(self._journal, self.journal_path, f"{path}.journal")
        self.path, self.journal_path = path, f"{path}.journal"

    def close(self) -> None:
        """Close both files; their locks go with them."""
        for descriptor in (self._file, self._journal):
            if descriptor >= 0:
                os.close(descriptor)


def _checked(records: Sequence[Record], data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """The records of a group with their checksums; the last one has the bytes."""
    last = len(records) - 1
    whole = [record.with_bytes(data if k == last else b"") for k, record in enumerate(records)]
    return np.array([tuple(record) for record in whole], RECORD)


# ---- what is held ----


@dataclass(frozen=True, slots=True)
class HeldResults:
    """Records from the beginning of a journal whose results are all in the file, and where the file may go on."""

    count: int
    failed: int
    end: int


def held_results(path: str, file: BinaryIO, journal: JournalFile, group: int) -> HeldResults:
    """What a file holds of what its journal says. A cut is no fault; UsageError if any byte is another one."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    whole = HeldResults(0, 0, 0)  # up to the last record behind which the file may go on
    count = failed = end = waiting = 0
    for block in journal.blocks():
        for record in map(Record._make, block.tolist()):
            if record.own != record.checksum():
                raise UsageError(_changed(path, count + 1, end))
            if end + record.stored > size:
                return whole
            if record.check != zlib.crc32(file.read(record.stored)):
                raise UsageError(_changed(path, count + 1, end))
            # bytes of this group that are in no member yet: one is stored with the last record that was written
            waiting = 0 if record.stored else record.size + (waiting if count % group else 0)
            count, failed, end = count + 1, failed + (record.state == PairState.FAILED), end + record.stored
            if not waiting:
                whole = HeldResults(count, failed, end)
    return whole


def _changed(path: str, number: int, end: int) -> str:
    return (
        f"{path} or its journal was changed after it was written (the result of pair {number}): --resume cannot "
        f"continue it; cut to its first {end} bytes, the file keeps what comes before"
    )


def finish_move(source: str, path: str) -> None:
    """A run was killed between the two renames of `move_to`: the journal that fits the file is under the old name."""
    if os.path.lexists(source) or not os.path.exists(path):
        return
    journal = found_journal(f"{source}.journal")
    if journal is None:
        return
    with suppress(UsageError), open(open_regular(path), "rb") as file:
        held = held_results(path, file, journal, GROUP if path.endswith(".gz") else 1)
        if held.end == os.fstat(file.fileno()).st_size and held.count == journal.count:
            os.replace(f"{source}.journal", f"{path}.journal")


def is_of_run(path: str | Path) -> bool:
    """Whether a second file of results is of a run: then it has a journal."""
    journal = f"{path}.journal"
    return os.path.isfile(journal) and os.path.getsize(journal) > 0 and is_journal(journal)


def open_results(path: str, packed: bool) -> BinaryIO:
    """The results of a store, to be read from the beginning."""
    return cast(BinaryIO, gzip.open(path, "rb")) if packed else Path(path).open("rb")
