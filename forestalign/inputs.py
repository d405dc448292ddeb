"""Files of models, lists and arrays that somebody else may have made: read up to a bound, and looked at in one place.

Nothing here trusts what a file says of itself: a device has no end, a few bytes of gzip unpack to gigabytes, and the
header of an array may promise more than the file holds. `as_record` checks what a file holds,
`reading` makes errors that name the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn, Protocol, TypeVar

import msgspec
import numpy as np

from forestalign.arrays import AnyArray
from forestalign.errors import ForestAlignError, InputError, shown
from forestalign.own_files import CLOSED_FOR_CHILDREN

Value = TypeVar("Value")
Found = TypeVar("Found", covariant=True)

LARGEST = 1 << 26  # bytes of a model, unpacked; the largest of ours has half a million
LONGEST_LINE = 1 << 20  # bytes of a line of a list
LARGEST_LIST = 1 << 32  # bytes of a list, unpacked; the largest of PPDB has some hundred million lines
_GZIP = b"\x1f\x8b"
_GZIP_MEMBER = 31  # what zlib calls a header and a checksum of gzip
_BLOCK = 1 << 16
WHAT_GOES_WRONG = (
    OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, EOFError, RecursionError,
    MemoryError, NotImplementedError, zlib.error, zipfile.BadZipFile,
)  # fmt: skip


@contextmanager
def reading(path: str | Path, what: str, error: type[InputError] = InputError) -> Iterator[None]:
    """Whatever a file makes our code raise becomes an error that names the file and what was expected of it."""
    try:
        yield
    except ForestAlignError:
        raise
    except WHAT_GOES_WRONG as found:
        if isinstance(found, OSError) and found.strerror:
            raise error(path, None, f"cannot be read: {found.strerror}") from None
        told = "nested too deeply" if isinstance(found, RecursionError) else str(found) or type(found).__name__
        missing = "there is no field " if isinstance(found, KeyError) else ""
        raise error(path, None, f"is not a {what}: {missing}{told}") from found


# ---- bytes ----


def read_plain(path: str | Path, largest: int = LARGEST) -> bytes:
    """The bytes of a plain file as they are; nothing waits for a pipe, and a device is not read."""
    descriptor = os.open(path, os.O_RDONLY | CLOSED_FOR_CHILDREN | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        return _read_bounded(file.read, largest)


def read_whole(path: str | Path, largest: int = LARGEST) -> bytes:
    """What a file holds, unpacked where it is gzip; ValueError where that is more than `largest` bytes."""
    return b"".join(read_blocks(path, largest))


def read_blocks(path: str | Path, largest: int = LARGEST) -> Iterator[bytes]:
    """What `read_whole` reads, a block at a time."""
    with open(path, "rb") as file:
        yield from _unpack_gzip(file, largest) if _is_gzip(file) else _plain(file, largest)


def read_lines(path: str | Path, largest: int = LARGEST_LIST) -> Iterator[tuple[int, bytes]]:
    """Numbered lines of a list without their line feeds, as they come, plain or gzip; ValueError past the bounds."""
    number, rest = 0, b""
    for block in read_blocks(path, largest):
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            yield number, line
        if len(rest) > LONGEST_LINE:
            raise ValueError(f"line {number + 1} has more than {LONGEST_LINE:,} bytes; expected lines of text")
    if rest:
        yield number + 1, rest


def _is_gzip(file: BinaryIO) -> bool:
    """By the first bytes, which no text begins with."""
    return file.peek(2)[:2] == _GZIP  # type: ignore[attr-defined, no-any-return]


def _read_bounded(read: Callable[[int], bytes], largest: int) -> bytes:
    data = read(largest + 1)
    if len(data) > largest:
        _refuse_size(largest)
    return data


def _plain(file: BinaryIO, largest: int) -> Iterator[bytes]:
    count = 0
    while block := file.read(_BLOCK):
        count += len(block)
        if count > largest:
            _refuse_size(largest)
        yield block


def _unpack_gzip(file: BinaryIO, largest: int) -> Iterator[bytes]:
    """The members of a gzip file, a block at a time, so that a bomb is noticed before it has filled the memory."""
    count, unpacker, packed = 0, zlib.decompressobj(_GZIP_MEMBER), file.read(_BLOCK)
    while True:
        block = unpacker.decompress(packed, _BLOCK)
        count += len(block)
        if count > largest:
            _refuse_size(largest)
        yield block
        if unpacker.eof:
            packed = (unpacker.unused_data or file.read(_BLOCK)).lstrip(b"\0")  # members may be padded
            if not packed:
                return
            unpacker = zlib.decompressobj(_GZIP_MEMBER)
        else:
            packed = unpacker.unconsumed_tail or file.read(_BLOCK)
            if not packed and not block:
                raise EOFError("the gzip file breaks off")


def _refuse_size(largest: int) -> NoReturn:
    raise ValueError(f"it has more than {largest:,} bytes, which is the limit")


def unpack(data: bytes, largest: int) -> bytes:
    """What zlib packed, as long as it is no more than `largest` bytes."""
    unpacker = zlib.decompressobj()
    found = unpacker.decompress(data, largest + 1)
    if len(found) > largest:
        _refuse_size(largest)
    if not unpacker.eof:
        raise EOFError("it breaks off")
    return found


# ---- JSON and arrays ----


def read_json(path: str | Path, largest: int = LARGEST) -> Any:
    """The value of a file of JSON, plain or gzip."""
    return parse_json(read_whole(path, largest))


def parse_json(data: bytes | str) -> Any:
    """JSON as it is defined: no NaN, no infinity, UTF-8."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"found {name}, which JSON does not know; expected a number")


