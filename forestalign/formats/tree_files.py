"""Penn brackets in files: plain lists of trees, and n-best lists with log probabilities.

An n-best list has lines `index<TAB>log probability<TAB>tree`; lines of one sentence stand together and share its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from forestalign.errors import InputError, counted
from forestalign.forest import Forest, pack
from forestalign.formats.fields import shorten
from forestalign.formats.lines import read_text_lines
from forestalign.tokens import Sentence, analyse, plain_form
from forestalign.trees import BracketError, ScoredTree, Tree, format_brackets, parse_brackets, postorder, unescaped

# Penn files write quotes and brackets in ways that the raw text does not; a word may differ from its token in these.
_SAME_CHARACTERS = str.maketrans({"`": "'"})
_SAME_WORDS = {"''": '"'}


class NumberedTree(NamedTuple):
    """A tree and the line it starts on."""

    line: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class NBest:
    """The n-best trees of one sentence, in the order of the file; `line` is that of the first."""

    line: int
    index: int
    trees: tuple[ScoredTree, ...]


def read_trees(path: str | Path) -> Iterator[NumberedTree]:
    """The trees of a file, each on one line, or over several of which the further ones are indented."""
    pending: list[str] = []
    depth = start = 0
    for number, text in read_text_lines(path):
        if pending and text.startswith("("):
            missing = counted(depth, "closing bracket")
            raise InputError(path, start, f"{missing} missing before the next tree, on line {number}")
        if not text.strip():
            continue
        start = start if pending else number
        pending.append(text)
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            yield NumberedTree(start, _parse(path, start, "\n".join(pending)))
            pending, depth = [], 0
    if pending:
        yield NumberedTree(start, _parse(path, start, "\n".join(pending)))


def read_nbest(path: str | Path) -> Iterator[NBest]:
    """The sentences of an n-best list; the words of their trees must agree."""
    rows = (_nbest_row(path, number, text) for number, text in read_text_lines(path) if text.strip())
    for index, group in groupby(rows, key=lambda row: row.index):
        listed = list(group)
        words = [leaf.word for leaf in listed[0].scored.tree.leaves()]
        for row in listed:
            _check(path, row.line, row.scored.tree, [word for word in words if word is not None])
        yield NBest(listed[0].line, index, tuple(row.scored for row in listed))


def format_nbest(index: int, trees: Iterable[ScoredTree]) -> Iterator[str]:
    """The lines of one sentence."""
    for scored in trees:
        yield f"{index}\t{float(scored.log_prob)!r}\t{format_brackets(scored.tree)}"


def fit_tree(tree: Tree, sentence: Sentence) -> Tree:
    """The tree with the words as they stand in the sentence; ValueError names the first word that differs."""
    leaves = list(tree.leaves())
    if tuple([leaf.word for leaf in leaves]) == sentence.words:
        return tree
    for index, (leaf, word) in enumerate(zip(leaves, sentence.words, strict=False)):
        if _plain(str(leaf.word)) != _plain(word):
            raise ValueError(f"word {index} of the tree is {leaf.word!r}; expected {word!r} as in the sentence")
    if len(leaves) != len(sentence):
        raise ValueError(f"the tree has {counted(len(leaves), 'word')}; expected {len(sentence)} as in the sentence")
    return _with_words(tree, sentence.words)


def sentence_of(tree: Tree) -> Sentence:
    """The words of a tree as a sentence of their own, with its tags and the lemmas that follow."""
    leaves = list(tree.leaves())
    return analyse(Sentence.from_words([str(leaf.word) for leaf in leaves]), [leaf.label for leaf in leaves])


def forest_of(trees: Sequence[ScoredTree], sentence: Sentence | None = None) -> Forest:
    """Pack an n-best list, over a sentence if there is one, else over the words and tags of its first tree."""
    over = sentence if sentence is not None else sentence_of(trees[0].tree)
    return pack([ScoredTree(fit_tree(scored.tree, over), scored.log_prob) for scored in trees], over)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    index: int
    scored: ScoredTree


def _nbest_row(path: str | Path, number: int, text: str) -> _Row:
    columns = text.split("\t")
    if len(columns) != 3:
        expectation = "expected 3: index, log probability, tree"
        raise InputError(path, number, f"{counted(len(columns), 'column')} in {shorten(text)}; {expectation}")
    try:
        index, log_prob = int(columns[0]), float(columns[1])
    except ValueError:
        found = shorten("\t".join(columns[:2]))
        raise InputError(path, number, f"found {found}; expected a whole number and a log probability") from None
    return _Row(number, index, ScoredTree(_parse(path, number, columns[2]), log_prob))


def _parse(path: str | Path, line: int, text: str) -> Tree:
    try:
        return parse_brackets(text)
    except BracketError as error:
        raise InputError(path, line, f"{error}, in {shorten(text)}") from error


def _check(path: str | Path, line: int, tree: Tree, words: Sequence[str]) -> None:
    try:
        fit_tree(tree, Sentence.from_words(words))
    except ValueError as error:
        raise InputError(path, line, str(error)) from error


def _plain(word: str) -> str:
    plain = plain_form(unescaped(word)).translate(_SAME_CHARACTERS)
    return _SAME_WORDS.get(plain, plain)


def _with_words(tree: Tree, words: Sequence[str]) -> Tree:
    rebuilt: list[Tree] = []
    for node in postorder(tree):
        if node.word is not None:
            rebuilt.append(replace(node, word=words[node.begin]))
        else:
            children = tuple(rebuilt[-len(node.children) :])
            del rebuilt[-len(node.children) :]
            rebuilt.append(replace(node, children=children))
    return rebuilt[0]
