"""Trees to dependencies: unlabelled by head rules, and Universal Dependencies by rules over the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from forestalign.dependencies.heads import set_heads
from forestalign.dependencies.phrase_tree import NO_TOKEN, NOMINAL, VERB_TAGS, Phrase, build_phrases, word_lists
from forestalign.dependencies.relations import is_small_clause, relation, small_clause_subject, stranded_object
from forestalign.errors import NoParseError, counted
from forestalign.grammar import head_rules
from forestalign.tokens import Sentence, lemmatize
from forestalign.trees import Tree, head_tokens, postorder

# ---- heads and relations of the tokens while they are being corrected ----


ROOT = -1
_MARKERS = {"nmod": "case", "obl": "case", "advcl": "mark", "conj": "cc"}
_CASES = frozenset(_MARKERS.values())


@cache
def _fixed_firsts() -> tuple[frozenset[str], int]:
    """The first words of the fixed expressions, and the length of the longest."""
    fixed = word_lists().fixed
    return frozenset(expression[0] for expression in fixed), max(len(expression) for expression in fixed)


class Graph:
    """A dependency for each token, set one by one and then put right as a whole."""

    def __init__(self, words: Sequence[str]):
        self.heads = [ROOT] * len(words)
        self.relations = [""] * len(words)
        self._words = words
        self._moved: dict[int, int] = {}

    def attach(self, token: int, head: int, relation: str) -> None:
        """Make one word depend on another by a relation."""
        self.heads[token], self.relations[token] = head, relation

    def move(self, copula: int, head: int) -> None:
        """All that hangs on a bare copula is to hang on the word that is the predicate."""
        self._moved[copula] = head

    def finish(self) -> None:
        """The dependencies, every word attached."""
        self._move_dependents()
        self._join_fixed_expressions()
        self._mark_passives()
        self._add_case_and_conjunction()

    def _move_dependents(self) -> None:
        for token, head in enumerate(self.heads) if self._moved else ():
            target = self._moved.get(head)
            if target is not None and target != token:
                self.heads[token] = target

    def _join_fixed_expressions(self) -> None:
        firsts, longest = _fixed_firsts()
        begin, count = 0, len(self._words)
        while begin < count:
            if self._words[begin] not in firsts:
                begin += 1
                continue
            for end in range(min(begin + longest, count), begin + 1, -1):
                if tuple(self._words[begin:end]) in word_lists().fixed and self._join(begin, end):
                    begin = end - 1
                    break
            begin += 1

    def _join(self, begin: int, end: int) -> bool:
        """Make the words of an expression hang on its first, if they all hang on one word or on each other."""
        inside = range(begin, end)
        outer = {self.heads[token] for token in inside if self.heads[token] not in inside}
        governed = [token for token, head in enumerate(self.heads) if head in inside and token not in inside]
        if len(outer) != 1 or ROOT in outer or governed:
            return False
        names = {self.relations[token] for token in inside if self.heads[token] in outer}
        name = next((name for name in ("case", "mark", "cc", "advmod") if name in names), "")
        self.attach(begin, outer.pop(), name or "advmod")
        for token in range(begin + 1, end):
            self.attach(token, begin, "fixed")
        return True

    def _mark_passives(self) -> None:
        passive = {self.heads[token] for token, name in enumerate(self.relations) if name == "aux:pass"}
        for token, name in enumerate(self.relations):
            if name in ("nsubj", "csubj") and self.heads[token] in passive:
                self.relations[token] = f"{name}:pass"

    def _add_case_and_conjunction(self) -> None:
        """nmod -> nmod:in, advcl -> advcl:if, conj -> conj:and."""
        markers: dict[tuple[int, str], int] = {}
        for token, name in enumerate(self.relations):
            if name in _CASES:
                markers.setdefault((self.heads[token], name), token)
        for token, name in enumerate(self.relations) if markers else ():
            if name in _MARKERS and (token, _MARKERS[name]) in markers:
                self.relations[token] = f"{name}:{self._expression(markers[token, _MARKERS[name]])}"

    def _expression(self, marker: int) -> str:
        parts = [self._words[marker]]
        for token in range(marker + 1, len(self._words)):
            if self.heads[token] != marker or self.relations[token] != "fixed":
                break
            parts.append(self._words[token])
        return "_".join(parts)


# ---- from tree to dependencies ----


_ADVERBS = frozenset({"RB", "RBR", "RBS", "ADVP"})
_GRADED = frozenset({"JJ", "JJR", "JJS", "CD", "VBN", "ADJP", "QP", "RB"})


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each token its head (-1 for the root) and its relation to it."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]


def unlabelled_heads(tree: Tree) -> tuple[int, ...]:
    """The head of each token by the syntactic head rules; -1 for the root."""
    heads = [ROOT] * tree.end
    pending: list[int] = []
    for node, head in zip(postorder(tree), head_tokens(tree, head_rules()), strict=True):
        if node.word is None:
            for child in pending[-len(node.children) :]:
                if child != head:
                    heads[child] = head
            del pending[-len(node.children) :]
        pending.append(head)
    return tuple(heads)


def to_dependencies(tree: Tree, sentence: Sentence) -> Dependencies:
    """Labelled dependencies with content heads; case and conjunction are added to the relation."""
    if tree.end != len(sentence):
        raise NoParseError(f"the tree has {counted(tree.end, 'word')}, expected {len(sentence)}")
    return _convert(tree, sentence.lower_words, _lemmas(tree, sentence))


@lru_cache(maxsize=16)  # a tree that was read for word links is mostly read again for phrases
def _convert(tree: Tree, words: tuple[str, ...], lemmas: tuple[str, ...]) -> Dependencies:
    phrases = build_phrases(tree, lemmas)
    set_heads(phrases)
    graph = Graph(words)
    heads, relations = graph.heads, graph.relations
    for phrase in phrases:
        for child in phrase.children:
            if child is not phrase.head_child:
                heads[child.head], relations[child.head] = _governor(phrase, child)
        if phrase.copula != NO_TOKEN:
            graph.move(phrase.copula, phrase.head)
    graph.attach(phrases[0].head, ROOT, "root")
    graph.finish()
    return Dependencies(tuple(graph.heads), tuple(graph.relations))


def _lemmas(tree: Tree, sentence: Sentence) -> tuple[str, ...]:
    if any(sentence.lemmas):
        return sentence.lemmas
    return tuple(lemmatize(sentence.words, [leaf.label for leaf in tree.leaves()]))


def _governor(phrase: Phrase, child: Phrase) -> tuple[int, str]:
    """The token that governs a child that is not the head child, and the relation."""
    head = phrase.head_child
    assert head is not None
    if child.head == phrase.copula:
        return head.head, "cop"
    coordination = phrase.coordination
    if coordination is not None and coordination.owner[child.index] >= 0:
        conjuncts = coordination.conjuncts
        if child.index in conjuncts[1:]:
            return phrase.children[conjuncts[0]].head, "conj"
        if child.index != conjuncts[0]:
            head = phrase.children[conjuncts[coordination.owner[child.index]]]
    if phrase.label == "S":
        verb = _verb_above(phrase)
        if verb is not None and child is small_clause_subject(phrase):
            return verb.head, "obj"
    elif child.label in _ADVERBS and phrase.label in NOMINAL:
        following = child.after()  # "so many people": the adverb modifies the number, not the noun
        if following and following[0].label in _GRADED:
            return following[0].head, "advmod"
    if child.label == "PP":
        stranded = stranded_object(child)
        if stranded is not None:
            return stranded.head, "case"
    return head.head, relation(phrase, child, head)


def _verb_above(clause: Phrase) -> Phrase | None:
    """The verb that a small clause complements."""
    above = clause.parent
    if above is None or above.label != "VP" or above.head_child is None or above.head_child.label not in VERB_TAGS:
        return None
    verb = above.head_child
    return verb if verb.begin < clause.begin and is_small_clause(clause) else None
