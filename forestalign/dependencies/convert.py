"""Trees to dependencies: unlabelled by head rules, and Universal Dependencies by rules over the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forestalign.dependencies.clauses import is_small_clause, small_clause_subject, stranded_object
from forestalign.dependencies.graph import ROOT, Graph
from forestalign.dependencies.heads import set_heads
from forestalign.dependencies.phrase_tree import NO_TOKEN, NOMINAL, VERB_TAGS, Phrase, build_phrases
from forestalign.dependencies.relations import relation
from forestalign.errors import NoParseError, counted
from forestalign.grammar import head_rules
from forestalign.tokens import Sentence, lemmatize
from forestalign.trees import Tree, head_tokens, postorder

_SUBTYPES = frozenset(
    {"acl:relcl", "advcl:relcl", "aux:pass", "cc:preconj", "compound:prt", "csubj:outer", "csubj:pass", "det:predet"}
    | {"nmod:desc", "nmod:poss", "nmod:unmarked", "nsubj:outer", "nsubj:pass", "obl:agent", "obl:unmarked"}
)
_GRADED = frozenset({"JJ", "JJR", "JJS", "CD", "VBN", "ADJP", "QP", "RB"})


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each token its head (-1 for the root) and its relation to it."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    @property
    def plain_relations(self) -> tuple[str, ...]:
        """The relations without case and conjunction, as in a basic Universal Dependencies treebank."""
        return tuple(name if name in _SUBTYPES else name.split(":")[0] for name in self.relations)


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
    phrases = build_phrases(tree, _lemmas(tree, sentence))
    set_heads(phrases)
    graph = Graph([token.form.lower() for token in sentence.tokens])
    for phrase in phrases:
        for child in phrase.children:
            if child is not phrase.head_child:
                graph.attach(child.head, *_governor(phrase, child))
        if phrase.copula != NO_TOKEN:
            graph.move(phrase.copula, phrase.head)
    graph.attach(phrases[0].head, ROOT, "root")
    graph.finish()
    return Dependencies(tuple(graph.heads), tuple(graph.relations))


def _lemmas(tree: Tree, sentence: Sentence) -> Sequence[str]:
    if any(token.lemma for token in sentence.tokens):
        return sentence.lemmas
    return lemmatize(sentence.words, [leaf.label for leaf in tree.leaves()])


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
    verb = _verb_above(phrase)
    if verb is not None and child is small_clause_subject(phrase):
        return verb.head, "obj"
    stranded = stranded_object(child)
    if stranded is not None:
        return stranded.head, "case"
    graded = _graded_sister(phrase, child)
    if graded is not None:
        return graded.head, "advmod"
    return head.head, relation(phrase, child, head)


def _verb_above(clause: Phrase) -> Phrase | None:
    """The verb that a small clause complements."""
    above = clause.parent
    if above is None or above.label != "VP" or above.head_child is None or above.head_child.label not in VERB_TAGS:
        return None
    verb = above.head_child
    return verb if verb.begin < clause.begin and is_small_clause(clause) else None


def _graded_sister(phrase: Phrase, child: Phrase) -> Phrase | None:
    """ "So many people": an adverb before an adjective or a number modifies that, not the noun."""
    if phrase.label not in NOMINAL or child.label not in ("RB", "RBR", "RBS", "ADVP"):
        return None
    following = child.after()
    return following[0] if following and following[0].label in _GRADED else None
