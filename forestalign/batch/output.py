"""Where the results of a run go: to a file that can be resumed, or to a stream.

A resumed run holds its input against the journal, pair by pair. What the journal holds need not be done again: where
the output lacks it, or where a pair that failed is done now, the output is written anew from there.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from forestalign.batch.run_journal import (
    Head,
    PairState,
    RunJournal,
    Settings,
    is_journal,
    refuse_other_settings,
    write_at,
)
from forestalign.errors import UsageError
from forestalign.outputs import STDOUT, SideFile, follow_link, is_packed, is_stream, naming
from forestalign.own_files import CLOSED_FOR_CHILDREN, open_alone, start_file
from forestalign.terminal import harmless

GROUP = 64  # pairs in a gzip member
_GZIP = 31  # zlib's number for gzip headers


class Stream:
    """Stdout, a device or a pipe: nothing is kept, nothing can be resumed."""

    def __init__(self, path: str):
        self._path, self._is_own = path, path != STDOUT
        sys.stdout.flush()
        with naming(path):
            self._descriptor = os.open(path, os.O_WRONLY | CLOSED_FOR_CHILDREN) if self._is_own else sys.stdout.fileno()
            self._is_terminal = os.isatty(self._descriptor)

    def known(self, digest: int) -> PairState | None:
        """Nothing is known of any pair."""
        return None

    def copy(self, count: int) -> None:
        """There is nothing to copy."""
        assert not count

    def write(self, digest: int, state: PairState, text: str | None) -> None:
        """Write the line of a pair at once; a pair without one leaves none."""
        if text is not None:
            data = memoryview(_line(harmless(text, colours=True) if self._is_terminal else text))
            with naming("stdout" if self._path == STDOUT else self._path):
                while data:
                    data = data[os.write(self._descriptor, data) :]

    def end_of_input(self) -> None:
        """Nothing was held that the input could lack."""

    def close(self, is_whole: bool) -> None:
        """Close what was opened here."""
        if self._is_own:
            os.close(self._descriptor)


class _Results:
    """The bytes of an output, one result or one group of them after the other.

    Where an earlier run wrote the same bytes they stay; where it did not, what follows is written anew. A gzip output
    has one member for each group of pairs, counted from the beginning of the input, so that a file which was resumed
    has the same bytes as one that was not.
    """

    def __init__(self, path: str, descriptor: int):
        self.path, self._descriptor = path, descriptor
        self._is_packed = is_packed(path)
        self._group: list[bytes] = []
        self.place = 0
        self._held = os.fstat(descriptor).st_size  # bytes of an earlier run, until the rest is written anew

    def put(self, result: bytes) -> None:
        """Add the result of a pair."""
        self._group.append(result)
        if not self._is_packed or len(self._group) == GROUP:
            self.place += self._write(self._data())
            self._group.clear()

    def flush(self) -> None:
        """Write a group that is not full; it is written again when it is."""
        self._write(self._data())

    def cut(self) -> None:
        """What stands behind is of an earlier run and will be written anew."""
        if self._held > self.place:
            write_at(self._descriptor, b"", self.place, self.path)
            self._held = self.place

    def end(self) -> None:
        """Nothing stands behind the last result, and all of it is on the disk before the journal goes."""
        self.place += self._write(self._data())
        self._group.clear()
        self.cut()
        os.fsync(self._descriptor)

    def check(self, journal: RunJournal) -> bool:
        """Whether the file holds what the journal says; false if it is short or its last group is another one.

        UsageError says where else a byte was changed.
        """
        for number, (_, result) in enumerate(journal.pairs(with_results=True)):
            self._group.append(result)
            if len(self._group) == GROUP or number == journal.count - 1:
                is_final = not self._is_packed or len(self._group) == GROUP  # a group may still grow
                data = self._data()
                held = self._standing(len(data))
                if held != data[: len(held)] and is_final:
                    raise UsageError(
                        f"{self.path} was changed after it was written (before pair {number + 2}): --resume cannot "
                        f"continue it; cut to its first {self.place} bytes, it is made again from its journal"
                    )
                if held != data:
                    return False
                if is_final:
                    self.place += len(data)
                    self._group.clear()
        return True

    def _data(self) -> bytes:
        data = b"".join(self._group)
        return zlib.compress(data, wbits=_GZIP) if self._is_packed and data else data

    def _standing(self, size: int) -> bytes:
        os.lseek(self._descriptor, self.place, os.SEEK_SET)
        return os.read(self._descriptor, size)

    def _write(self, data: bytes) -> int:
        if self.place + len(data) > self._held or self._standing(len(data)) != data:
            write_at(self._descriptor, data, self.place, self.path)
            self._held = 0
        return len(data)


class RunFile:
    """A file of results with its journal, which is removed when all pairs are done."""

    def __init__(self, path: str, settings: Settings, resume: bool):
        self._path, self._journal_path, self._settings = path, f"{path}.journal", settings
        self._is_new = not os.path.lexists(path)
        self._descriptor = open_alone(path)
        self._journal: RunJournal | None = None
        self._results: _Results
        self._heads: Iterator[tuple[Head, bytes]] = iter(())
        self._rows: Iterator[tuple[Head, bytes]] | None = None  # None: they stand where they are
        self._read = self._written = self._held_count = 0
        self._has_news = False
        try:
            if resume:
                self._resume()
        except BaseException:
            self.close(False)
            raise

    def _resume(self) -> None:
        journal = self._journal = RunJournal.found(self._journal_path)
        if journal is None:
            if os.fstat(self._descriptor).st_size == 0:
                return
            raise UsageError(
                f"{self._path} has no journal ({self._journal_path}): the run that wrote it is over, or it is of "
                "another origin; there is nothing to resume, --force replaces it"
            )
        refuse_other_settings(self._path, journal.settings, self._settings)
        if not journal.is_current:
            raise UsageError(f"{journal.path} is of another version of forestalign; --force starts anew")
        self._held_count = journal.count
        self._results = _Results(self._path, self._descriptor)
        if not self._results.check(journal) or journal.failed:
            self._results = _Results(self._path, self._descriptor)
            self._rows = journal.pairs(with_results=True)
        self._heads = journal.pairs(with_results=False)

    def known(self, digest: int) -> PairState | None:
        """What became of the next pair of the input; None if it has to be done."""
        if self._read >= self._held_count:
            return None
        head, _ = next(self._heads)
        self._read += 1
        if head.digest != digest:
            raise UsageError(
                f"{self._path} was made from another input: pair {self._read} is not the one that it was; "
                "--resume needs the same input, --force starts anew"
            )
        return None if head.state == PairState.FAILED else PairState(head.state)

    def end_of_input(self) -> None:
        """Refuse an input that ends before the pairs of the output do."""
        if self._read < self._held_count:
            raise UsageError(
                f"{self._path} was made from another input: it holds {self._held_count} pairs, the input ends after "
                f"{self._read}; --resume needs the same input, --force starts anew"
            )

    def copy(self, count: int) -> None:
        """Keep the results of so many pairs as they are."""
        self._written += count
        for _ in range(count if self._rows is not None else 0):
            self._results.put(self._next_result())

    def _next_result(self) -> bytes:
        assert self._rows is not None
        return next(self._rows)[1]

    def write(self, digest: int, state: PairState, text: str | None) -> None:
        """Add the result of a pair, to the journal first."""
        result = b"" if text is None else _line(text)
        self._begin()
        assert self._journal is not None
        if self._written < self._held_count:
            self._next_result()  # the old one, of a pair that is done again
        if self._written < self._held_count or not self._has_news:
            self._results.cut()  # so that the file never holds what the journal does not
        self._journal.append(digest, self._written, state, result)
        self._results.put(result)
        self._written, self._has_news = self._written + 1, True

    def _begin(self) -> None:
        """Start from nothing, unless a run goes on: new files take the place of old ones."""
        if self._journal is not None:
            return
        with naming(self._path):
            if os.fstat(self._descriptor).st_size:
                old, self._descriptor = self._descriptor, start_file(self._path)
                os.close(old)
        with naming(self._journal_path):
            self._journal = RunJournal.new(self._journal_path, self._settings)
        self._results = _Results(self._path, self._descriptor)

    def close(self, is_whole: bool) -> None:
        """Write what is left and close the files; of a run that did all its pairs the journal is removed."""
        is_over = False
        try:
            if is_whole:
                self._begin()
                self._results.end()
                is_over = self._journal is not None and not self._journal.failed
            elif self._has_news:
                self._results.flush()
        finally:
            if self._journal is not None:
                self._journal.close()
            if is_over:
                os.unlink(self._journal_path)
            if self._is_new and not is_whole and not self._has_news and os.fstat(self._descriptor).st_size == 0:
                os.unlink(self._path)  # a run that failed before its first result leaves nothing
            os.close(self._descriptor)


Output = Stream | RunFile  # takes results in the order of the input


def side_files(path: str) -> tuple[SideFile, ...]:
    """The file that a run makes beside its output."""
    if path == STDOUT or is_stream(path):
        return ()
    return (SideFile(Path(f"{follow_link(path)}.journal"), is_journal),)


def has_journal(path: str) -> bool:
    """Whether the settings of a run are written down beside its output."""
    return path != STDOUT and not is_stream(path)


def open_output(path: str, settings: Settings, resume: bool) -> Output:
    """The output of a run, checked and locked; nothing is changed before the first result is there."""
    if not has_journal(path):
        if resume:
            raise UsageError("--resume needs an output file (-o FILE): it looks there for what is done")
        return Stream(path)
    return RunFile(str(follow_link(path)), settings, resume)


def _line(text: str) -> bytes:
    return (text + "\n").encode("utf-8", "surrogateescape")
