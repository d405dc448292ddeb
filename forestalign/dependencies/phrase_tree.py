"""The tree as the conversion sees it: phrases that know their parent, head child and conjuncts; and its word lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from pathlib import Path

from forestalign.errors import GrammarError
from forestalign.grammar import HeadTable, base_label, grammar_root, punctuation_tags, read_rows
from forestalign.trees import Tree

NAME_TAGS = frozenset({"NNP", "NNPS"})
NOUN_TAGS = NAME_TAGS | {"NN", "NNS"}
VERB_TAGS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
NOMINAL = frozenset({"NP", "NML", "NX", "NAC", "WHNP"})
NO_TOKEN = -1
CLAUSAL = frozenset({"S", "SQ", "SINV", "SBARQ", "SBAR"})


@dataclass(slots=True, eq=False)
class Phrase:
    """A node while it is converted; `head_child`, `head` and `coordination` are filled children first."""

    label: str
    begin: int
    end: int
    word: str  # lower case; empty for a phrase
    lemma: str
    parent: Phrase | None
    index: int  # among the children of the parent
    children: list[Phrase]
    head: int = -1
    head_child: Phrase | None = None
    coordination: Coordination | None = None
    copula: int = NO_TOKEN  # a bare copula that gave the head of this phrase to a question word
    labels: tuple[str, ...] = ()  # of the children, in order

    def child(self, *labels: str) -> Phrase | None:
        """The first child with one of these labels."""
        for number, label in enumerate(self.labels):
            if label in labels:
                return self.children[number]
        return None

    def leaf(self) -> Phrase:
        """The word that is the head of the head, and so on down."""
        phrase = self
        while phrase.head_child is not None:
            phrase = phrase.head_child
        return phrase

    def before(self) -> list[Phrase]:
        """Sisters to the left."""
        return self.parent.children[: self.index] if self.parent else []

    def after(self) -> list[Phrase]:
        """Sisters to the right."""
        return self.parent.children[self.index + 1 :] if self.parent else []

    def projection(self) -> Iterator[Phrase]:
        """This phrase and its head children down to the word."""
        phrase: Phrase | None = self
        while phrase is not None:
            yield phrase
            phrase = phrase.head_child


@dataclass(frozen=True, slots=True, eq=False)
class Coordination:
    """Conjuncts among the children of a phrase, in order; each with the children that belong to it.

    `is_local`: the conjuncts are modifiers side by side ("black and white cats"), not heads of the phrase.
    """

    conjuncts: tuple[int, ...]
    owner: tuple[int, ...]  # for each child: which conjunct (index into conjuncts) governs it
    is_local: bool


def build_phrases(tree: Tree, lemmas: Sequence[str]) -> list[Phrase]:
    """All phrases and words, parents before children."""
    order = [Phrase(base_label(tree.label), tree.begin, tree.end, "", "", None, 0, [])]
    nodes: list[Tree] = [tree]
    if tree.word is not None:
        order[0].word, order[0].lemma = tree.word.lower(), lemmas[tree.begin]
    for phrase, node in zip(order, nodes, strict=True):  # both grow on the way
        if node.children:
            phrase.labels = labels = tuple([base_label(child.label) for child in node.children])
            phrase.children = [
                Phrase(label, child.begin, child.end, "", "", phrase, index, [])
                if child.word is None
                else Phrase(label, child.begin, child.end, child.word.lower(), lemmas[child.begin], phrase, index, [])
                for index, (label, child) in enumerate(zip(labels, node.children, strict=True))
            ]
            order += phrase.children
            nodes += node.children
    return order


# ---- word lists, from `grammar/ud_words.tsv` ----


@dataclass(frozen=True, slots=True)
class WordLists:
    """Lower-case words by what they may do; `fixed` holds expressions as tuples of words."""

    auxiliary: frozenset[str]
    be: frozenset[str]
    have: frozenset[str]
    get: frozenset[str]
    temporal: frozenset[str]
    locative: frozenset[str]
    measure: frozenset[str]
    month: frozenset[str]
    day_half: frozenset[str]
    title: frozenset[str]
    preconj: frozenset[str]
    complementiser: frozenset[str]
    first_name: frozenset[str]
    organisation: frozenset[str]
    name_prefix: frozenset[str]
    name_adjective: frozenset[str]
    ditransitive_clause: frozenset[str]
    object_control: frozenset[str]
    adverbial_infinitive: frozenset[str]
    adverbial_gerund: frozenset[str]
    temporal_object: frozenset[str]
    interrogative: frozenset[str]
    subject_control_adjective: frozenset[str]
    fixed: frozenset[tuple[str, ...]]


def read_word_lists(path: Path) -> WordLists:
    """Rows LIST, WORDS; expressions of `fixed` are separated by `|`."""
    names = {field.name for field in fields(WordLists)}
    lists: dict[str, set[object]] = {name: set() for name in names}
    for number, (name, words) in read_rows(path, 2):
        if name not in names:
            raise GrammarError(path, number, f"{name!r}: expected one of {', '.join(sorted(names))}")
        if name == "fixed":
            lists[name] |= {tuple(expression.split()) for expression in words.split("|")}
        else:
            lists[name] |= set(words.split())
    missing = sorted(name for name in names if not lists[name])
    if missing:
        raise GrammarError(path, None, f"no row for {', '.join(missing)}")
    return WordLists(**{name: frozenset(lists[name]) for name in names})  # type: ignore[arg-type]


@cache
def word_lists() -> WordLists:
    """The word lists of the conversion, loaded once."""
    return read_word_lists(grammar_root() / "ud_words.tsv")


# ---- which children are conjuncts, and which belong to which conjunct ----


_COORDINATORS = frozenset({"CC", "CONJP"})
_SEPARATORS = frozenset({"CC", "CONJP", ",", ":"})
_COMMA_LISTS = {"NP": 3, "VP": 2, "ADJP": 2}  # how many conjuncts are needed at least
_CLASSES = {
    "N": "NP NN NNS NNP NNPS NML NX NAC PRP WHNP ADD $ EX FW",
    "V": "VP VB VBD VBN VBZ VBP VBG S SINV SQ SBARQ SBAR FRAG RRC",
    "AUX": "MD TO",
    "ADJ": "ADJP JJ JJR JJS AFX",
    "ADV": "ADVP RB RBR RBS WRB WHADVP",
    "P": "PP IN RP PRT WHPP",
    "NUM": "CD QP",
    "DET": "DT PRP$ WDT PDT",
}
_CLASS_OF = {label: name for name, labels in _CLASSES.items() for label in labels.split()}


def find_coordination(phrase: Phrase, table: HeadTable) -> Coordination | None:
    """The coordination of a phrase with a conjunction between two of its children."""
    labels = phrase.labels
    if _COORDINATORS.isdisjoint(labels):
        return _comma_list(phrase)
    first = next((index for index in range(1, len(labels) - 1) if labels[index] in _COORDINATORS), None)
    if first is None:
        return _comma_list(phrase)
    left = _nearest_word(labels, range(first - 1, -1, -1))
    right = _nearest_word(labels, range(first + 1, len(labels)))
    if left is None or right is None:
        return None
    head = table.child(phrase.label, labels)
    if _is_local(labels, left, right, head):
        return _local(labels, left, right)
    return _by_segments(phrase.label, labels, first, table)


def _comma_list(phrase: Phrase) -> Coordination | None:
    """Conjuncts without a conjunction: three noun phrases or two predicates of one kind, with commas between."""
    least = _COMMA_LISTS.get(phrase.label)
    if least is None or "," not in phrase.labels:
        return None
    children = [child for child in phrase.children if child.label in _COMMA_LISTS]
    if len(children) < least or len({child.label for child in children}) > 1:
        return None
    conjuncts = [child.index for child in children]
    between = [phrase.labels[left + 1 : right] for left, right in pairwise(conjuncts)]
    if any(labels != (",",) for labels in between):
        return None
    owner = tuple(min(sum(c < index for c in conjuncts), len(conjuncts) - 1) for index in range(len(phrase.children)))
    return Coordination(tuple(conjuncts), owner, is_local=False)


def _nearest_word(labels: tuple[str, ...], indices: range) -> int | None:
    return next((index for index in indices if labels[index] not in _skipped()), None)


@cache
def _skipped() -> frozenset[str]:
    """Labels of children that are never conjuncts."""
    return punctuation_tags() | _COORDINATORS


def _is_local(labels: tuple[str, ...], left: int, right: int, head: int) -> bool:
    """Two modifiers of one class beside a head of another: "black and white cats", "to and from work"."""
    left_class, right_class = _CLASS_OF.get(labels[left]), _CLASS_OF.get(labels[right])
    return left_class is not None and left_class == right_class != _CLASS_OF.get(labels[head])


def _local(labels: tuple[str, ...], left: int, right: int) -> Coordination:
    own_class = _CLASS_OF[labels[left]]
    begin = left
    while begin >= 2 and labels[begin - 1] in _SEPARATORS and _CLASS_OF.get(labels[begin - 2]) == own_class:
        begin -= 2
    conjuncts = (*range(begin, left, 2), left, right)
    owner = [-1] * len(labels)
    for index in range(begin, right + 1):
        owner[index] = sum(conjunct < index for conjunct in conjuncts)
    return Coordination(conjuncts, tuple(owner), is_local=True)


def _by_segments(label: str, labels: tuple[str, ...], first: int, table: HeadTable) -> Coordination | None:
    """Segments between separators; one is a conjunct if a conjunction is before it, or if its head fits the first's."""
    begins = [0, *(index + 1 for index in range(1, len(labels)) if labels[index] in _SEPARATORS)]
    ends = [*(begin - 1 for begin in begins[1:]), len(labels)]
    segments = [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]
    heads = [begin + table.child(label, labels[begin:end]) for begin, end in segments]
    skipped = _skipped()
    before = [position for position, head in enumerate(heads) if head < first and labels[head] not in skipped]
    if not before:
        return None
    model = _CLASS_OF.get(labels[heads[before[-1]]])
    chosen = []
    for position, (begin, _) in enumerate(segments):
        head = heads[position]
        if labels[head] in skipped:
            continue
        follows = any(labels[index] in _COORDINATORS for index in range(max(begin - 2, 1), begin))
        fits = _CLASS_OF.get(labels[head]) == model or label == "UCP"
        if position == before[-1] or (head > first and follows) or fits:
            chosen.append(position)
    if len(chosen) < 2:
        return None
    conjuncts = tuple(heads[position] for position in chosen)
    owners = _owners(labels, segments, chosen)
    shares_rest = label == "VP" and segments[chosen[0]][1] == conjuncts[0] + 1 and labels[conjuncts[0]] != "VP"
    if shares_rest:  # "read or hear in the media": what follows the last verb belongs to the first
        owners = (*owners[: conjuncts[-1] + 1], *(0 for _ in owners[conjuncts[-1] + 1 :]))
    return Coordination(conjuncts, owners, is_local=False)


def _owners(labels: tuple[str, ...], segments: list[tuple[int, int]], chosen: list[int]) -> tuple[int, ...]:
    """Each child goes with the conjunct of its segment; what is between conjuncts goes with the next one."""
    owner = []
    for index in range(len(labels)):
        following = sum(segments[position][1] <= index for position in chosen)
        owner.append(min(following, len(chosen) - 1))
    return tuple(owner)