def read_arrays(path: str | Path, largest: int = LARGEST) -> dict[str, AnyArray]:
    """The arrays of a file of numpy's by name, numbers all finite; `.npy` has one, without a name."""
    with open(path, "rb") as file:
        if file.peek(2)[:2] != b"PK":
            return {"": _array("", io.BytesIO(_read_bounded(file.read, largest)), largest)}
        with zipfile.ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > largest:
                _refuse_size(largest)
            found = {}
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as part:
                    found[name] = _array(name, part, member.file_size)
            return found


def _array(name: str, file: Any, size: int) -> AnyArray:
    """One array; memory is taken for what its header promises, so that is held against the size of the file."""
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_header:
        raise ValueError(f"array {name or 'without a name'} is of version {version}; expected 1.0 or 2.0")
    shape, is_fortran, kind = read_header[version](file)
    count = math.prod(shape)
    if kind.hasobject or count * kind.itemsize > size:
        raise ValueError(f"array {name or 'without a name'} promises {shape} of {kind}, more than the file can hold")
    data = file.read(count * kind.itemsize)
    if len(data) < count * kind.itemsize:
        raise ValueError(f"array {name or 'without a name'} breaks off")
    array: AnyArray = np.frombuffer(data, kind, count) if count else np.zeros(0, kind)
    array = array.reshape(shape, order="F" if is_fortran else "C").copy()
    if kind.kind in "fc" and not np.isfinite(array).all():
        raise ValueError(f"array {name or 'without a name'} has a value that is not a finite number")
    return array


# ---- values ----


def finite_number(value: object) -> float | None:
    """The number that JSON held; None for what is none, or is larger than any that can be counted with."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def number(name: str, value: object, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within bounds."""
    found = finite_number(value)
    if found is None or not least <= found <= most:
        bounds = "a finite number" if math.isinf(most) and math.isinf(least) else f"a number from {least:g} to {most:g}"
        raise ValueError(f"{name} is {shown(value)}; expected {bounds}")
    return found


Number = Annotated[float, msgspec.Meta(ge=-1e308, le=1e308)]  # finite
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


def as_record(value: object, kind: type[Value]) -> Value:
    """A value of JSON as one of this type; ValueError names the field, what it holds, and what was expected."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        told, _, path = str(error).partition(" - at `$")
        found: Any = value
        for name, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
            if index == "...":  # of a mapping of names to numbers, msgspec does not say which
                name = next(key for key, each in found.items() if finite_number(each) is None)
                path = path.replace("[...]", f".{name}", 1)
            found = found[name] if name else found[int(index)]
        place = path.strip("`.") or "it"
        if told.startswith("Object missing"):
            raise ValueError(f"{place} has no field {told.partition('field ')[2]}") from None
        raise ValueError(f"{place} is {shown(found)}; {told[0].lower()}{told[1:]}") from None


# ---- contents ----

State = tuple[int, ...]


def state_of(path: str | Path) -> State:
    """What changes whenever a file is written or exchanged; empty where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class OfPath(Protocol[Found]):
    """A function of a path; empty: of the shipped file."""

    def __call__(self, path: str | Path = "") -> Found:
        """What the file holds."""
        ...


def kept_while_unchanged(count: int) -> Callable[[Callable[[str], Value]], OfPath[Value]]:
    """Keep the last few results of a function of a path for as long as the files are what they were."""

    def decorate(function: Callable[[str], Value]) -> OfPath[Value]:
        @lru_cache(maxsize=count)
        def read(path: str, state: State) -> Value:
            return function(path)

        @wraps(function)
        def looked_up(path: str | Path = "") -> Value:
            return read(str(path), state_of(path) if path else ())

        return looked_up

    return decorate


def content_digest(path: str | Path) -> str:
    """Sixteen hex digits over what a file holds, or over names and contents of all files of a folder.

    Empty where there is neither: a pipe or a device cannot be read twice.
    """
    place = Path(path)
    if not str(path):  # a setting without a value: as a path that would be the current folder
        return ""
    if os.path.isdir(place):  # False where nobody may look, as in a current folder that is closed
        files = sorted(each for each in place.rglob("*") if each.is_file())
        rows = [f"{each.relative_to(place).as_posix()}\0{content_digest(each)}\n" for each in files]
        return hashlib.blake2b("".join(rows).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return _file_digest(str(place), state_of(place)) if os.path.isfile(place) else ""


@lru_cache(maxsize=256)
def _file_digest(path: str, state: State) -> str:
    """`state` is what the digest is kept by: files of vectors have gigabytes."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
    except OSError as error:
        raise InputError(path, None, f"cannot be read: {error.strerror}") from None
