"""Files that are written: looked at before any work begins, and replaced as a whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from forestalign.errors import OutputError, UsageError

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
    path = Path(output)
    if path.is_dir():
        raise UsageError(f"cannot write to {output}: it is a folder; expected the name of a file")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UsageError(f"cannot write to {output}: the folder {path.parent} does not exist")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"cannot write to {output}: permission denied")
    if not (force or resume) and path.is_file() and path.stat().st_size:
        way_out = "--resume continues it, --force replaces it" if can_resume else "--force replaces it"
        raise UsageError(f"{output} exists already; {way_out}")


def check_different(outputs: Iterable[str | Path]) -> None:
    """Refuse two outputs that are one file."""
    seen: dict[object, str | Path] = {}
    for output in outputs:
        own = _identity(output, sys.stdout) or (STDOUT if str(output) == STDOUT else os.path.realpath(output))
        if own in seen:
            raise UsageError(f"the outputs {seen[own]} and {output} are the same file; expected one for each")
        seen[own] = output


def _refuse_input(output: str | Path, inputs: Iterable[str | Path]) -> None:
    own = _identity(output, sys.stdout)
    for each in inputs:
        if own is not None and own == _identity(each, sys.stdin):
            written = "stdout" if str(output) == STDOUT else f"the output {output}"
            read = "stdin" if str(each) == STDOUT else f"the input {each}"
            raise UsageError(f"{written} and {read} are the same file; expected an output of its own")


def _identity(path: str | Path, stream: object) -> tuple[int, int] | None:
    """What tells a regular file apart under all its names; None for what cannot be destroyed by writing."""
    try:
        found = os.fstat(stream.fileno()) if str(path) == STDOUT else os.stat(path)  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Write a file beside its place and rename it when it is whole; until then, what was there stays as it is.

    `-` is stdout; a device or a pipe is written to as it is. Whatever goes wrong, nothing half-written is left.
    """
    if str(path) == STDOUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    with naming(path):
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:
                yield device
            return
        # the process number: two processes may come to write the same file
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


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


def read_packed(path: str | Path) -> bytes:
    """What such a file holds; OSError or ValueError if it is damaged."""
    data = Path(path).read_bytes()
    try:
        return gzip.decompress(data) if is_packed(path) else data
    except (EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Errors of writing (a full disk has no name in its error) name the file that could not be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror or error}") from error
