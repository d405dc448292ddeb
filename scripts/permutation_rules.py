"""Sentences of a treebank said again in another order, by rules over their gold trees: both trees are right.

The rules move conjuncts, clauses, predicates and adjuncts and keep all words; a rule fires only where the tree allows
it surely. A changed tree keeps its old words, whose `begin` still says where they stood, so that numbering it anew
(`number_anew`) also gives the links between the two sentences; new words (a comma) stand at `NEW`. Where a rule asks
about words, the lists are in `permutation_words.json`, and `Usage` counts how a treebank uses its verbs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

from forestalign.tokens import lemmatize
from forestalign.trees import Tree, preorder

NEW = -1
SHORTEST_CLAUSE = 3
LONGEST_BEFORE = 15  # words of a VP that a phrase may be moved to the end of
FEW = 0.05  # a PP that stands by so few of a verb's uses is not an argument of it
OFTEN = 20  # uses of a verb that such a share can be trusted on
VERBS = frozenset({"VBD", "VBZ", "VBP", "MD", "VB", "VBG", "VBN"})
_NAME_TAGS = frozenset({"NNP", "NNPS"})
_BESIDE_CLAUSES = frozenset({".", ",", ":", "``", "''", "S", "CC"})
_AUXILIARIES = frozenset({"be", "have", "do"})
_THIRD_PERSON = frozenset({"he", "she", "it", "they", "him", "her", "them", "his", "its", "their"})
_COMPLEMENTS = frozenset({"NP", "ADJP", "PP", "S", "SBAR", "PRT", "VP", "ADVP", "UCP"})
_ORDERED = frozenset({"then", "so", "therefore", "thus", "later", "finally", "also", "too", "now", "again", "still"})
_SWAPPED_CLAUSES = frozenset({"S", "VP"})
_SWAPPED_PHRASES = ("ADJP", "ADVP", "NP", "PP")
_NOT_SWAPPED_TAGS = frozenset({"PRP", "PRP$", "WP", "WDT", "EX", "RB", "``", "''", ":", "CC", ",", "-LRB-", "-RRB-"})
_DETERMINERS = frozenset({"DT", "PRP$", "CD", "PDT", "POS"})
_REASONS = frozenset({"because", "due", "since", "thanks", "in", "for"})

Link = tuple[int, int]
MayMove = Callable[[Tree], bool]


@cache
def word_list(name: str) -> frozenset[str]:
    """One of the lists of `permutation_words.json`."""
    lists = json.loads(Path(__file__).with_name("permutation_words.json").read_text(encoding="utf-8"))
    return frozenset(lists[name])


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts over a treebank; `verb_prepositions` counts a verb with a PP beside it, `""` standing for any."""

    lower_case: frozenset[str]
    verb_prepositions: Mapping[tuple[str, str], int]


def count_usage(trees: Iterable[Tree]) -> Usage:
    """How these trees use their words."""
    lower_case: set[str] = set()
    prepositions: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        lower_case.update(str(leaf.word) for leaf in leaves_of(tree) if str(leaf.word).islower())
        for node in nodes_labelled(tree, "VP"):
            prepositions.update(_prepositions(node))
    return Usage(frozenset(lower_case), prepositions)


def _prepositions(node: Tree) -> list[tuple[str, str]]:
    verbs = [lemma(child) for child in node.children if child.is_leaf and child.label.startswith("VB")]
    if len(verbs) != 1:
        return []
    found = [child.children[0] for child in node.children if child.label == "PP" and child.children[0].is_leaf]
    return [(verbs[0], ""), *((verbs[0], str(leaf.word).lower()) for leaf in found)]


def lemma(leaf: Tree) -> str:
    """The lemma of a word with its tag."""
    return lemmatize((str(leaf.word),), (leaf.label,))[0]


# ---- trees ----


def new_comma() -> Tree:
    """A comma that the old sentence does not have."""
    return Tree(",", NEW, NEW, (), ",")


def with_children(tree: Tree, children: Sequence[Tree]) -> Tree:
    """A phrase of this label over other parts."""
    return replace(tree, children=tuple(children))


