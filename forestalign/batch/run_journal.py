"""The journal beside an output file: which run wrote it, and the result of each pair of the input.

`x.jsonl.journal` is one line of JSON with the settings of the run, then a record for each pair: a digest of the pair,
its number, whether it was done, its result, and checksums. A record is added before the result goes to the output, so
the output can always be made from the journal. A pair that failed and is tried again gets a second record, behind the
others. A journal that was cut keeps what is whole. It is read in step with the input, in little memory.

What has to be the same wherever a run works: the version, the grammar, and what the files hold that it reads.

A name such as `list.txt` means another file in another folder or on another machine, and a parser's folder may be
exchanged while its name stays. So files count by what they hold, here and there.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from forestalign.config import PLACES
from forestalign.errors import OutputError, UsageError
from forestalign.grammar import grammar_hash, program_version
from forestalign.inputs import content_digest
from forestalign.own_files import open_regular, start_file

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
        os.close(start_file(path, header))
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


FILE_FIELDS = frozenset({*PLACES, "given_file"})  # fields of settings and of what starts workers that name a file
MOST_TOLD = 4
Settings = Mapping[str, object]


class OtherRunError(UsageError):
    """A process has another version, another grammar or other files than the run that it is to work for."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Version, grammar, and each file of a run with a digest of what it holds; empty where there is none."""

    version: str
    grammar: str
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *values: object) -> RunFacts:
        """Of this process and the files that settings inside these values name."""
        return cls.here(sorted({path for value in values for path in _named_files(value)}))

    @classmethod
    def here(cls, paths: list[str]) -> RunFacts:
        """Of this process and some files."""
        files = tuple((path, content_digest(path)) for path in paths)
        return cls(program_version(), grammar_hash(), files)

    def refuse_differences(self) -> None:
        """OtherRunError that says what is different in this process."""
        found = RunFacts.here([path for path, _ in self.files])
        told = list(_differences(self, found))
        if told:
            more = f", and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
            raise OtherRunError("; ".join(told[:MOST_TOLD]) + more)


def _differences(wanted: RunFacts, found: RunFacts) -> Iterator[str]:
    if found.version != wanted.version:
        yield f"it has forestalign {found.version}, and the run {wanted.version}"
    if found.grammar != wanted.grammar:
        yield f"its grammar is {found.grammar}, and that of the run {wanted.grammar}"
    for (path, digest), (_, other) in zip(wanted.files, found.files, strict=True):
        if digest != other and not other:
            yield f"{path} is not there; files that settings name have to lie on a file system which all machines share"
        elif digest != other:
            yield f"{path} holds something else there than where the run began"


def _named_files(value: object) -> Iterator[str]:
    """The files that fields of a dataclass name, or of dataclasses inside it or among the arguments of a partial."""
    if isinstance(value, partial):
        for inner in (*value.args, *value.keywords.values()):
            yield from _named_files(inner)
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            inner = getattr(value, field.name)
            if field.name in FILE_FIELDS and isinstance(inner, str) and inner:
                yield inner
            else:
                yield from _named_files(inner)


# ---- settings, in the journal of a run ----


def settings_of(start: Callable[..., object]) -> dict[str, object]:
    """What the results of a run depend on: version, grammar, and the fields of the function that starts its workers.

    A setting that names a file or a folder stands for what it holds.
    """
    found: dict[str, object] = {"version": program_version(), "grammar": grammar_hash()}
    found["work"] = _work_name(start)
    for owner, field, value in _flat(start):
        name = f"{field} of {owner}" if field in found else field
        found[name] = value
        if field in FILE_FIELDS and value and (digest := content_digest(str(value))):
            found[f"content of {name}"] = digest
    return found


def _work_name(work: object) -> str:
    """The name of a function or of a callable object, with those of the functions it is made of."""
    parts = [inner for _, inner in _own_fields(work) if callable(inner)]
    name = str(getattr(work, "__qualname__", type(work).__qualname__))
    return f"{name}({', '.join(map(_work_name, parts))})" if parts else name


def _flat(value: object) -> Iterator[tuple[str, str, object]]:
    """The fields of a dataclass and of those inside it: the name of the class, that of the field, and its value."""
    for name, inner in _own_fields(value):
        if is_dataclass(inner):
            yield from _flat(inner)
        elif not hasattr(inner, "__qualname__"):  # functions have their place in the name of the work
            plain = inner if isinstance(inner, bool | int | float | str) else repr(inner)
            yield type(value).__qualname__, name, plain


def _own_fields(value: object) -> Iterator[tuple[str, object]]:
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield field.name, getattr(value, field.name)


def refuse_other_settings(output: str, old: Settings, new: Settings) -> None:
    """Say which settings differ from those that the output was made with."""
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    if names:
        told = "; ".join(f"{name} was {_shown(old, name)} and is now {_shown(new, name)}" for name in names[:4])
        raise UsageError(f"{output} was made with other settings and cannot be resumed: {told}; --force starts anew")


def _shown(settings: Settings, name: str) -> str:
    return repr(settings[name]) if name in settings else "not set"
