"""Output that survives a kill: whole lines, each written by one system call, and what a file already holds.

A line is what ends in a newline. A process that is killed while the kernel copies a long line may leave the beginning
of that line at the end of the file; a resumed run cuts it off before it reads or writes anything.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from forestalign.batch.jobs import Job, Layout, Outcome
from forestalign.errors import InputError, UsageError

_BLOCK = 1 << 16


class LineOutput:
    """A file, or stdout for `-`. Nothing is buffered, so what was written is in the file whatever happens next."""

    def __init__(self, path: str, *, append: bool = False):
        if path == "-":
            sys.stdout.flush()
            self._descriptor, self._is_own = sys.stdout.fileno(), False
            return
        self._descriptor, self._is_own = _open_alone(path), True
        if not append and stat.S_ISREG(os.fstat(self._descriptor).st_mode):  # not a pipe or /dev/null
            os.ftruncate(self._descriptor, 0)

    def write_line(self, text: str) -> None:
        data = memoryview((text + "\n").encode("utf-8", "surrogateescape"))
        while data:
            data = data[os.write(self._descriptor, data) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_own:
            os.close(self._descriptor)


def _open_alone(path: str) -> int:
    """Open for appending, and make sure that no other run is writing to the same file."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(f"another run is writing to {path}") from None
    except OSError:
        pass  # a file system without locks
    return descriptor


class Held:
    """What the output file of an earlier run holds; asked once for each job, in order."""

    def __init__(self, path: Path, layout: Layout):
        self._keys: Counter[str] = Counter()
        self._line_count = 0
        self._counts_lines = layout is Layout.LINES
        if layout is Layout.BLOCKS:
            raise UsageError("this output format cannot be resumed; use a JSON format")
        if not path.exists():
            return
        drop_torn_line(path)
        for line in _lines(path):
            self._line_count += 1
            if layout is Layout.JSON:
                self._keys[_key(path, self._line_count, line)] += 1

    def takes(self, item: Job | Outcome[str]) -> bool:
        """Whether the file holds this item's line. Keys that occur twice in the input are counted."""
        if self._counts_lines:
            self._line_count -= 1
            return self._line_count >= 0
        if not isinstance(item, Job) or self._keys[item.key] <= 0:
            return False
        self._keys[item.key] -= 1
        return True


def drop_torn_line(path: Path) -> None:
    """Cut off what follows the last newline."""
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - _BLOCK)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                end = begin + newline + 1
                break
            end = begin
        file.truncate(end)


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        yield from file


def _key(path: Path, number: int, line: str) -> str:
    try:
        key = json.loads(line)["id"]
    except (ValueError, KeyError, TypeError):
        raise InputError(
            path, number, 'expected a JSON object with an "id"; is this the output of an earlier run?'
        ) from None
    return str(key)
