"""What is to be drawn of a result: trees as flat lists of nodes that know their phrase pair, for every alignment.

Coordinates come later, in the page (`assets/draw.js`) or in `static.py`; everything they have to agree on is here.
A bar phrase is no constituent of the n-ary tree, so it becomes a node of its own between a phrase and a run of its
children, where the binary tree has it. All bar nodes of the binary tree go along by name, for people who correct an
alignment: an annotation may name any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forestalign.forest import pack
from forestalign.phrases.result.alignment import Alignment, ForestNode, PhraseAlignment, PhrasePair
from forestalign.phrases.result.shown_pairs import LoosePhrase
from forestalign.tokens import Sentence, Span
from forestalign.trees import ScoredTree, Tree, constituents, format_brackets
from forestalign.view.text import headline
from forestalign.words.alignment import WordAlignment

WORD, PHRASE, BAR = "w", "p", "b"
_RANK = {PHRASE: 0, BAR: 1, WORD: 2}  # of nodes over the same span the higher comes first
_MOST_OTHER = 10  # phrases of other parses on each side; more cannot be read
_LEAST_MARGINAL = 0.02


class SceneNode(NamedTuple):
    """A node of the drawn tree, children before parents; `phrase` is the index of its pair, -1 if it has none."""

    label: str
    begin: int
    end: int
    kind: str
    parent: int
    phrase: int
    is_null: bool  # the top of a null phrase
    in_null: bool
    inner: int  # the pair inside it that it adds small words to, -1 if it does not
    joined: int  # the scattered words that it consists of, or -1
    whole: int  # the pair around it that is aligned without any pair inside (kicked the bucket), or -1


class BarNode(NamedTuple):
    """A node that the binarisation adds to a tree."""

    begin: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class SceneSide:
    """One sentence as it is drawn."""

    text: str
    tokens: tuple[str, ...]
    spaces: tuple[bool, ...]  # whether a space stands before each token


class Beside(NamedTuple):
    """What a side has beside its pairs: the pairs inside extended phrases, by the spans of these; scattered words."""

    inner: Mapping[Span, int]
    joined: tuple[tuple[int, ...], ...]


NOTHING_BESIDE = Beside({}, ())


class DrawnTree(NamedTuple):
    """A tree in Penn brackets and the bar nodes of its binarisation."""

    brackets: str
    bars: tuple[BarNode, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the k best alignments, on its own two trees."""

    source: tuple[SceneNode, ...]
    target: tuple[SceneNode, ...]
    source_tree: DrawnTree
    target_tree: DrawnTree
    phrases: PhraseAlignment
    extended: tuple[LoosePhrase, ...]
    shown: tuple[bool, ...]  # of the pairs, unless all bar phrases are asked for


@dataclass(frozen=True, slots=True)
class Scene:
    """One result, ready to be drawn; `source_other` and `target_other` are phrases of other parses, likeliest first."""

    id: str
    source: SceneSide
    target: SceneSide
    words: WordAlignment
    choices: tuple[Choice, ...]
    source_other: tuple[ForestNode, ...]
    target_other: tuple[ForestNode, ...]
    signature: str
    verdict: str
    headline: str  # the verdict with its probability, and what has changed


def scene_of(alignment: Alignment) -> Scene:
    """Everything the drawing of a result needs, the alternatives after the best alignment."""
    ways = (alignment.phrases, *alignment.alternatives)
    trees = {tree for each in ways for tree in (each.source_tree, each.target_tree)}  # mostly shared
    drawn = {tree: DrawnTree(format_brackets(tree), bar_nodes(tree)) for tree in trees}
    return Scene(
        alignment.id,
        _side(alignment.source),
        _side(alignment.target),
        alignment.words,
        tuple(_choice(each, drawn, replace(alignment, phrases=each).shown()) for each in ways),
        _likeliest(alignment.unchosen.source if alignment.unchosen else ()),
        _likeliest(alignment.unchosen.target if alignment.unchosen else ()),
        alignment.signature,
        alignment.verdict,
        headline(alignment),
    )


def with_shown_pairs(alignment: Alignment) -> Alignment:
    """The result without the pairs that are not shown; what supports one of these supports the pair above it."""
    pairs, shown = alignment.phrases.pairs, alignment.shown()
    places = {k: place for place, k in enumerate(k for k, is_shown in enumerate(shown) if is_shown)}

    def parts(pair: PhrasePair) -> Iterator[int]:
        for k in pair.supports:
            yield from (places[k],) if shown[k] else parts(pairs[k])

    kept = tuple(replace(pairs[k], supports=tuple(parts(pairs[k]))) for k in places)
    return replace(alignment, phrases=replace(alignment.phrases, pairs=kept))


def _side(sentence: Sentence) -> SceneSide:
    before = (0, *(token.end for token in sentence.tokens))
    spaces = tuple(token.start > end for token, end in zip(sentence.tokens, before, strict=False))
    return SceneSide(sentence.text, sentence.written_words, spaces)


def _likeliest(nodes: Sequence[ForestNode]) -> tuple[ForestNode, ...]:
    wide = [node for node in nodes if node.marginal >= _LEAST_MARGINAL and node.end - node.begin > 1]
    wide.sort(key=lambda node: (-node.marginal, node.begin, node.end, node.label))
    return tuple(sorted(wide[:_MOST_OTHER], key=lambda node: (node.begin, -node.end, node.label)))


