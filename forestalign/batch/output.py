"""Where the results of a run go: to a file that can be resumed, or to a stream.

A resumed run holds its input against the journal, pair by pair. Where earlier pairs failed, it writes a second file
beside the first, with the old results and the new ones in the order of the input, which takes the first one's place as
soon as it has all of it; a run that is killed before goes on with that file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from forestalign.batch.run_journal import (
    JournalFile,
    PairState,
    Record,
    Settings,
    found_journal,
    is_journal,
    refuse_other_settings,
)
from forestalign.batch.store import Store, finish_move, is_of_run, open_results
from forestalign.errors import UsageError
from forestalign.outputs import STDOUT, SideFile, followed, is_stream, naming
from forestalign.own_files import CLOSED_FOR_CHILDREN
from forestalign.terminal import harmless


class Output(Protocol):
    """Takes results in the order of the input."""

    def known(self, digest: int) -> PairState | None:
        """What the output holds for the next pair of the input; None when it has to be done."""

    def copy(self, count: int) -> None:
        """The next pairs are as they were in the earlier run."""

    def write(self, digest: int, state: PairState, text: str | None) -> None:
        """The next pair's result; None leaves no line."""

    def end_of_input(self) -> None:
        """All pairs were read; complains when the output holds more."""

    def close(self, is_whole: bool) -> None:
        """`is_whole`: the run came to its end."""


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


class RunFile:
    """A file of results with its journal."""

    def __init__(self, path: str, settings: Settings, resume: bool):
        self._path, self._settings, self._packed = path, settings, path.endswith(".gz")
        self._beside = f"{path}.new"
        self._store = Store(path, self._packed)
        self._old: _Earlier | None = None  # while earlier failures are tried again
        self._held: Iterator[Record] = iter(())
        self._read = self._held_count = 0
        self._standing = 0  # pairs that the second file has already
        try:
            if resume:
                self._resume()
        except BaseException:
            self.close(False)
            raise

    def _resume(self) -> None:
        finish_move(self._beside, self._path)
        journal = found_journal(self._store.journal_path)
        if journal is None:
            if self._store.is_empty:
                return
            raise UsageError(
                f"{self._path} has no journal ({self._store.journal_path}), so nobody can say what it holds: "
                "--resume cannot continue it, --force replaces it"
            )
        refuse_other_settings(self._path, journal.settings, self._settings)
        if not journal.is_current:
            raise UsageError(f"{journal.path} is of another version of forestalign; --force starts anew")
        self._store.recover(journal)
        self._held_count = self._store.count
        if self._store.failed:
            self._begin_anew(journal)
        else:
            self._held = journal.records(0, self._held_count)

    def _begin_anew(self, journal: JournalFile) -> None:
        """Earlier failures are tried again, in a second file. It may be there already, from a run that was killed."""
        earlier, self._store = self._store, Store(self._beside, self._packed)
        begun = None if self._store.is_empty else found_journal(self._store.journal_path)
        if begun is not None and begun.settings == self._settings and begun.is_current:
            with suppress(UsageError):  # damaged: all that it held is done again
                self._store.recover(begun)
                self._held = begun.records(0, self._store.count)
        if not self._store.has_begun:
            self._store.begin(self._settings)
        self._standing = self._store.count
        self._old = _Earlier(earlier, journal, self._standing, self._packed)

    def known(self, digest: int) -> PairState | None:
        """What became of the next pair of the input; None if it has to be done."""
        if self._read >= self._held_count:
            return None
        record = next(self._held, None)
        is_old = record is None
        if record is None:
            assert self._old is not None
            record = self._old.next_for_reading()
        self._read += 1
        if record.digest != digest:
            raise UsageError(
                f"{self._path} was made from another input: pair {self._read} is not the one that it was; "
                "--resume needs the same input, --force starts anew"
            )
        return None if is_old and record.state == PairState.FAILED else PairState(record.state)

    def end_of_input(self) -> None:
        """Refuse an input that ends before the pairs of the output do."""
        if self._read < self._held_count:
            raise UsageError(
                f"{self._path} was made from another input: it holds {self._held_count} pairs, the input ends after "
                f"{self._read}; --resume needs the same input, --force starts anew"
            )

    def copy(self, count: int) -> None:
        """Keep the results of so many pairs as they are."""
        if self._old is None:
            return  # they stand where they are
        standing = min(count, self._standing)
        self._standing -= standing
        for _ in range(count - standing):
            self._store.append(*self._old.next_result())
        self._change_over()

    def write(self, digest: int, state: PairState, text: str | None) -> None:
        """Add the result of a pair."""
        self._begin()
        self._store.append(digest, state, b"" if text is None else _line(text))
        if self._old is not None:
            self._old.skip_result()
            self._change_over()

    def _begin(self) -> None:
        if not self._store.has_begun:
            self._store.begin(self._settings)
            _remove_second(self._beside)

    def _change_over(self) -> None:
        if self._old is not None and self._store.count >= self._held_count:
            self._store.move_to(self._path)
            self._old.close()
            self._old = None

    def close(self, is_whole: bool) -> None:
        """Write what is left and close the files; a run that is whole has a journal even without a result."""
        try:
            if is_whole:
                self._begin()
            self._store.flush()
        finally:
            if self._store.is_new and not self._store.has_begun and self._store.is_empty:
                os.unlink(self._store.path)  # a run that failed before its first result leaves nothing
            self._store.close()
            if self._old is not None:
                self._old.close()


class _Earlier:
    """The results of the earlier run, read twice: records in step with the input, results in step with the output."""

    def __init__(self, store: Store, journal: JournalFile, begin: int, packed: bool):
        """From the pair number `begin` on; those before stand in the new file already."""
        self._store = store
        self._results: BinaryIO = open_results(store.path, packed)
        self._results.seek(sum(record.size for record in journal.records(0, begin)))
        self._to_read = journal.records(begin, store.count)
        self._to_write = journal.records(begin, store.count)

    def next_for_reading(self) -> Record:
        return next(self._to_read)

    def skip_result(self) -> None:
        """The old result of a pair that was done again."""
        self.next_result()

    def next_result(self) -> tuple[int, int, bytes]:
        record = next(self._to_write)
        return record.digest, record.state, self._results.read(record.size)

    def close(self) -> None:
        self._results.close()
        self._store.close()


def side_files(path: str) -> tuple[SideFile, ...]:
    """All files that a run may make, replace or delete beside its output."""
    if path == STDOUT or is_stream(path):
        return ()
    found = followed(path)
    second = f"{found}.new"
    return (
        SideFile(Path(f"{found}.journal"), is_journal),
        SideFile(Path(second), is_of_run),
        SideFile(Path(f"{second}.journal"), is_journal),
    )


def _remove_second(path: str) -> None:
    """What an earlier run left that tried its failures again; a stranger's file of this name stays."""
    journal = f"{path}.journal"
    if is_of_run(path):
        for name in (path, journal):
            with suppress(FileNotFoundError):
                os.unlink(name)


def open_output(path: str, settings: Settings, resume: bool) -> Output:
    """The output of a run, checked and locked; nothing is changed before the first result is there."""
    if path == STDOUT or is_stream(path):
        if resume:
            raise UsageError("--resume needs an output file (-o FILE): it looks there for what is done")
        return Stream(path)
    return RunFile(str(followed(path)), settings, resume)


def _line(text: str) -> bytes:
    return (text + "\n").encode("utf-8", "surrogateescape")
