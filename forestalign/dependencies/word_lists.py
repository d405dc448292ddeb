"""Word lists of the conversion, from `grammar/ud_words.tsv`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows


@dataclass(frozen=True, slots=True)
class WordLists:
    """Lower-case words by what they may do; `fixed` holds expressions as tuples of words."""

    auxiliary: frozenset[str]
    be: frozenset[str]
    have: frozenset[str]
    get: frozenset[str]
    temporal: frozenset[str]
    locative: frozenset[str]
    measure: frozenset[str]
    month: frozenset[str]
    day_half: frozenset[str]
    title: frozenset[str]
    preconj: frozenset[str]
    complementiser: frozenset[str]
    first_name: frozenset[str]
    organisation: frozenset[str]
    name_prefix: frozenset[str]
    name_adjective: frozenset[str]
    ditransitive_clause: frozenset[str]
    object_control: frozenset[str]
    adverbial_infinitive: frozenset[str]
    adverbial_gerund: frozenset[str]
    temporal_object: frozenset[str]
    interrogative: frozenset[str]
    subject_control_adjective: frozenset[str]
    fixed: frozenset[tuple[str, ...]]


def read_word_lists(path: Path) -> WordLists:
    """Rows LIST, WORDS; expressions of `fixed` are separated by `|`."""
    names = {field.name for field in fields(WordLists)}
    lists: dict[str, set[object]] = {name: set() for name in names}
    for number, (name, words) in read_rows(path, 2):
        if name not in names:
            raise GrammarError(path, number, f"{name!r}: expected one of {', '.join(sorted(names))}")
        if name == "fixed":
            lists[name] |= {tuple(expression.split()) for expression in words.split("|")}
        else:
            lists[name] |= set(words.split())
    missing = sorted(name for name in names if not lists[name])
    if missing:
        raise GrammarError(path, None, f"no row for {', '.join(missing)}")
    return WordLists(**{name: frozenset(lists[name]) for name in names})  # type: ignore[arg-type]


@cache
def word_lists() -> WordLists:
    """The word lists of the conversion, loaded once."""
    return read_word_lists(grammar_root() / "ud_words.tsv")
