"""Small words by which changes of meaning are told from changes of wording, from `grammar/meaning_words.tsv`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows

DEGREES = "degrees"


@dataclass(frozen=True, slots=True)
class MeaningWords:
    """Lower-case words by what they do; grammar/README.md says what each list is for."""

    article: frozenset[str]
    definite: frozenset[str]
    plain_negation: frozenset[str]
    before_nor: frozenset[str]
    before_harmless: frozenset[str]
    harmless: frozenset[str]
    harmless_with_than: frozenset[str]
    before_exception: frozenset[str]
    exception: frozenset[str]
    bound: frozenset[str]
    all: frozenset[str]
    less: frozenset[str]
    denying: frozenset[str]
    degrees: frozenset[frozenset[str]]  # pairs that are opposites


def read_meaning_words(path: Path) -> MeaningWords:
    """Rows LIST, WORDS, one for each list; pairs of `degrees` are separated by `|`."""
    names = [field.name for field in fields(MeaningWords)]
    lists: dict[str, frozenset[object]] = {}
    for number, (name, row) in read_rows(path, 2):
        if name not in names or name in lists:
            raise GrammarError(path, number, f"{name!r}: expected one of {', '.join(names)}, each once")
        words = [frozenset(pair.split()) for pair in row.split("|")] if name == DEGREES else row.split()
        is_right = row == row.lower() and len(set(words)) == len(words)
        if not is_right or (name == DEGREES and any(len(pair) != 2 for pair in words)):
            raise GrammarError(path, number, f"{row!r}: expected lower-case words, or pairs of them, each once")
        lists[name] = frozenset(words)
    missing = [name for name in names if name not in lists]
    if missing:
        raise GrammarError(path, None, f"no row for {', '.join(missing)}; expected one for each list")
    return MeaningWords(**lists)  # type: ignore[arg-type]


@cache
def meaning_words() -> MeaningWords:
    """The lists, loaded once."""
    return read_meaning_words(grammar_root() / "meaning_words.tsv")
