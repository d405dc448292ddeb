"""What the rules know about words: the lists of `word_lists.json`, and how a treebank uses words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forestalign.tokens import lemmatize
from forestalign.trees import Tree, preorder

LEAST_SEEN = 3  # a verb seen less often in a construction may owe it to a slip of the annotators
BE_FORMS = frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m", "’s", "’re", "’m"})


@cache
def word_list(name: str) -> frozenset[str]:
    """One of the lists of `word_lists.json`."""
    lists = json.loads(Path(__file__).with_name("word_lists.json").read_text(encoding="utf-8"))
    return frozenset(lists[name])


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts over a treebank; `verb_prepositions` counts a verb with a PP beside it, `""` standing for any."""

    lower_case: frozenset[str]
    forms: Mapping[tuple[str, str], int]  # word in lower case and tag
    passive_verbs: frozenset[str]
    progressive_verbs: frozenset[str]
    verb_prepositions: Mapping[tuple[str, str], int]


def lemma(leaf: Tree) -> str:
    """The lemma of a word with its tag."""
    return lemmatize((str(leaf.word),), (leaf.label,))[0]


def usage_of(trees: Iterable[Tree]) -> Usage:
    """Collect the counts."""
    lower_case: set[str] = set()
    forms: Counter[tuple[str, str]] = Counter()
    passives: Counter[str] = Counter()
    progressives: Counter[str] = Counter()
    prepositions: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        leaves = [(str(leaf.word), leaf.label) for leaf in tree.leaves()]
        forms.update((word.lower(), tag) for word, tag in leaves)
        lower_case.update(word for word, tag in leaves if word.islower())
        for node in preorder(tree):
            if node.label == "VP":
                passives.update(verb for verb, is_intransitive in _after_be(node, "VBN") if is_intransitive)
                progressives.update(verb for verb, _ in _after_be(node, "VBG"))
                prepositions.update(_prepositions(node))
    return Usage(frozenset(lower_case), forms, _often(passives), _often(progressives), prepositions)


def _often(verbs: Counter[str]) -> frozenset[str]:
    return frozenset(verb for verb, count in verbs.items() if count >= LEAST_SEEN)


def _after_be(node: Tree, tag: str) -> list[tuple[str, bool]]:
    """The participles with this tag that follow a form of `be`, and whether they have no noun phrase beside them."""
    if not any(child.is_leaf and str(child.word).lower() in BE_FORMS for child in node.children):
        return []
    inner = [child for child in node.children if child.label == "VP" and child.children[0].label == tag]
    return [(lemma(each.children[0]), all(child.label != "NP" for child in each.children)) for each in inner]


def _prepositions(node: Tree) -> list[tuple[str, str]]:
    verbs = [lemma(child) for child in node.children if child.is_leaf and child.label.startswith("VB")]
    if len(verbs) != 1:
        return []
    found = [child.children[0] for child in node.children if child.label == "PP" and child.children[0].is_leaf]
    return [(verbs[0], ""), *((verbs[0], str(leaf.word).lower()) for leaf in found)]