def substitute(root: Tree, old: Tree, new: Tree) -> Tree:
    """The tree with one node (this very one, not its like) exchanged."""
    if root is old:
        return new
    if not any(node is old for node in preorder(root)):
        return root
    return with_children(root, [substitute(child, old, new) for child in root.children])


def leaves_of(tree: Tree) -> list[Tree]:
    """The words as they stand now; `Tree.leaves` goes by spans, which a changed tree still has from the old one."""
    return [tree] if tree.word is not None else [leaf for child in tree.children for leaf in leaves_of(child)]


def words(tree: Tree) -> list[str]:
    """The words in lower case, in order."""
    return [str(leaf.word).lower() for leaf in leaves_of(tree)]


def first_word(tree: Tree) -> str:
    """The first word in lower case."""
    return words(tree)[0]


def parents(root: Tree) -> dict[int, Tree]:
    """The parent of each node, by the node's `id`."""
    return {id(child): node for node in preorder(root) for child in node.children}


def nodes_labelled(root: Tree, label: str) -> Iterator[Tree]:
    """All nodes with a label, parents first."""
    return (node for node in preorder(root) if node.label == label)


def number_anew(root: Tree, lower_case: frozenset[str]) -> tuple[Tree, tuple[Link, ...]]:
    """The changed tree with capital letters and spans put right, and the links to the old words."""
    leaves = leaves_of(root)
    links = tuple(sorted((leaf.begin, at) for at, leaf in enumerate(leaves) if leaf.begin != NEW))
    cased = [_cased(leaf, at, lower_case) for at, leaf in enumerate(leaves)]
    return _numbered(root, iter(range(len(leaves))), cased), links


def _cased(leaf: Tree, at: int, lower_case: frozenset[str]) -> str:
    word = str(leaf.word)
    if at == 0:
        return word[:1].upper() + word[1:]
    began = leaf.begin == 0 and leaf.label not in _NAME_TAGS and word != "I"
    return word.lower() if began and word[1:].islower() | (len(word) == 1) and word.lower() in lower_case else word


def _numbered(tree: Tree, places: Iterator[int], cased: Sequence[str]) -> Tree:
    if tree.is_leaf:
        at = next(places)
        return Tree(tree.label, at, at + 1, (), cased[at])
    children = tuple(_numbered(child, places, cased) for child in tree.children)
    return Tree(tree.label, children[0].begin, children[-1].end, children)


# ---- clauses ----


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without a gap: a subject (None: an imperative), then a VP, perhaps with other phrases around them."""

    node: Tree
    subject: Tree | None
    verb_phrase: Tree


def clauses(root: Tree) -> Iterator[Clause]:
    """The clauses of a sentence that surely miss nothing: the main one and coordinated ones."""
    above = parents(root)
    for node in preorder(root):
        if node.label == "S" and _is_whole(node, above):
            phrases = [child for child in node.children if child.label in {"NP", "VP", "S", "SBAR", "CC", "VB"}]
            match [child.label for child in phrases if child.label != "SBAR"]:
                case ["NP", "VP"]:
                    subject, predicate = (child for child in phrases if child.label != "SBAR")
                    yield Clause(node, subject, predicate)
                case ["VP"] if node is root:
                    yield Clause(node, None, next(child for child in phrases if child.label == "VP"))


def _is_whole(node: Tree, above: dict[int, Tree]) -> bool:
    while (parent := above.get(id(node))) is not None and parent.label == "S":
        if any(child.label not in _BESIDE_CLAUSES for child in parent.children):
            return False
        node = parent
    return parent is None


def verb_chain(verb_phrase: Tree) -> tuple[Tree, ...]:
    """The VPs from the finite verb down to the main verb, each the last inside the one before; empty if coordinated."""
    chain = [verb_phrase]
    while True:
        node = chain[-1]
        verbs = [child for child in node.children if child.is_leaf and child.label in VERBS]
        inner = [child for child in node.children if child.label == "VP"]
        if len(verbs) != 1 or len(inner) > 1 or any(child.label in {"CC", "TO"} for child in node.children):
            return ()
        if not inner:
            return tuple(chain)
        if verbs[0].label != "MD" and lemma(verbs[0]) not in _AUXILIARIES:
            return ()
        chain.append(inner[0])


def verb_of(verb_phrase: Tree) -> Tree:
    """The verb of a VP of a chain."""
    return next(child for child in verb_phrase.children if child.is_leaf and child.label in VERBS)


def head_noun(noun_phrase: Tree) -> Tree | None:
    """The head of a plain noun phrase; None for coordinations and whatever else is in doubt."""
    node = noun_phrase
    while not node.is_leaf:
        if any(child.label in {"CC", "CONJP"} for child in node.children):
            return None
        if node.children[0].label == "NP" and node.children[0].children[-1].label != "POS":
            node = node.children[0]
            continue
        last = node.children[-1]
        if last.label not in {"NN", "NNS", "NNP", "NNPS", "PRP", "DT", "CD", "NX", "NML"}:
            return None
        node = last
    return node


# ---- rules ----


def fronted_adjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`He left after lunch`, `After lunch, he left`."""
    for clause in clauses(root):
        yield from _fronted(root, clause, partial(_is_frontable, verb_chain(clause.verb_phrase), usage))


