"""The rows of a table of phrase scores: systems, the human row, and the `project` baseline.

The baseline starts from the word links of the first system's records, so that it shows what the search adds to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import AnnotationError, NoParseError, UsageError
from forestalign.evaluation import (
    Evaluation,
    GoldKind,
    Match,
    PhraseSet,
    ProjectedGold,
    combine,
    gold_of,
    phrase_set,
    project,
    project_spans,
    score_annotators,
    score_humans,
    score_phrases,
    score_projected,
)
from forestalign.evaluation.answer_files import (
    PhraseGold,
    PhraseOutput,
    check_phrase_output,
    read_phrase_gold,
    read_phrase_output,
)
from forestalign.evaluation.phrase_scores import (
    NodePair,
    answer_over_trees,
    one_tree_forest,
    phrase_node,
    score_reachability,
)
from forestalign.evaluation.projection import SpanPair
from forestalign.formats.tree_files import fit_tree, read_trees
from forestalign.formats.word_links import GoldPair, LinkAnnotation, read_gold_links
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree

Rows = Sequence[tuple[str, Evaluation]]
TreeFiles = tuple[str, str]  # source and target, one tree per line


def evaluate_phrases(
    gold_path: str, system_paths: Sequence[str], match: Match, trees: TreeFiles | None, baseline: bool
) -> tuple[list[Evaluation], Rows]:
    """Systems against annotated phrases; the human row where there are three annotators."""
    if match is Match.NODE and system_paths and Path(gold_path).is_dir():
        raise UsageError("SPADE nodes have ids that phrase records do not know; match by span or by text")
    gold = read_phrase_gold(gold_path)
    outputs = [_read_output(path, gold, match) for path in system_paths]
    annotators = _by_annotator(gold_path, gold, match)
    evaluations = [
        combine(
            [
                score_phrases([phrase_set(pair.answer, match) for pair in output], annotators),
                score_reachability([pair.root for pair in output]),
            ]
        )
        for output in outputs
    ]
    rows = [("human", score_humans(annotators))] if len(annotators) == 3 else []
    if baseline and outputs:
        rows.append(("project", score_phrases(_baseline_sets(outputs[0], trees, match), annotators)))
    return evaluations, rows


def _read_output(path: str, gold: Sequence[PhraseGold], match: Match) -> list[PhraseOutput]:
    output = read_phrase_output(path, spans_only=match is Match.SPAN)
    check_phrase_output(path, gold, output, same_tokens=match is not Match.TEXT)
    return output


def _by_annotator(path: str, gold: Sequence[PhraseGold], match: Match) -> list[list[PhraseSet]]:
    counts = {len(pair.answers) for pair in gold}
    if len(counts) != 1:
        odd = next((pair for pair in gold if len(pair.answers) != len(gold[0].answers)), None)
        where = f"pair {odd.id!r} has another number of annotators than the first" if odd else "there are no pairs"
        raise AnnotationError(path, None, f"{where}; expected the same annotators for every pair")
    return [[phrase_set(pair.answers[index], match) for pair in gold] for index in range(counts.pop())]


def _baseline_sets(output: Sequence[PhraseOutput], trees: TreeFiles | None, match: Match) -> list[PhraseSet]:
    words = [(pair.answer.source, pair.answer.target) for pair in output]
    sets = []
    for pair, (source, target) in zip(output, read_or_parse(words, trees), strict=True):
        left, right = one_tree_forest(source), one_tree_forest(target)
        found = [
            NodePair(phrase_node(left.nodes[i]), phrase_node(right.nodes[j]))
            for i, j in project(left, right, pair.words)
        ]
        sets.append(phrase_set(answer_over_trees(left, right, found), match))
    return sets


def evaluate_projected(
    gold_path: str,
    system_paths: Sequence[str],
    annotators: Sequence[str],
    trees: TreeFiles | None,
    baseline: bool,
    kind: GoldKind = GoldKind.FAIR,
) -> tuple[list[Evaluation], Rows]:
    """Systems against phrase gold made from word links; the human row where there are two annotators."""
    links = [_chosen_links(gold_path, pair, annotators) for pair in read_gold_links(gold_path)]
    known = [PhraseGold(number, each[0].source, each[0].target, ()) for number, each in links]
    outputs = [_read_output(path, known, Match.SPAN) for path in system_paths]
    parsed = read_or_parse([(pair.source, pair.target) for pair in known], trees)
    gold = projected_gold([each for _, each in links], parsed, kind)
    evaluations = [score_projected([_span_sets(output)] * len(gold), gold) for output in outputs]
    rows = [("human", score_annotators(gold))] if len(gold) == 2 else []
    if baseline and outputs:
        found = [
            project_spans(one_tree_forest(source), one_tree_forest(target), pair.words)
            for pair, (source, target) in zip(outputs[0], parsed, strict=True)
        ]
        rows.append(("project", score_projected([found] * len(gold), gold)))
    return evaluations, rows


def _chosen_links(path: str, pair: GoldPair, annotators: Sequence[str]) -> tuple[str, tuple[LinkAnnotation, ...]]:
    try:
        chosen = tuple(pair.by(name) for name in annotators) or (pair.gold,)
    except ValueError as error:
        raise AnnotationError(path, None, str(error)) from error
    if len({(each.source, each.target) for each in chosen}) != 1:
        raise AnnotationError(path, None, f"pair {pair.id!r}: the annotators have different tokens; expected the same")
    return pair.id, chosen


def projected_gold(
    links: Sequence[Sequence[LinkAnnotation]], trees: Sequence[tuple[Tree, Tree]], kind: GoldKind = GoldKind.FAIR
) -> list[list[ProjectedGold]]:
    """The phrase gold of each annotator, pair by pair."""
    count = len(links[0]) if links else 1
    return [
        [gold_of(source, target, each[index], kind) for each, (source, target) in zip(links, trees, strict=True)]
        for index in range(count)
    ]


def _span_sets(output: Sequence[PhraseOutput]) -> list[frozenset[SpanPair]]:
    return [
        frozenset(
            (Span(left.begin, left.end), Span(right.begin, right.end))
            for left, right in pair.answer.pairs
            if left is not None and right is not None
        )
        for pair in output
    ]


Words = tuple[str, ...]


def read_or_parse(pairs: Sequence[tuple[Words, Words]], files: TreeFiles | None) -> list[tuple[Tree, Tree]]:
    """The 1-best trees of both sides: from files, or from the default parser."""
    sides = [[Sentence.from_words(pair[side]) for pair in pairs] for side in (0, 1)]
    if files is not None:
        source, target = (_read_trees(path, sentences) for path, sentences in zip(files, sides, strict=True))
    else:
        from forestalign.parsers import load_parser  # with its compiled kernels, a second to import

        parser = load_parser(DEFAULT_CONFIG.replace(nbest=1))
        parses = parser.parse([*sides[0], *sides[1]])
        failed = next((parse for parse in parses if parse.error), None)
        if failed is not None:
            raise NoParseError(f"{failed.sentence.text!r}: {failed.error}")
        trees = [parse.trees[0].tree for parse in parses]
        source, target = trees[: len(pairs)], trees[len(pairs) :]
    return list(zip(source, target, strict=True))


def _read_trees(path: str, sentences: Sequence[Sentence]) -> list[Tree]:
    trees = []
    for number, (numbered, sentence) in enumerate(zip_longest(read_trees(path), sentences), start=1):
        if numbered is None or sentence is None:
            raise UsageError(f"{path} has not as many trees as there are pairs, {len(sentences)}; see pair {number}")
        try:
            trees.append(fit_tree(numbered.tree, sentence))
        except ValueError as error:
            raise AnnotationError(path, numbered.line, f"pair {number}: {error}") from error
    return trees
