"""Parsing metrics: labelled brackets as evalb counts them, tags, and attachments as CoNLL-X counts them.

Brackets: the outermost TOP is dropped, and so are the words whose *gold* tag is `,` `:` two backquotes, two quotes or
`.`, together with brackets that cover nothing else; ADVP and PRT are one label; what follows `-` or `=` in a label is
ignored; words are not brackets; a bracket that occurs twice (a unary chain) counts twice. Sums are over the corpus.

Attachments: UAS is the share of words with the right head, LAS with the right head and relation. CoNLL-X leaves out
words that consist of punctuation only (Unicode category P); the scores with these words are given too.

Which attachments a second parse changed, for better and for worse, by kind.

Section 6.4 counts the errors that alignment corrected and introduced, and how many of them are PP attachments. The kind
of a word's attachment is read off the gold tree: from the word's largest phrase (the highest constituent it heads) and
the constituent that this phrase hangs in. Where there are dependencies only, the kind is the gold relation.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import UsageError, counted
from forestalign.evaluation.scores import Evaluation, columns, combine, count_table, precision_recall, ratio
from forestalign.grammar import base_label
from forestalign.trees import Tree, preorder

PUNCTUATION_TAGS = frozenset({",", ":", "``", "''", "."})
ROOT_LABELS = frozenset({"", "TOP", "ROOT", "S1"})
_EQUAL_LABELS = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Attachments:
    """One sentence's dependencies: head -1 is the root; `relations` are empty where only heads are known."""

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...] = ()


def brackets(tree: Tree, kept: Sequence[bool]) -> Counter[Bracket]:
    """The labelled brackets over the kept words, numbered among themselves."""
    position = [0, *accumulate(map(int, kept))]
    found: Counter[Bracket] = Counter()
    for node in preorder(tree):
        begin, end = position[node.begin], position[node.end]
        label = base_label(node.label)
        if not node.is_leaf and begin < end and label not in ROOT_LABELS:
            found[_EQUAL_LABELS.get(label, label), begin, end] += 1
    return found


def score_brackets(gold: Sequence[Tree], system: Sequence[Tree]) -> Evaluation:
    """Labelled recall, precision and F1, complete matches, and tagging accuracy over all words."""
    _check_count(gold, system)
    rows = []
    for wanted, given in zip(gold, system, strict=True):
        wanted_tags, given_tags = _tags(wanted), _tags(given)
        if len(wanted_tags) != len(given_tags):
            raise UsageError(f"a gold tree has {counted(len(wanted_tags), 'word')} and the system's {len(given_tags)}")
        kept = [tag not in PUNCTUATION_TAGS for tag in wanted_tags]
        wanted_brackets, given_brackets = brackets(wanted, kept), brackets(given, kept)
        right_tags = sum(left == right for left, right in zip(wanted_tags, given_tags, strict=True))
        rows.append(
            (
                (wanted_brackets & given_brackets).total(),
                given_brackets.total(),
                wanted_brackets.total(),
                1,
                wanted_brackets == given_brackets,
                right_tags,
                len(wanted_tags),
            )
        )
    names = ("bracket P", "bracket R", "bracket F1", "complete match", "tag accuracy")
    return Evaluation(names, count_table(rows, 7), _aggregate_brackets)


def _aggregate_brackets(sums: FloatArray) -> FloatArray:
    hits, given, wanted, trees, complete, right_tags, words = columns(sums)
    shares = np.stack([ratio(complete, trees), ratio(right_tags, words)], axis=-1)
    return np.concatenate([precision_recall(hits, given, wanted), shares], axis=-1)


def _tags(tree: Tree) -> list[str]:
    return [leaf.label for leaf in tree.leaves()]


def is_punctuation(word: str) -> bool:
    """CoNLL-X: every character is punctuation in Unicode."""
    return all(unicodedata.category(character).startswith("P") for character in word)


def score_attachments(gold: Sequence[Attachments], system: Sequence[Attachments]) -> Evaluation:
    """UAS and, where both sides have relations, LAS; each without punctuation and with it."""
    _check_count(gold, system)
    labelled = all(pair.relations or not pair.words for pair in (*gold, *system))
    rows = []
    for wanted, given in zip(gold, system, strict=True):
        if len(wanted.heads) != len(given.heads):
            raise UsageError(
                f"a gold sentence has {counted(len(wanted.heads), 'head')} and the system's {len(given.heads)}"
            )
        right = np.array(right_heads(wanted, given), dtype=bool)
        right_relations = right & _equal_relations(wanted, given) if labelled else right
        scored = np.array([not is_punctuation(word) for word in wanted.words], dtype=bool)
        without = scored.sum(), (right & scored).sum(), (right_relations & scored).sum()
        rows.append((*without, len(right), right.sum(), right_relations.sum()))

    def aggregate(sums: FloatArray) -> FloatArray:
        words, heads, relations, all_words, all_heads, all_relations = columns(sums)
        unlabelled = [ratio(heads, words), ratio(all_heads, all_words)]
        both = [*unlabelled, ratio(relations, words), ratio(all_relations, all_words)]
        return np.stack(both if labelled else unlabelled, axis=-1)

    names = ("UAS", "UAS with punctuation", "LAS", "LAS with punctuation")
    return Evaluation(names if labelled else names[:2], count_table(rows, 6), aggregate)


def right_heads(gold: Attachments, system: Attachments) -> tuple[bool, ...]:
    """For each word, whether it has the gold head."""
    return tuple(wanted == given for wanted, given in zip(gold.heads, system.heads, strict=True))


def _equal_relations(gold: Attachments, system: Attachments) -> FloatArray:
    return np.array(
        [wanted == given for wanted, given in zip(gold.relations, system.relations, strict=True)], dtype=bool
    )


def score_parses(
    gold: Sequence[Tree],
    system: Sequence[Tree],
    gold_attachments: Sequence[Attachments],
    system_attachments: Sequence[Attachments],
) -> Evaluation:
    """Everything that two lists of trees can be scored by."""
    return combine([score_brackets(gold, system), score_attachments(gold_attachments, system_attachments)])


def _check_count(gold: Sequence[object], system: Sequence[object]) -> None:
    if len(gold) != len(system):
        raise UsageError(f"the gold standard has {counted(len(gold), 'sentence')} and the system {len(system)}")


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
