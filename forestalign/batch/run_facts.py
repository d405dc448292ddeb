"""What has to be the same wherever a run works: the version, the grammar, and what the files hold that it reads.

A name such as `list.txt` means another file in another folder or on another machine, and a parser's folder may be
exchanged while its name stays. So files count by what they hold, here and there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial

from forestalign.config import PLACES
from forestalign.errors import UsageError
from forestalign.grammar import grammar_hash, program_version
from forestalign.inputs import content_digest

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
