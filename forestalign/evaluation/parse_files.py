"""Files of parses as the metrics take them: Penn brackets, or dependencies in CoNLL-X or CoNLL-U."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from forestalign.dependencies import unlabelled_heads
from forestalign.errors import AnnotationError, counted
from forestalign.evaluation.answer_files import check_tokens
from forestalign.evaluation.parse_scores import Attachments
from forestalign.formats.conll import read_conll
from forestalign.formats.lines import read_text_lines
from forestalign.formats.tree_files import fit_tree, read_trees
from forestalign.tokens import Sentence
from forestalign.trees import Tree, strip_annotation


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The sentences of a file; `trees` is empty where it holds dependencies only."""

    path: str
    trees: tuple[Tree, ...]
    attachments: tuple[Attachments, ...]


def read_parses(path: str | Path) -> ParsedFile:
    """Trees lose function labels and traces, and get heads by rule; dependencies stay as they are."""
    if _starts_with_bracket(path):
        trees = tuple(strip_annotation(numbered.tree) for numbered in read_trees(path))
        return ParsedFile(str(path), trees, tuple(_attachments(tree) for tree in trees))
    records = read_conll(path)
    return ParsedFile(
        str(path),
        (),
        tuple(
            Attachments(record.sentence.words, record.dependencies.heads, record.dependencies.relations)
            for record in records
        ),
    )


def _starts_with_bracket(path: str | Path) -> bool:
    return next((text.lstrip().startswith("(") for _, text in read_text_lines(path) if text.strip()), True)


def _attachments(tree: Tree) -> Attachments:
    return Attachments(tuple(str(leaf.word) for leaf in tree.leaves()), unlabelled_heads(tree))


def check_parses(gold: ParsedFile, system: ParsedFile) -> ParsedFile:
    """The system with its words as in the gold standard; AnnotationError names the first sentence that differs."""
    if bool(gold.trees) != bool(system.trees):
        kinds = ["trees" if file.trees else "dependencies" for file in (gold, system)]
        raise AnnotationError(system.path, None, f"the file holds {kinds[1]}; expected {kinds[0]} as in {gold.path}")
    trees = []
    for number, (wanted, found) in enumerate(zip_longest(gold.attachments, system.attachments), start=1):
        if wanted is None or found is None:
            counts = (
                f"{counted(len(system.attachments), 'sentence')}; expected {len(gold.attachments)} as in {gold.path}"
            )
            raise AnnotationError(system.path, None, f"{counts}, first without a partner: sentence {number}")
        try:
            if system.trees:
                trees.append(fit_tree(system.trees[number - 1], Sentence.from_words(wanted.words)))
            else:
                check_tokens("system", wanted.words, found.words)
        except ValueError as error:
            raise AnnotationError(system.path, None, f"sentence {number}: {error}") from error
    return ParsedFile(system.path, tuple(trees), system.attachments)
