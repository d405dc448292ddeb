"""The one way in which this package writes files: beside their place, under a name that nobody can guess, then renamed.

A name that we derive (a journal, a checkpoint, an entry of the cache) may have been planted as a link or a pipe. So
nothing is ever opened for writing through a name: a new file is made with `O_EXCL`, gets the mode of the one that it
replaces, is locked while it is written, and takes its place by a rename. What a killed run leaves behind is told from
the file of a run at work by that lock, and removed by the next run.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self, cast

from forestalign.errors import UsageError

_PART = ".part"
_TOKEN_BYTES = 8
_LONGEST_STEM = 200  # bytes of the name in that of a temporary file; most file systems have room for 255
_FAR = 1 << 62  # Windows locks bytes: one that no file has

# What a system lacks, it does not need.
CLOSED_FOR_CHILDREN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor wait for the other end of a pipe


# ---- locks ----


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def try_lock(descriptor: int) -> bool | None:
    """Lock a file until it is closed; false if another process holds it, None where the file system has no locks."""
    try:
        _lock(descriptor)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def open_regular(path: str | Path, flags: int = os.O_RDONLY) -> int:
    """Open a file under its own name; OSError for a link, a pipe, a device or a folder."""
    descriptor = os.open(path, flags | NO_LINK | CLOSED_FOR_CHILDREN, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a regular file", str(path))
    return descriptor


def open_alone(path: str | Path, held: str = "") -> int:
    """Open a file for a run, unless another one has it, which `held` then says; nothing in it is changed."""
    while True:
        try:
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise UsageError(f"cannot write to {path}: {error.strerror}") from None
        is_held = try_lock(descriptor) is False
        if not is_held and is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # another run has it, or has just replaced or removed it
        if is_held:
            raise UsageError(held or f"another run is writing to {path}")


def is_at(descriptor: int, path: str | Path) -> bool:
    """Whether an open file still stands under a name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


@contextmanager
def only_run(output: str | Path) -> Iterator[None]:
    """Hold `OUTPUT.lock`, so that a second run with the same output is refused; the file is empty and goes with us."""
    path = lock_path(output)
    descriptor = open_alone(path, f"another run is writing to {output}")
    try:
        yield
    finally:
        if os.name != "nt" and is_at(descriptor, path):
            os.unlink(path)
        os.close(descriptor)


def lock_path(output: str | Path) -> Path:
    """The file that a run with this output holds while it works."""
    return Path(f"{output}.lock")


# ---- new files ----


class NewFile:
    """A file beside the place that it will take, open, locked, and with the mode that it is to have."""

    def __init__(self, place: str | Path, mode: int | None = None, is_entry: bool = False):
        """`mode` is that of a file which replaces none; without one the umask decides.

        `is_entry`: it is one of very many that can be made again. Then leftovers are not looked for, and the folder is
        not synced: after a power cut the name may be missing, and what it names is whole.
        """
        self.place, self._is_entry = Path(place), is_entry
        if not is_entry:
            remove_leftovers(self.place)
        mode = _mode_of(self.place, mode)
        while True:
            self.path = self.place.with_name(f".{_stem(self.place)}.{secrets.token_hex(_TOKEN_BYTES)}{_PART}")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK | CLOSED_FOR_CHILDREN
            self.descriptor = os.open(self.path, flags, 0o666 if mode is None else 0o600)
            if try_lock(self.descriptor) is not False and is_at(self.descriptor, self.path):
                break
            os.close(self.descriptor)  # a run that looked for leftovers came between
        if mode is not None:
            os.chmod(self.descriptor if os.chmod in os.supports_fd else self.path, mode)
        self._is_placed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)
        self.discard()

    def take_place(self) -> int:
        """Stand under the name, whatever stood there; the file stays open and locked."""
        self.descriptor = rename_file(self.descriptor, self.path, self.place, sync_folder=not self._is_entry)
        self._is_placed = True
        return self.descriptor

    def discard(self) -> None:
        """Remove the file, unless it has taken its place."""
        if not self._is_placed:
            with suppress(OSError):
                os.unlink(self.path)


