"""Rules inside noun phrases: relative clauses and coordination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forestalign.trees import Tree
from paraphrase_rules.tree_edits import first_word, new_word, nodes_labelled, phrase, substitute, with_children, words
from paraphrase_rules.usage import BE_FORMS, Usage, lemma, word_list
from paraphrase_rules.verbs import Clause, agreement, clauses, finite, head_noun, verb_chain, verb_of

FEWEST_REDUCED = 2
_RELATIVES = frozenset({"that", "which", "who", "whom"})
_SWAPPED = frozenset({"NP", "ADJP", "PP", "ADVP"})
_NOT_SWAPPED_TAGS = frozenset({"PRP", "PRP$", "WP", "WDT", "EX", "RB", "``", "''", ":", "CC", ",", "-LRB-", "-RRB-"})
_DETERMINERS = frozenset({"DT", "PRP$", "CD", "PDT", "POS"})


def reduced_relatives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the book that was written by him`, `the book written by him`."""
    for node in nodes_labelled(root, "NP"):
        if [child.label for child in node.children] != ["NP", "SBAR"]:
            continue
        relative = node.children[1]
        match [child.label for child in relative.children]:
            case ["WHNP", "S"] if first_word(relative) in _RELATIVES and len(words(relative.children[0])) == 1:
                rest = _after_be(relative.children[1])
                if rest is not None:
                    yield substitute(root, node, with_children(node, [node.children[0], rest]))


def _after_be(clause: Tree) -> Tree | None:
    """What follows `be` in a clause without subject: a VP of a participle, or a PP."""
    if [child.label for child in clause.children] != ["VP"]:
        return None
    match clause.children[0].children:
        case [be, rest] if be.is_leaf and str(be.word).lower() in BE_FORMS:
            is_participle = rest.label == "VP" and rest.children[0].label in {"VBN", "VBG"}
            wanted = is_participle or (rest.label == "PP" and rest.children[0].label == "IN")
            return rest if wanted and len(words(rest)) >= FEWEST_REDUCED else None
    return None


def full_relatives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the book written by him was lost`, `the book that was written by him was lost`; in the past only, since the
    time of a participle is known from the main clause alone."""
    if not _is_past(root):
        return
    for node in nodes_labelled(root, "NP"):
        if [child.label for child in node.children] != ["NP", "VP"]:
            continue
        noun, participle = node.children
        verb = participle.children[0]
        subject = agreement(noun)
        if verb.label not in {"VBN", "VBG"} or subject is None or len(words(participle)) < FEWEST_REDUCED:
            continue
        be = finite("be", True, subject, usage)
        if be is None or (verb.label == "VBG" and not _is_progressive(verb, usage)):
            continue
        clause = phrase("S", phrase("VP", new_word(*be), participle))
        relative = phrase("SBAR", phrase("WHNP", new_word("WDT", "that")), clause)
        yield substitute(root, node, with_children(node, [noun, relative]))


def _is_progressive(verb: Tree, usage: Usage) -> bool:
    return lemma(verb) in usage.progressive_verbs and str(verb.word).lower() not in word_list("stative_participles")


def _is_past(root: Tree) -> bool:
    """Every finite verb of the sentence is in the past."""
    finites = [leaf.label for leaf in root.leaves() if leaf.label in {"VBD", "VBZ", "VBP", "MD"}]
    return bool(finites) and set(finites) == {"VBD"}


def bare_relatives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the book that I read`, `the book I read`."""
    for _, relative in _object_relatives(root):
        match [child.label for child in relative.children]:
            case ["WHNP", "S"] if first_word(relative) in _RELATIVES and len(words(relative.children[0])) == 1:
                bare = with_children(relative, relative.children[1:])
                yield substitute(root, relative, bare)


def marked_relatives(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the book I read`, `the book that I read`."""
    for node, relative in _object_relatives(root):
        head = head_noun(node.children[0])
        is_noun = head is not None and head.label in {"NN", "NNS"} and lemma(head) not in word_list("complement_nouns")
        if is_noun and [child.label for child in relative.children] == ["S"]:
            marked = with_children(relative, [phrase("WHNP", new_word("WDT", "that")), *relative.children])
            yield substitute(root, relative, marked)


