"""Rows of a table, and which of them tell something about words.

Most rows of a table do not: the same words, other marks, other forms of a word (*said*, *says*), function words, a word
more on one side (*the judge*, *the federal judge*), values that differ, opposites, and names that stand in the same
place (*Tuesday*, *Monday*). What is left reads as paraphrases. Digits are kept apart: a mark in a number is part of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from forestalign.grammar import stop_words
from forestalign.lexicon.findings import DIFFERENT, EQUAL, OPPOSITE, OTHER_ROLES
from forestalign.tokens import possible_lemmas

_SLOT = re.compile(r"\[\w+,[12]\]", re.IGNORECASE)
_NAMES = frozenset({"NNP", "NNPS"})
_FUNCTION_TAGS = frozenset({"CC", "DT", "EX", "IN", "MD", "PDT", "POS", "PRP", "PRP$", "RP", "TO", "WDT", "WP", "WRB"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row. `forward` is p(paraphrase | phrase) and `backward` p(phrase | paraphrase), whatever the labels.

    `relation` is the most frequent one, `evidence` all that spoke for it, `examples` the ids of the first results.
    """

    phrase: str
    paraphrase: str
    source_label: str
    target_label: str
    slots: int
    count: int
    posterior_sum: float
    forward: float
    backward: float
    relation: str
    evidence: tuple[str, ...]
    examples: tuple[str, ...]


def is_telling(row: TableRow) -> bool:
    """Whether a row reads as a paraphrase: each side has a content word whose lemma the other side lacks."""
    labels = {row.source_label, row.target_label}
    if row.relation in (OPPOSITE, DIFFERENT, OTHER_ROLES) or labels & _FUNCTION_TAGS:
        return False
    if labels & _NAMES and row.relation != EQUAL:
        return False
    sides = [
        [possible_lemmas(word) for word in text.lower().split() if _is_content(word)]
        for text in (row.phrase, row.paraphrase)
    ]
    return _bare(row.phrase) != _bare(row.paraphrase) and all(
        any(all(lemmas.isdisjoint(others) for others in other) for lemmas in own) for own, other in (sides, sides[::-1])
    )


def _is_content(word: str) -> bool:
    return word not in stop_words() and not _SLOT.fullmatch(word) and any(map(str.isalnum, word))


def _bare(text: str) -> str:
    """Letters, and numbers as they are, without what stands between them."""
    words = text.lower().split()
    return "".join(f" {word} " if any(map(str.isdigit, word)) else "".join(filter(str.isalpha, word)) for word in words)