def _is_frontable(chain: Sequence[Tree], usage: Usage, child: Tree) -> bool:
    is_span = words(child) == ["now"] and verb_of(chain[-1]).label == "VBN"  # `for two years now`
    return (is_adjunct(child) and not is_span) or _is_place(child, chain[-1], usage)


def fronted_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`He left because it rained`, `Because it rained, he left`."""
    for clause in clauses(root):
        chain = verb_chain(clause.verb_phrase)
        if chain and lemma(verb_of(chain[-1])) not in word_list("question_verbs"):
            yield from _fronted(root, clause, is_adjunct_clause)


def moved_back_adjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`After lunch, he left`, `He left after lunch`."""
    return _moved_back(root, lambda child: is_adjunct(child) and first_word(child) not in word_list("sentence_adverbs"))


def moved_back_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`Because it rained, he left`, `He left because it rained`."""
    return _moved_back(root, is_adjunct_clause)


def swapped_clauses(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`She sings and he plays`, `He plays and she sings`; predicates of one subject likewise."""
    for node in preorder(root):
        places = _conjoined(node)
        if places is not None and _may_follow(node.children[places[1]]):
            children = list(node.children)
            first, second = places
            children[first], children[second] = children[second], children[first]
            yield substitute(root, node, with_children(node, children))


def _conjoined(node: Tree) -> tuple[int, int] | None:
    """Where the two clauses or predicates of a coordination stand; None if it is none, or has more than two."""
    labels = [child.label for child in node.children]
    while labels and labels[-1] in {".", "''"}:
        labels.pop()
    labels = [label for label in labels if label != ","] if labels[1:3] == [",", "CC"] else labels
    is_pair = len(labels) == 3 and labels[1] == "CC" and labels[0] == labels[2] and labels[0] in _SWAPPED_CLAUSES
    coordinator = next((child for child in node.children if child.label == "CC"), None)
    if not is_pair or coordinator is None or str(coordinator.word).lower() not in {"and", "or"}:
        return None
    second = max(place for place, child in enumerate(node.children) if child.label == labels[2])
    return 0, second


def _may_follow(conjunct: Tree) -> bool:
    """Whether it may stand first: it refers back to nothing, and claims no place in time."""
    return len(words(conjunct)) >= SHORTEST_CLAUSE and not {*words(conjunct)} & (_THIRD_PERSON | _ORDERED)


def is_adjunct_clause(child: Tree) -> bool:
    """A clause after one subordinator that opens no complement."""
    if child.label != "SBAR" or [each.label for each in child.children] not in (["IN", "S"], ["WHADVP", "S"]):
        return False
    is_finite = child.children[1].children[0].label in {"NP", "ADVP"} and child.children[1].children[-1].label == "VP"
    return is_finite and len(words(child)) > SHORTEST_CLAUSE and first_word(child) in word_list("subordinators")