def _object_relatives(root: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Noun phrases of a noun and a clause with a subject of its own and a finite verb."""
    for node in nodes_labelled(root, "NP"):
        if [child.label for child in node.children] != ["NP", "SBAR"]:
            continue
        relative = node.children[1]
        clause = relative.children[-1]
        if [child.label for child in clause.children] != ["NP", "VP"]:
            continue
        chain = verb_chain(clause.children[1])
        if chain and verb_of(chain[0]).label in {"VBD", "VBZ", "VBP", "MD"}:
            yield node, relative


def relatives_as_predicates(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`Ann, who lives here, left`, `Ann lives here and left`."""
    for clause in clauses(root, embedded=False):
        if clause.subject is None:
            continue
        match [child.label for child in clause.subject.children]:
            case ["NP", ",", "SBAR"] | ["NP", ",", "SBAR", ","]:
                told = _told(clause.subject.children[2])
                is_plain = "," not in words(clause.subject.children[0])
                if told is not None and is_plain and _agree(told, clause.verb_phrase):
                    yield substitute(root, clause.node, _joined(clause, clause.subject, told))


def _told(relative: Tree) -> Tree | None:
    """The VP of a relative clause whose pronoun is its subject."""
    match [child.label for child in relative.children]:
        case ["WHNP", "S"] if words(relative.children[0]) in (["who"], ["which"]):
            rest = relative.children[1].children
            return rest[0] if [child.label for child in rest] == ["VP"] and verb_chain(rest[0]) else None
    return None


def _agree(told: Tree, predicate: Tree) -> bool:
    """Both finite verbs are for a subject of the same number, as far as they show it."""
    chain = verb_chain(predicate)
    finites = [verb_of(told), verb_of(chain[0])] if chain else []
    numbers = [_number(leaf) for leaf in finites]
    return bool(chain) and len({number for number in numbers if number}) < 2


def _number(leaf: Tree) -> str:
    word = str(leaf.word).lower()
    if leaf.label == "VBZ" or word == "was":
        return "singular"
    return "plural" if leaf.label == "VBP" or word == "were" else ""


def _joined(clause: Clause, subject: Tree, told: Tree) -> Tree:
    """The clause with both VPs as predicates of the bare subject; the comma after the relative clause goes."""
    predicates = phrase("VP", told, new_word("CC", "and"), clause.verb_phrase)
    children: list[Tree] = []
    for child in clause.node.children:
        if child.label == "," and children and children[-1] is subject.children[0]:
            continue
        new = subject.children[0] if child is subject else predicates if child is clause.verb_phrase else child
        children.append(new)
    return with_children(clause.node, children)


def swapped_conjuncts(root: Tree, usage: Usage) -> Iterator[Tree]:
    """`the cat and the dog`, `the dog and the cat`."""
    if any(leaf.label == "EX" for leaf in root.leaves()):
        return
    for label in sorted(_SWAPPED):
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
    leaves = [*first.leaves(), *second.leaves()]
    if any(leaf.label in _NOT_SWAPPED_TAGS or leaf.label.startswith("VB") for leaf in leaves):
        return False
    if {*words(first), *words(second)} & word_list("not_swapped") or words(first) == words(second):
        return False
    if any(character.isdigit() for word in (*words(first), *words(second)) for character in word):
        return False  # numbers stand in an order
    if first.label != "NP":
        return True
    numbers = {getattr(head_noun(each), "label", None) for each in (first, second)}
    determined = {next(each.leaves()).label in _DETERMINERS for each in (first, second)}
    return len(numbers) == 1 and None not in numbers and len(determined) == 1
