"""Dependency labels and which of them are equivalent (Table 1), from two files of grammar/.

Labels of Universal Dependencies (1 and 2), of spaCy and of the old Stanford scheme are first brought to one canonical
name. An orientation says where the relatives of the two words hang: below or above each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from forestalign.dependencies import Dependencies
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows

ROOT = -1
REST = "*"
ANY = "*"


class Arc(NamedTuple):
    """One dependency; the head of the root is ROOT."""

    head: int
    dependent: int
    relation: str


class Orientation(StrEnum):
    """Figure 3: relatives below both words (a), above both (b), below in S and above in T (c), the mirror of it (d)."""

    CHILDREN = "children"
    PARENTS = "parents"
    CHILD_PARENT = "child-parent"
    PARENT_CHILD = "parent-child"


FLIPPED = {
    Orientation.CHILDREN: Orientation.PARENTS,
    Orientation.PARENTS: Orientation.CHILDREN,
    Orientation.CHILD_PARENT: Orientation.PARENT_CHILD,
    Orientation.PARENT_CHILD: Orientation.CHILD_PARENT,
}
CROSSED = {Orientation.CHILD_PARENT, Orientation.PARENT_CHILD}


class Equivalence(NamedTuple):
    """The relation to a relative in S stands for the relation to a relative in T. Categories are tag initials."""

    orientation: Orientation
    category: str
    relative_category: str
    source_relation: str
    target_relation: str


@dataclass(frozen=True, slots=True)
class Equivalences:
    """The equivalences of one profile."""

    rows: frozenset[Equivalence]

    def has(
        self,
        orientation: Orientation,
        category: str,
        relative_category: str,
        source_relation: str,
        target_relation: str,
    ) -> bool:
        """Whether two relations may be matched."""
        return (orientation, category, relative_category, source_relation, target_relation) in self.rows


@lru_cache(maxsize=4)
def load_equivalences(profile: str) -> Equivalences:
    """The shipped table of a profile."""
    return read_equivalences(grammar_root() / "relation_equivalences.tsv", profile)


def read_equivalences(path: Path, profile: str) -> Equivalences:
    """Rows PROFILE, ORIENTATION, CATEGORY, CATEGORY OF RELATIVES, LABELS IN S, LABELS IN T (`=`: the same labels).

    Crossed rows hold mirrored too. The paper's rows moreover hold seen from the relatives ("fundamentally redundant").
    """
    rows: set[Equivalence] = set()
    for number, (name, where, category, relative_category, source, target) in read_rows(path, 6):
        if where not in list(Orientation):
            raise GrammarError(path, number, f"{where!r}: expected one of {', '.join(Orientation)}")
        if name != profile:
            continue
        labels = (source.split(), source.split() if target == "=" else target.split())
        for source_label, target_label in product(*labels):
            row = Equivalence(Orientation(where), category, relative_category, source_label, target_label)
            rows.update(_mirrored(row))
            if profile == "paper":
                rows.update(_mirrored(_seen_from_relatives(row)))
    return Equivalences(frozenset(rows))


def _mirrored(row: Equivalence) -> tuple[Equivalence, ...]:
    """The row, and the row with the sentences exchanged."""
    orientation = FLIPPED[row.orientation] if row.orientation in CROSSED else row.orientation
    return row, row._replace(
        orientation=orientation, source_relation=row.target_relation, target_relation=row.source_relation
    )


def _seen_from_relatives(row: Equivalence) -> Equivalence:
    return row._replace(
        orientation=FLIPPED[row.orientation], category=row.relative_category, relative_category=row.category
    )


# ---- labels ----


@cache
def _label_table() -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Whole labels, and prefixes that keep the rest of the label."""
    whole: dict[str, str] = {}
    prefixes: list[tuple[str, str]] = []
    for _, (label, canonical) in read_rows(grammar_root() / "relation_labels.tsv", 2):
        if label.endswith(REST):
            prefixes.append((label.removesuffix(REST), canonical.removesuffix(REST)))
        else:
            whole[label] = canonical
    return whole, tuple(prefixes)


@lru_cache(maxsize=4096)
def canonical_label(label: str) -> str:
    """The one name of a relation: `dobj` -> `obj`, `prep_in` and `obl:in` -> `nmod:in`."""
    label = label.lower()
    whole, prefixes = _label_table()
    if label in whole:
        return whole[label]
    for prefix, canonical in prefixes:
        if label.startswith(prefix):
            return canonical + label.removeprefix(prefix).replace("_", " ")
    return label


def collapse(dependencies: Dependencies, words: Sequence[str], tags: Sequence[str]) -> tuple[Arc, ...]:
    """The tree in canonical labels without its function-word leaves: the like of collapsed Stanford dependencies.

    A `case` or `cc` word is dropped where a relation carries it (`nmod:in`); punctuation always. Two relations that
    Universal Dependencies has given up are told by their looks: `acomp`, an adjective as `xcomp`, and `purpcl`, a
    to-infinitive as `advcl`.
    """
    heads, labels = dependencies.heads, [canonical_label(label) for label in dependencies.relations]
    for dependent, (head, label) in enumerate(zip(heads, list(labels), strict=True)):
        if label == "xcomp" and tags[dependent].startswith("J"):
            labels[dependent] = "acomp"
        elif label == "mark" and words[dependent].lower() == "to" and head != ROOT and labels[head].startswith("advcl"):
            labels[head] = "purpcl"
    arcs = []
    for dependent, (head, label) in enumerate(zip(heads, labels, strict=True)):
        is_carried = label in {"case", "cc"} and head != ROOT and ":" in labels[head]
        if label != "punct" and not is_carried:
            arcs.append(Arc(head, dependent, label))
    return tuple(arcs)
