"""An output file and its journal, which grow together; plain, or gzip by the suffix.

A result is in the file before its record is in the journal, so what has a record is whole. A compressed file has one
gzip member for each group of pairs; the groups are counted from the beginning of the input, so that a file which was
resumed has the same bytes as one that was not.
"""

from __future__ import annotations

import fcntl
import gzip
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from forestalign.batch.run_journal import RECORD, JournalFile, PairState, Record, Settings, header_of
from forestalign.errors import OutputError, UsageError

GROUP = 64  # pairs in a gzip member
_GZIP = 31  # zlib's number for gzip headers


class Store:
    """The two files, open and locked. Nothing is changed before `begin` or the first `append`."""

    def __init__(self, path: str, packed: bool):
        self.path, self.journal_path = path, f"{path}.journal"
        self._group = GROUP if packed else 1
        self._packed = packed
        self.is_new = not os.path.exists(path)
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
        """Start from nothing; what the files held is gone."""
        self._open_journal(os.O_TRUNC)
        header = header_of(settings)
        self._write(self._journal, header, 0, self.journal_path)
        self._journal_end = len(header)
        os.ftruncate(self._file, 0)

    def recover(self, journal: JournalFile) -> None:
        """Find out what a run left that ended anywhere; the rest of both files is cut off at the next write."""
        size, end = os.fstat(self._file).st_size, 0
        is_cut = False
        for block in journal.blocks():
            ends = end + np.cumsum(block["stored"], dtype=np.int64)
            fitting = int(np.searchsorted(ends, size, side="right"))
            is_cut = fitting < len(block)
            self.count += fitting
            end = int(ends[fitting - 1]) if fitting else end
            self.failed += int((block["state"][:fitting] == PairState.FAILED).sum())
            if is_cut:
                break
        if is_cut and self._packed and self.count % self._group:
            # records of a group whose bytes are not there
            self.failed -= self._failures(journal, self.count - self.count % self._group)
            self.count -= self.count % self._group
        self._open_journal(0)
        self._end, self._journal_end = end, journal.begin + self.count * RECORD.itemsize
        self._check_last(journal)
        if self.count % self._group:
            self._take_up_group(journal)

    def _failures(self, journal: JournalFile, begin: int) -> int:
        return sum(record.state == PairState.FAILED for record in journal.records(begin, self.count))

    def _check_last(self, journal: JournalFile) -> None:
        """The bytes of the last stored result tell whether the file is still the one that was written."""
        begin = max(0, self.count - GROUP)
        last = [record for record in journal.records(begin, self.count) if record.stored]
        if last:
            data = os.pread(self._file, last[-1].stored, self._end - last[-1].stored)
            if zlib.crc32(data) != last[-1].check:
                raise UsageError(f"{self.path} was changed after it was written: --resume cannot continue it")

    def _take_up_group(self, journal: JournalFile) -> None:
        begin = self.count - self.count % self._group
        self._records = [record._replace(stored=0, check=0) for record in journal.records(begin, self.count)]
        stored = next(journal.records(self.count - 1, self.count)).stored
        data = zlib.decompress(os.pread(self._file, stored, self._end - stored), _GZIP) if stored else b""
        for record in self._records:
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
        last = self._records[-1]._replace(stored=len(data), check=zlib.crc32(data))
        self._write(self._file, data, self._end, self.path)
        records = np.array([tuple(record) for record in (*self._records[:-1], last)], RECORD)
        self._write(self._journal, records.tobytes(), self._journal_end, self.journal_path)
        self._has_news = False
        if len(self._records) == self._group:
            self._end += len(data)
            self._journal_end += records.nbytes
            self._records.clear()
            self._results.clear()

    def _write(self, descriptor: int, data: bytes, place: int, path: str) -> None:
        """All of it and nothing behind it; when the disk is full, what was written before stays and is whole."""
        view, at = memoryview(data), place
        try:
            if os.fstat(descriptor).st_size > place:
                os.ftruncate(descriptor, place)
            while view:
                count = os.pwrite(descriptor, view, at)
                view, at = view[count:], at + count
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(descriptor, place)
            raise OutputError(
                f"cannot write to {path}: {error.strerror}; what was written before is kept, and --resume continues it"
            ) from error

    def _open_journal(self, flags: int) -> None:
        if self._journal < 0:
            try:
                self._journal = os.open(self.journal_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o666)
            except OSError as error:
                raise OutputError(f"cannot write to {self.journal_path}: {error.strerror}") from error

    def move_to(self, path: str) -> None:
        """Take the place of another pair of files. The first rename decides; `finish_move` does the second if need be.

        The locks stay, since they belong to the files and not to their names.
        """
        self.flush()
        os.fsync(self._file)
        os.fsync(self._journal)
        os.replace(self.path, path)
        os.replace(self.journal_path, f"{path}.journal")
        self.path, self.journal_path = path, f"{path}.journal"

    def close(self) -> None:
        """Close both files; their locks go with them."""
        for descriptor in (self._file, self._journal):
            if descriptor >= 0:
                os.close(descriptor)


def finish_move(source: str, path: str) -> None:
    """A run was killed between the two renames of `move_to`."""
    if not os.path.exists(source) and os.path.exists(f"{source}.journal"):
        os.replace(f"{source}.journal", f"{path}.journal")


def open_results(path: str, packed: bool) -> BinaryIO:
    """The results of a store, to be read from the beginning."""
    return cast(BinaryIO, gzip.open(path, "rb")) if packed else Path(path).open("rb")


def open_alone(path: str) -> int:
    """Open a file, and make sure that no other run is writing to it; nothing in it is changed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_current = os.path.samestat(os.fstat(descriptor), os.stat(path))
    except BlockingIOError:
        is_current = False
    except OSError:
        is_current = True  # a file system without locks
    if not is_current:
        os.close(descriptor)
        raise UsageError(f"another run is writing to {path}")
    return descriptor