def rename_file(descriptor: int, source: str | Path, target: str | Path, sync_folder: bool = True) -> int:
    """Rename an open file when all of it is on the disk; its descriptor, a new one where only closed files can be."""
    os.fsync(descriptor)
    if os.name == "nt":
        os.close(descriptor)
        os.replace(source, target)
        return open_alone(target)
    os.replace(source, target)
    if sync_folder:
        _sync(Path(target).parent)
    return descriptor


def _sync(folder: Path) -> None:
    with suppress(OSError):  # file systems that have nothing to sync there
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def replace_file(path: str | Path, mode: int | None = None, is_entry: bool = False) -> Iterator[BinaryIO]:
    """Write a file that is whole or not there. A link of this name is replaced and not followed."""
    with NewFile(path, mode, is_entry) as new:
        with open(new.descriptor, "wb", closefd=False) as file:
            yield cast(BinaryIO, file)
        new.take_place()


def start_file(path: str | Path, data: bytes = b"") -> int:
    """A new file of this name, whatever stood there, that begins with these bytes; open and locked."""
    new = NewFile(path)
    try:
        with open(new.descriptor, "wb", closefd=False) as file:
            file.write(data)
        return new.take_place()
    except BaseException:
        os.close(new.descriptor)
        new.discard()
        raise


def _stem(place: Path) -> str:
    return os.fsdecode(os.fsencode(place.name)[:_LONGEST_STEM])


def _mode_of(place: Path, mode: int | None) -> int | None:
    """The mode of the file that stands there; a link has none of its own."""
    with suppress(OSError):
        found = os.lstat(place)
        if stat.S_ISREG(found.st_mode):
            return stat.S_IMODE(found.st_mode)
    return mode


# ---- what killed runs left ----


def remove_leftovers(place: Path) -> None:
    """Remove unfinished files of this place whose writers are dead."""
    pattern = re.compile(rf"\.{re.escape(_stem(place))}\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}{re.escape(_PART)}")
    remove_abandoned(each for each in _names(place.parent) if pattern.fullmatch(each.name))


def remove_unfinished(folder: Path) -> None:
    """Remove all unfinished files of a folder whose writers are dead."""
    remove_abandoned(each for each in _names(folder) if each.name.startswith(".") and each.name.endswith(_PART))


def remove_abandoned(paths: Iterator[Path]) -> None:
    """Remove those of our files and folders that nobody holds."""
    for path in paths:
        with suppress(OSError):  # others may be at the same
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
            descriptor = os.open(path, (os.O_RDONLY if is_folder else os.O_RDWR) | NO_LINK | CLOSED_FOR_CHILDREN)
            try:
                if is_mine(os.fstat(descriptor)) and try_lock(descriptor) and is_at(descriptor, path):
                    _remove(path, is_folder)
            finally:
                os.close(descriptor)


def _remove(path: Path, is_folder: bool) -> None:
    if is_folder:
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _names(folder: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield Path(entry.path)


# ---- folders ----


@contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder of our own that is gone afterwards; those of killed runs with the same prefix are removed before."""
    remove_abandoned(each for each in _names(parent) if each.name.startswith(prefix))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = -1 if os.name == "nt" else os.open(folder, os.O_RDONLY | CLOSED_FOR_CHILDREN)
        if descriptor < 0 or (try_lock(descriptor) is not False and is_at(descriptor, folder)):
            break
        os.close(descriptor)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor >= 0:
            os.close(descriptor)


def private_folder(folder: Path) -> Path:
    """A folder for files that only we write: made if it is not there, refused if it belongs to somebody else."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from error
    if not is_mine(found):
        raise UsageError(
            f"the folder {folder} belongs to another user, who could plant files in it; expected one of your own"
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UsageError(f"no file can be made in the folder {folder}: permission denied")
    return folder


def is_mine(found: os.stat_result) -> bool:
    """Whether what was found belongs to the user of this process."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
