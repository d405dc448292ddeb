"""Files that are written: looked at before any work begins, and replaced as a whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from forestalign.errors import OutputError, UsageError
from forestalign.own_files import is_mine, replace_file

STDOUT = "-"


def check_output(
    output: str | Path,
    inputs: Iterable[str | Path] = (),
    *,
    force: bool = False,
    resume: bool = False,
    can_resume: bool = False,
) -> None:
    """Refuse an output that cannot be written, or that would destroy something: an input, an earlier result.

    Nothing is opened. `can_resume` says whether --resume is worth a mention where a file is in the way.
    """
    _refuse_input(output, inputs)
    if str(output) == STDOUT:
        return
    _refuse_unwritable(str(output))
    if not (force or resume) and os.path.isfile(output) and os.path.getsize(output):
        way_out = "--resume continues it, --force replaces it" if can_resume else "--force replaces it"
        raise UsageError(f"{output} exists already; {way_out}")


def _refuse_unwritable(output: str) -> None:
    if os.path.isdir(output):
        raise UsageError(f"cannot write to {output}: it is a folder; expected the name of a file")
    if os.path.exists(output) and not os.access(output, os.W_OK):
        raise UsageError(f"cannot write to {output}: permission denied")
    folder = os.path.dirname(follow_link(output))
    if not os.path.isdir(folder):
        named = os.path.dirname(output) or folder
        raise UsageError(f"cannot write to {output}: the folder {named} does not exist")
    # a file is written beside its place, then renamed
    if not is_stream(output) and not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to {output}: no file can be made in the folder {folder}: permission denied")


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file that a run keeps beside its output, and what tells one that an earlier run left."""

    path: Path
    is_ours: Callable[[Path], bool]  # asked of regular files that are not empty


def check_sides(
    output: str | Path, sides: Iterable[SideFile], inputs: Iterable[str | Path], outputs: Iterable[str | Path] = ()
) -> None:
    """Refuse a run that would write, replace or delete something beside its output that is not of such a run.

    `outputs` are further files that it writes.
    """
    inputs, taken = list(inputs), {os.path.realpath(each): each for each in outputs if str(each) != STDOUT}
    for side in sides:
        way_out = f"expected another output than {output}, beside which the run keeps that file"
        if os.path.realpath(side.path) in taken:
            raise UsageError(f"{taken[os.path.realpath(side.path)]} is an output of its own; {way_out}")
        _refuse_input(side.path, inputs, way_out)
        if not os.path.lexists(side.path):
            continue
        found = os.lstat(side.path)
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{side.path} is a {_kind(found.st_mode)}; {way_out}")
        if found.st_size and not side.is_ours(side.path):
            raise UsageError(f"{side.path} was not written by an earlier run of forestalign; {way_out}")


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    return "folder" if stat.S_ISDIR(mode) else "pipe or device"


def check_different(outputs: Iterable[str | Path]) -> None:
    """Refuse two outputs that are one file."""
    seen: dict[object, str | Path] = {}
    for output in outputs:
        own = _identity(output, sys.stdout) or (STDOUT if str(output) == STDOUT else os.path.realpath(output))
        if own in seen:
            raise UsageError(f"the outputs {seen[own]} and {output} are the same file; expected one for each")
        seen[own] = output


def _refuse_input(
    output: str | Path, inputs: Iterable[str | Path], expected: str = "expected an output of its own"
) -> None:
    own = _identity(output, sys.stdout)
    for each in inputs:
        if own is not None and own == _identity(each, sys.stdin):
            written = "stdout" if str(output) == STDOUT else f"the output {output}"
            read = "stdin" if str(each) == STDOUT else f"the input {each}"
            raise UsageError(f"{written} and {read} are the same file; {expected}")


def _identity(path: str | Path, stream: object) -> tuple[int, int] | None:
    """What tells a regular file apart under all its names; None for what cannot be destroyed by writing."""
    try:
        found = os.fstat(stream.fileno()) if str(path) == STDOUT else os.stat(path)  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Write the output that a user named, as a whole; until then, what was there stays as it is.

    `-` is stdout; a device or a pipe is written to as it is. Whatever goes wrong, nothing half-written is left.
    """
    if str(path) == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with naming(path):
        target = follow_link(path)
        if is_stream(target):
            with target.open("wb") as device:
                yield device
            return
        with replace_file(target) as file:
            yield file


def follow_link(path: str | Path) -> Path:
    """The file behind the name that a user gave. A link of theirs stays a link; those of others lead anywhere."""
    link = Path(path)
    with suppress(OSError):
        if link.is_symlink() and not is_mine(link.lstat()):
            raise UsageError(f"cannot write to {path}: it is a link that another user made; expected a file")
    return Path(os.path.realpath(path))


def is_stream(path: str | Path) -> bool:
    """Whether a name is that of a device or a pipe, which nothing can destroy."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def packed_file(path: str | Path) -> Iterator[BinaryIO]:
    """A whole file, gzip by suffix, without a time stamp: equal contents give equal files."""
    with whole_file(path) as raw:
        if not is_packed(path):
            yield raw
            return
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def is_packed(path: str | Path) -> bool:
    """Whether a file is gzip, which its name tells."""
    return str(path).endswith(".gz")


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Errors of writing (a full disk has no name in its error) name the file that could not be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror or error}") from error