def bar_nodes(tree: Tree) -> tuple[BarNode, ...]:
    """The bar nodes of the binarised tree, as annotations name them."""
    sentence = Sentence.from_words([str(leaf.word) for leaf in tree.leaves()])
    nodes = pack([ScoredTree(tree, 0.0)], sentence).nodes
    return tuple(BarNode(node.begin, node.end, node.label) for node in nodes if node.is_bar)


def _choice(phrases: PhraseAlignment, drawn: dict[Tree, DrawnTree], shown: tuple[bool, ...]) -> Choice:
    extended = phrases.extended
    inner = [{each.span: each.pair for each in extended if each.side == name} for name in ("source", "target")]
    beside = (
        Beside(inner[0], tuple(one.source for one in phrases.joined)),
        Beside(inner[1], tuple(one.target for one in phrases.joined)),
    )
    source = [(pair.source, pair.source_label) for pair in phrases.pairs]
    target = [(pair.target, pair.target_label) for pair in phrases.pairs]
    return Choice(
        drawn_nodes(phrases.source_tree, source, phrases.source_nulls, beside[0]),
        drawn_nodes(phrases.target_tree, target, phrases.target_nulls, beside[1]),
        drawn[phrases.source_tree],
        drawn[phrases.target_tree],
        phrases,
        extended,
        shown,
    )


class _Plain(NamedTuple):
    """A node before it knows its place."""

    label: str
    begin: int
    end: int
    kind: str


def drawn_nodes(
    tree: Tree, phrases: Sequence[tuple[Span, str]], nulls: Sequence[Span], beside: Beside = NOTHING_BESIDE
) -> tuple[SceneNode, ...]:
    """The nodes of a tree with the bar phrases that are aligned, children before parents."""
    plain = [_Plain(phrase.label, phrase.begin, phrase.end, PHRASE) for phrase in constituents(tree)]
    plain += [_Plain(leaf.label, leaf.begin, leaf.end, WORD) for leaf in tree.leaves()]
    pair_of: dict[_Plain, int] = {}
    for index, (span, label) in enumerate(phrases):
        node = _find(plain, span, label)
        if node is None:
            node = _Plain(label, span.begin, span.end, BAR)
            plain.append(node)
        pair_of.setdefault(node, index)
    return _link_parents(plain, pair_of, nulls, beside)


def _find(nodes: Sequence[_Plain], span: Span, label: str) -> _Plain | None:
    """The node of a phrase: by span and label, a phrase before its word; None for a bar phrase."""
    here = [node for node in nodes if (node.begin, node.end) == span]
    return next((node for node in here if node.label == label), here[0] if here else None)


def _link_parents(
    plain: list[_Plain], pair_of: dict[_Plain, int], nulls: Sequence[Span], beside: Beside
) -> tuple[SceneNode, ...]:
    """Parents by containment. Nodes sorted by beginning, longest first, meet their parents on a stack."""
    order = sorted(plain, key=lambda node: (node.begin, -node.end, _RANK[node.kind]))
    parents: list[int] = []
    stack: list[int] = []
    for index, node in enumerate(order):
        while stack and order[stack[-1]].end < node.end:
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        stack.append(index)
    null_words = {index for span in nulls for index in range(*span)}
    pairs = [pair_of.get(node, -1) for node in order]
    in_null = [
        pair < 0 and null_words.issuperset(range(node.begin, node.end)) for node, pair in zip(order, pairs, strict=True)
    ]
    joined = [_find_joined(node, beside.joined) for node in order]
    wholes = _wholes(pairs, parents, [null or k >= 0 for null, k in zip(in_null, joined, strict=True)])
    last = len(order) - 1  # reversed, children stand before parents
    return tuple(
        SceneNode(
            *order[index],
            last - parents[index] if parents[index] >= 0 else -1,
            pairs[index],
            in_null[index] and (parents[index] < 0 or not in_null[parents[index]]),
            in_null[index],
            beside.inner.get(Span(order[index].begin, order[index].end), -1),
            joined[index],
            wholes[index],
        )
        for index in range(last, -1, -1)
    )


def _find_joined(node: _Plain, scattered: Sequence[tuple[int, ...]]) -> int:
    words = range(node.begin, node.end)
    return next((k for k, own in enumerate(scattered) if set(own).issuperset(words)), -1)


def _wholes(pairs: Sequence[int], parents: Sequence[int], is_other: Sequence[bool]) -> list[int]:
    """For nodes that are neither aligned nor otherwise explained, nor any node below: the pair of the nearest above."""
    has_pair = [pair >= 0 or other for pair, other in zip(pairs, is_other, strict=True)]
    for index in range(len(pairs) - 1, -1, -1):  # parents stand before children
        if has_pair[index] and parents[index] >= 0:
            has_pair[parents[index]] = True
    above: list[int] = []
    for pair, parent in zip(pairs, parents, strict=True):
        above.append(pair if pair >= 0 or parent < 0 else above[parent])
    return [-1 if has else pair for has, pair in zip(has_pair, above, strict=True)]