def is_adjunct(child: Tree) -> bool:
    """A PP, noun phrase or adverb that says when, or under what circumstances."""
    if child.label == "ADVP":
        return len(words(child)) == 1 and first_word(child) in word_list("adverbs")
    if child.label == "NP":
        return _is_time(child)
    if child.label != "PP" or not child.children[0].is_leaf or child.children[-1].label not in {"NP", "PP"}:
        return False
    if any(leaf.label in {"WP", "WDT", "WRB"} for leaf in leaves_of(child)):
        return False
    word = first_word(child)
    if word in word_list("adjunct_prepositions"):
        return True
    return word in word_list("time_prepositions") and len(child.children) == 2 and _names_time(child.children[1])


def _names_time(noun_phrase: Tree) -> bool:
    head = head_noun(noun_phrase)
    if head is None or noun_phrase.label != "NP":
        return False
    word = str(head.word).lower()
    is_year = head.label == "CD" and len(word) == 4 and word.isdigit()
    return is_year or lemma(head) in word_list("time_nouns") - {"date", "may", "second"}


def _is_time(noun_phrase: Tree) -> bool:
    """`last week`, `every other day`, `Monday`, but not `a day`."""
    head = head_noun(noun_phrase)
    if head is None or any(not child.is_leaf for child in noun_phrase.children):
        return False
    if len(words(noun_phrase)) == 1:
        return str(head.word).lower() in word_list("time_names")
    return words(noun_phrase)[0] in word_list("time_determiners") and head.label != "NNS" and _names_time(noun_phrase)


def _is_place(child: Tree, verb_phrase: Tree, usage: Usage) -> bool:
    """A PP after an object whose preposition this verb hardly ever takes, so that it is not an argument."""
    if child.label != "PP" or [each.label for each in child.children] != ["IN", "NP"]:
        return False
    word, verb = first_word(child), lemma(verb_of(verb_phrase))
    if word not in word_list("place_prepositions") or verb in {"be", "have"}:
        return False
    has_object = [each.label for each in verb_phrase.children[-2:]] == ["NP", "PP"]
    uses, with_it = usage.verb_prepositions.get((verb, ""), 0), usage.verb_prepositions.get((verb, word), 0)
    is_rare = uses >= OFTEN and with_it <= FEW * uses
    head = head_noun(child.children[1])
    return has_object and is_rare and head is not None and head.label not in {"PRP", "DT", "CD"}


def _fronted(root: Tree, clause: Clause, may_move: MayMove) -> Iterator[Tree]:
    first, chain = clause.node.children[0], verb_chain(clause.verb_phrase)
    if not chain or first is not (clause.subject or clause.verb_phrase) or words(clause.node)[-1] == "?":
        return
    if clause.subject is None and verb_of(chain[0]).label != "VB":
        return  # not an imperative but a sentence whose subject was left out
    if _runs_on(root, clause.node):
        return
    for verb_phrase in chain:
        last = verb_phrase.children[-1]
        if not may_move(last) or not _stands_alone(verb_phrase, last) or _is_denied(clause, last):
            continue
        kept = list(verb_phrase.children[:-1])
        if kept[-1].label == ",":
            kept.pop()
        shorter = substitute(clause.node, verb_phrase, with_children(verb_phrase, kept))
        children = [last, new_comma(), *shorter.children]
        yield substitute(root, clause.node, with_children(shorter, children))


def _runs_on(root: Tree, node: Tree) -> bool:
    """The clause follows another one with nothing between them, so that a phrase at its front could belong to that."""
    parent = parents(root).get(id(node))
    return parent is not None and any(left.label == "S" and right is node for left, right in pairwise(parent.children))


def _is_denied(clause: Clause, last: Tree) -> bool:
    """A negation or `only` may be about the phrase (`not because`), and would not reach it at the front."""
    own, first = set(words(clause.node)), first_word(last)
    is_negative = bool(own & {"not", "n't", "never", "no"}) and first in _REASONS
    is_goal = clause.subject is None and first == "until"
    return is_negative or is_goal or bool(own & {"only", "even"})


