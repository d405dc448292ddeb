"""What every source of evidence reads and gives: a sentence, and two phrases with what they are to each other.

A sentence is read taken apart at hyphens, each part in its form and as a lemma: `well-known`, `well - known` and
`well known` are the same two parts, so that spelling does not matter to what is looked up. A part knows its token;
what is found is given back by the numbers of tokens, whole ones only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from forestalign.tokens import Sentence, standard_form

HYPHENS = frozenset({"-", "–"})


@dataclass(frozen=True, slots=True)
class Parts:
    """Parallel lists, one item per part: lower-case form, lemma, tag, number of the token."""

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    tokens: tuple[int, ...]
    is_split: bool = False  # some token has several parts

    def __len__(self) -> int:
        return len(self.forms)

    def whole_tokens(self, indices: Iterable[int]) -> tuple[int, ...]:
        """The tokens of these parts, or nothing where a token is covered in part only."""
        chosen = sorted(set(indices))
        if not self.is_split:
            return tuple([self.tokens[index] for index in chosen])
        tokens = sorted({self.tokens[index] for index in chosen})
        part_count = sum(self.tokens.count(token) for token in tokens)
        return tuple(tokens) if part_count == len(chosen) else ()


@lru_cache(maxsize=16)
def take_apart(sentence: Sentence) -> Parts:
    """The parts of a tagged sentence; a hyphen that is a token of its own disappears."""
    rows: list[tuple[str, str, str, int]] = []
    columns = zip(sentence.words, sentence.lemmas, sentence.tags, strict=True)
    for number, (surface, own_lemma, tag) in enumerate(columns):
        form = standard_form(surface).lower()
        lemma = (own_lemma or form).lower()
        if form.endswith("s") and len(form) > 2 and surface[:-1].isupper() and surface[-1] == "s":
            lemma = form[:-1]  # ATMs
        pieces = [piece for piece in form.split("-") if piece] if "-" in form else (form,)
        if len(pieces) > 1:
            last = lemma.rpartition("-")[2] or pieces[-1]
            rows += [(piece, piece, tag, number) for piece in pieces[:-1]]
            rows.append((pieces[-1], last, tag, number))
        elif form not in HYPHENS:
            rows.append((form, lemma, tag, number))
    forms, lemmas, tags, tokens = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Parts(forms, lemmas, tags, tokens, len(set(tokens)) < len(tokens))


# ---- what is found ----


EQUAL, SIMILAR, OPPOSITE, DIFFERENT = "equal", "similar", "opposite", "different value"
MORE_GENERAL, MORE_SPECIFIC = "more general", "more specific"  # what the target is, beside the source
AGAINST = frozenset({OPPOSITE, DIFFERENT})  # what speaks against a pair
OTHER_ROLES = "other roles"  # of phrases only: two words inside changed places
RELATIONS = (EQUAL, SIMILAR, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, DIFFERENT)
PHRASE_RELATIONS = (*RELATIONS, OTHER_ROLES)  # of pairs in a result


class Finding(NamedTuple):
    """Two phrases and their relation."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    relation: str

    def swap_sides(self) -> Finding:
        """The finding with source and target swapped: *more general* becomes *more specific*."""
        return Finding(self.target, self.source, turned_relation(self.relation))


def turned_relation(relation: str) -> str:
    """The relation seen from the other side."""
    return {MORE_GENERAL: MORE_SPECIFIC, MORE_SPECIFIC: MORE_GENERAL}.get(relation, relation)
