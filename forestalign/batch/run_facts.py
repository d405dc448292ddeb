"""What has to be the same wherever a run works: the version, the grammar, and what the files hold that it reads.

A name such as `list.txt` means another file in another folder or on another machine, and a parser's folder may be
exchanged while its name stays. So files count by what they hold, here and there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from importlib.metadata import version

from forestalign.config import PLACES
from forestalign.errors import UsageError
from forestalign.grammar import grammar_hash
from forestalign.inputs import content_digest

FILE_FIELDS = frozenset({*PLACES, "given_file"})  # fields of settings and of what starts workers that name a file
MOST_TOLD = 4


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
        return cls(version("forestalign"), grammar_hash(), files)

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