def _stands_alone(verb_phrase: Tree, last: Tree) -> bool:
    """What stays is complete without the phrase that goes."""
    kept = verb_phrase.children[:-1]
    if any(child.label in {"CC", "''", "``", ":"} for child in kept):
        return False
    rest = [child for child in kept if child.label in _COMPLEMENTS - ({"ADVP"} if last.label != "SBAR" else set())]
    if last.label != "SBAR" and kept and kept[-1].label in {"S", "SBAR", "VP"}:
        return False  # it could belong to that clause
    verb = lemma(verb_of(verb_phrase))
    return bool(rest) or (verb not in word_list("needs_complement") and verb_phrase.children[-1] is last)


def _moved_back(root: Tree, may_move: MayMove) -> Iterator[Tree]:
    for clause in clauses(root):
        first = clause.node.children[0]
        chain = verb_chain(clause.verb_phrase)
        if clause.subject is None or not chain or first is clause.subject or not may_move(first):
            continue
        if words(first) == ["now"] and lemma(verb_of(chain[-1])) == "be":
            continue  # it need not speak of time
        if clause.node.end < root.end - 1:
            continue  # it would reach into the clause that follows
        rest = list(clause.node.children[1:])
        if rest[0].label == ",":
            rest.pop(0)
        if rest[0] is not clause.subject or not _has_room(chain[-1]) or _would_confuse(first, rest):
            continue
        longer = with_children(chain[-1], [*chain[-1].children, first])
        changed = substitute(with_children(clause.node, rest), chain[-1], longer)
        yield substitute(root, clause.node, changed)


def _has_room(verb_phrase: Tree) -> bool:
    """Nothing in the VP could take the phrase for itself, but for noun phrases."""
    labels = {child.label for child in verb_phrase.children}
    is_simple = not labels & {"S", "SBAR", "VP", "CC", ":", "SQ", "SINV", "``", "''"} and len(verb_phrase.children) > 1
    own = words(verb_phrase)
    return is_simple and len(own) <= LONGEST_BEFORE and not {",", "...", "-", "--"} & set(own)


def _would_confuse(first: Tree, rest: list[Tree]) -> bool:
    """A pronoun that meant a noun before it would come before the noun."""
    has_noun = any(leaf.label.startswith("NN") for leaf in leaves_of(first))
    pronouns = {word for child in rest for word in words(child)} & _THIRD_PERSON
    return has_noun and bool(pronouns) and not _is_time(first)


def swapped_conjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the cat and the dog`, `the dog and the cat`."""
    if any(leaf.label == "EX" for leaf in leaves_of(root)):
        return
    for label in _SWAPPED_PHRASES:
        for node in nodes_labelled(root, label):
            if _is_coordination(node.children, label) and _are_alike(node.children[0], node.children[2]):
                first, coordinator, second = node.children
                yield substitute(root, node, with_children(node, [second, coordinator, first]))


def _is_coordination(children: Sequence[Tree], label: str) -> bool:
    if len(children) != 3 or children[1].label != "CC" or children[1].word not in {"and", "or"}:
        return False
    first, _, second = children
    return first.label == second.label and (first.label == label or first.label in {"NN", "NNS", "JJ"})


def _are_alike(first: Tree, second: Tree) -> bool:
    """Two conjuncts that may change places: of one number, both with or without determiner, no pronouns, no clauses."""
    leaves = [*leaves_of(first), *leaves_of(second)]
    if any(leaf.label in _NOT_SWAPPED_TAGS or leaf.label.startswith("VB") for leaf in leaves):
        return False
    if {*words(first), *words(second)} & word_list("not_swapped") or words(first) == words(second):
        return False
    if any(character.isdigit() for word in (*words(first), *words(second)) for character in word):
        return False  # numbers stand in an order
    if first.label != "NP":
        return True
    numbers = {getattr(head_noun(each), "label", None) for each in (first, second)}
    determined = {leaves_of(each)[0].label in _DETERMINERS for each in (first, second)}
    return len(numbers) == 1 and None not in numbers and len(determined) == 1
