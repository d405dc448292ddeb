"""Which attachments a second parse changed, for better and for worse, by kind.

Section 6.4 counts the errors that alignment corrected and introduced, and how many of them are PP attachments. The kind
of a word's attachment is read off the gold tree: from the word's largest phrase (the highest constituent it heads) and
the constituent that this phrase hangs in. Where there are dependencies only, the kind is the gold relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestalign.evaluation.parse_scores import Attachments, is_punctuation, right_heads
from forestalign.grammar import base_label
from forestalign.trees import Tree, preorder

_CLAUSES = frozenset({"S", "SBAR", "SBARQ", "SINV", "SQ", "RRC"})
_NOMINAL = frozenset({"NP", "NX", "NML", "NAC", "WHNP", "QP"})
_NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "CD", "WP", "EX"})
_COORDINATORS = frozenset({"CC", "CONJP"})


@dataclass(frozen=True, slots=True)
class KindChange:
    """How many attachments of one kind the second parse put right and wrong."""

    kind: str
    word_count: int
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A word's largest phrase, the constituent it hangs in, and its sisters there."""

    phrase: Tree
    parent: Tree | None


def attachment_kinds(tree: Tree, heads: Sequence[int]) -> tuple[str, ...]:
    """The kind of each word's attachment in a gold tree with these heads."""
    places: dict[int, _Place] = {}
    for phrase, parent in _with_parents(tree):
        for head in _heads_of(phrase, heads):
            places.setdefault(head, _Place(phrase, parent))
    tags = [leaf.label for leaf in tree.leaves()]
    return tuple(_kind(places[word], tags[word], heads[word]) for word in range(len(heads)))


def _with_parents(tree: Tree) -> Iterator[tuple[Tree, Tree | None]]:
    """Constituents and words, larger before smaller."""
    yield tree, None
    for node in preorder(tree):
        yield from ((child, node) for child in node.children)


def _heads_of(phrase: Tree, heads: Sequence[int]) -> list[int]:
    """The words of a phrase whose head lies outside it."""
    return [word for word in range(phrase.begin, phrase.end) if not phrase.begin <= heads[word] < phrase.end]


def _kind(place: _Place, tag: str, head: int) -> str:
    label = base_label(place.phrase.label)
    parent = base_label(place.parent.label) if place.parent is not None else ""
    if head < 0:
        return "root"
    if label in _COORDINATORS or _is_coordinated(place):
        return "coordination"
    if label == "PP" or (place.phrase.is_leaf and tag in {"IN", "TO"}):
        return "PP"
    if label in _CLAUSES or label == "VP":
        return "clause"
    if label == "ADVP" or tag in {"RB", "RBR", "RBS"}:
        return "adverb"
    if parent in _NOMINAL:
        return "apposition" if label == "NP" and _starts_after_comma(place) else "NP-internal"
    if label in _NOMINAL or tag in _NOUN_TAGS:
        return "argument"
    return "other"


def _is_coordinated(place: _Place) -> bool:
    """The phrase is a later conjunct: a coordinator stands among its sisters."""
    if place.parent is None or (place.phrase.is_leaf and place.phrase.label in {",", ":", "."}):
        return False
    sisters = [base_label(child.label) for child in place.parent.children]
    return bool(_COORDINATORS.intersection(sisters[1:])) and place.phrase.begin > place.parent.begin


def _starts_after_comma(place: _Place) -> bool:
    sisters = place.parent.children if place.parent is not None else ()
    return any(sister.label == "," and sister.end == place.phrase.begin for sister in sisters)


def compare_attachments(
    gold: Sequence[Attachments],
    first: Sequence[Attachments],
    second: Sequence[Attachments],
    kinds: Sequence[Sequence[str]],
) -> tuple[KindChange, ...]:
    """Changes from the first parse to the second, punctuation left out, the most changed kind first."""
    totals: Counter[str] = Counter()
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for wanted, left, right, names in zip(gold, first, second, kinds, strict=True):
        judged = zip(wanted.words, names, right_heads(wanted, left), right_heads(wanted, right), strict=True)
        for word, kind, was_right, is_right in judged:
            if is_punctuation(word):
                continue
            totals[kind] += 1
            better[kind] += is_right and not was_right
            worse[kind] += was_right and not is_right
    changes = [KindChange(kind, totals[kind], better[kind], worse[kind]) for kind in totals]
    return tuple(sorted(changes, key=lambda change: (-change.better - change.worse, change.kind)))
