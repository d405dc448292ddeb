"""One report for each kind of evaluation: read gold and systems, score, compare, and say what was measured.

Scores as a table or as JSON, each with the signature that says what was measured, with what, and how.

The rows of a table of phrase scores: systems, the human row, and the `project` baseline.

The baseline starts from the word links of the first system's records, so that it shows what the search adds to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import AnnotationError, NoParseError, UsageError, counted
from forestalign.evaluation.answer_files import (
    ParsedFile,
    PhraseGold,
    PhraseOutput,
    check_parses,
    check_phrase_output,
    read_parses,
    read_phrase_gold,
    read_phrase_output,
    read_word_gold,
    read_word_output,
)
from forestalign.evaluation.chunk_scores import (
    BASELINE,
    chunk_baseline,
    read_chunk_gold,
    read_chunk_output,
    score_chunks,
)
from forestalign.evaluation.parse_scores import (
    KindChange,
    attachment_kinds,
    compare_attachments,
    score_attachments,
    score_parses,
)
from forestalign.evaluation.phrase_scores import (
    Match,
    NodePair,
    PhraseSet,
    answer_over_trees,
    one_tree_forest,
    phrase_node,
    phrase_set,
    score_humans,
    score_phrases,
    score_reachability,
)
from forestalign.evaluation.projection import (
    GoldKind,
    SpanPair,
    choose_annotators,
    project,
    project_spans,
    projected_gold,
    score_annotators,
    score_projected,
)
from forestalign.evaluation.scores import SAMPLES, Comparison, Evaluation, Interval, Score, bootstrap, combine, compare
from forestalign.evaluation.sentence_scores import (
    read_sentence_gold,
    read_sentence_scores,
    score_paraphrases,
    score_ranking,
    score_similarity,
    tune_threshold,
)
from forestalign.evaluation.word_scores import score_words
from forestalign.formats.tree_files import fit_tree, read_trees
from forestalign.formats.word_links import read_gold_links
from forestalign.grammar import grammar_hash, program_version
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree

_HASH_LENGTH = 12
_UNSCALED = frozenset({"Pearson r", "MAP", "MRR"})  # not given in per cent


@dataclass(frozen=True, slots=True)
class Column:
    """One system, annotator or baseline; `intervals` are empty where there are none."""

    name: str
    scores: tuple[Score, ...]
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one evaluation prints."""

    signature: str
    columns: tuple[Column, ...]
    comparisons: tuple[Comparison, ...] = ()
    changes: tuple[KindChange, ...] = ()


def signature(settings: Mapping[str, object], data: str | Path) -> str:
    """Version, grammar, settings that differ from the defaults, data."""
    changed = " ".join(f"{name}={value}" for name, value in settings.items()) or "defaults"
    return f"forestalign {program_version()} | grammar {grammar_hash()} | {changed} | data {data_hash(data)}"


def data_hash(path: str | Path) -> str:
    """Of the bytes of a file, or of all files of a folder in the order of their names."""
    place = Path(path)
    if str(path) == "-":
        return "stdin"
    digest = hashlib.sha256()
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:_HASH_LENGTH]


def measure(
    label: str,
    systems: Sequence[tuple[str, Evaluation]],
    generator: np.random.Generator,
    samples: int,
    rows: Sequence[tuple[str, Evaluation]] = (),
    changes: tuple[KindChange, ...] = (),
) -> Report:
    """Scores with bootstrap intervals; two systems are compared; `rows` (human, baseline) are not."""
    columns = [
        Column(name, evaluation.scores(), bootstrap(evaluation, generator, samples)) for name, evaluation in systems
    ]
    columns += [Column(name, evaluation.scores()) for name, evaluation in rows]
    comparisons = compare(systems[0][1], systems[1][1], generator, samples) if len(systems) == 2 else ()
    return Report(label, tuple(columns), comparisons, changes)


def as_json(report: Report) -> str:
    """The whole report as one JSON object."""
    fields = asdict(report)
    for comparison, each in zip(fields["comparisons"], report.comparisons, strict=True):
        comparison["difference"] = each.difference
    return json.dumps(fields, ensure_ascii=False)


def as_text(report: Report) -> str:
    """A row for each score, a column for each system, then differences; the signature last."""
    names = [score.name for score in report.columns[0].scores]
    rows = [["", *(column.name for column in report.columns)]]
    rows += [[name, *(_cell(column, name) for column in report.columns)] for name in names]
    if report.comparisons:
        rows[0] += ["difference", "p"]
        for row, comparison in zip(rows[1:], report.comparisons, strict=True):
            row += [_number(comparison.name, comparison.difference, "+"), f"{comparison.p_value:.4f}"]
    lines = _align_columns(rows)
    if report.changes:
        lines += ["", "attachments changed from the first to the second", *_align_columns(_change_rows(report.changes))]
    return "\n".join([*lines, "", report.signature])


def _cell(column: Column, name: str) -> str:
    at = next((index for index, score in enumerate(column.scores) if score.name == name), None)
    if at is None:
        return "-"
    value = _number(name, column.scores[at].value)
    if not column.intervals:
        return value
    interval = column.intervals[at]
    return f"{value} [{_number(name, interval.low)}, {_number(name, interval.high)}]"


def _number(name: str, value: float, sign: str = "") -> str:
    return format(value, f"{sign}.4f") if name in _UNSCALED else format(100 * value, f"{sign}.2f")


def _change_rows(changes: Sequence[KindChange]) -> list[list[str]]:
    rows = [["", "words", "better", "worse"]]
    rows += [[change.kind, str(change.word_count), str(change.better), str(change.worse)] for change in changes]
    total = [
        sum(numbers) for numbers in zip(*((each.word_count, each.better, each.worse) for each in changes), strict=True)
    ]
    return [*rows, ["all", *map(str, total)]]


def _align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


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
    pairs = list(read_gold_links(gold_path))
    links = [choose_annotators(gold_path, pair, annotators) for pair in pairs]
    known = [PhraseGold(pair.id, each[0].source, each[0].target, ()) for pair, each in zip(pairs, links, strict=True)]
    outputs = [_read_output(path, known, Match.SPAN) for path in system_paths]
    parsed = read_or_parse([(pair.source, pair.target) for pair in known], trees)
    gold = projected_gold(links, parsed, kind)
    evaluations = [score_projected([_span_sets(output)] * len(gold), gold) for output in outputs]
    rows = [("human", score_annotators(gold))] if len(gold) == 2 else []
    if baseline and outputs:
        found = [
            project_spans(one_tree_forest(source), one_tree_forest(target), pair.words)
            for pair, (source, target) in zip(outputs[0], parsed, strict=True)
        ]
        rows.append(("project", score_projected([found] * len(gold), gold)))
    return evaluations, rows


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


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is measured: a gold standard, one system or two, and how the significance tests draw."""

    kind: str
    gold: str
    systems: tuple[str, ...]
    samples: int = SAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.systems) > 2:
            raise UsageError(f"{counted(len(self.systems), 'system')}; expected one, or two to compare")

    @property
    def names(self) -> list[str]:
        """File names of the systems; whole paths where these are the same."""
        names = [Path(path).name for path in self.systems]
        return names if len(set(names)) == len(names) else list(self.systems)

    def label(self, **settings: object) -> str:
        """The signature; settings at their defaults (empty, false) are left out."""
        common = {"B": self.samples if self.samples != SAMPLES else "", "seed": self.seed or ""}
        chosen = {name: value for name, value in (settings | common).items() if value}
        return signature({"kind": self.kind} | chosen, self.gold)

    def report(
        self, label: str, evaluations: Sequence[Evaluation], rows: Rows = (), changes: tuple[KindChange, ...] = ()
    ) -> Report:
        """Scores with intervals, the systems compared."""
        named = list(zip(self.names, evaluations, strict=True))
        if not named and not rows:
            raise UsageError("no system, and not enough annotators for a human row; expected a SYSTEM")
        return measure(label, named, np.random.default_rng(self.seed), self.samples, rows, changes)


def report_words(what: Measurement, annotator: str = "", possible: bool = False) -> Report:
    """Word links: P, R, F1, E, AER."""
    gold = read_word_gold(what.gold, annotator)
    outputs = [read_word_output(path, gold) for path in what.systems]
    label = what.label(annotator=annotator, possible=possible)
    return what.report(label, [score_words(gold, output, possible) for output in outputs])


def report_phrases(
    what: Measurement, match: Match = Match.SPAN, trees: TreeFiles | None = None, baseline: bool = True
) -> Report:
    """Phrase pairs against annotated phrases, with the human row and the `project` baseline."""
    label = what.label(match="" if match is Match.SPAN else match.value, trees=bool(trees))
    return what.report(label, *evaluate_phrases(what.gold, what.systems, match, trees, baseline))


def report_projected(
    what: Measurement,
    annotators: Sequence[str] = (),
    trees: TreeFiles | None = None,
    baseline: bool = True,
    kind: GoldKind = GoldKind.FAIR,
) -> Report:
    """Phrase pairs against phrase gold made of human word links."""
    label = what.label(project=True, annotators="+".join(annotators), trees=bool(trees), possible=kind is GoldKind.ALL)
    return what.report(label, *evaluate_projected(what.gold, what.systems, annotators, trees, baseline, kind))


def report_chunks(what: Measurement, baseline: bool = True) -> Report:
    """Aligned chunks: F1 of alignment, type, score, and type with score, beside the baseline of the task."""
    gold = read_chunk_gold(what.gold)
    evaluations = [score_chunks(gold, read_chunk_output(path, gold)) for path in what.systems]
    rows = [(BASELINE, score_chunks(gold, [chunk_baseline(pair) for pair in gold]))] if baseline else []
    return what.report(what.label(), evaluations, rows)


def report_parses(what: Measurement) -> Report:
    """Trees or dependencies: brackets, tags, UAS, LAS; for two systems also which attachments changed."""
    gold = read_parses(what.gold)
    systems = [check_parses(gold, read_parses(path)) for path in what.systems]
    if gold.trees:
        evaluations = [
            score_parses(gold.trees, system.trees, gold.attachments, system.attachments) for system in systems
        ]
    else:
        evaluations = [score_attachments(gold.attachments, system.attachments) for system in systems]
    return what.report(what.label(), evaluations, changes=_changes(gold, systems))


def _changes(gold: ParsedFile, systems: Sequence[ParsedFile]) -> tuple[KindChange, ...]:
    if len(systems) < 2:
        return ()
    if gold.trees:
        kinds = [attachment_kinds(tree, found.heads) for tree, found in zip(gold.trees, gold.attachments, strict=True)]
    else:
        kinds = [found.relations for found in gold.attachments]
    return compare_attachments(gold.attachments, systems[0].attachments, systems[1].attachments, kinds)


def report_scores(what: Measurement, train: Sequence[str] = ()) -> Report:
    """One number per pair: Pearson, MAP and MRR, or accuracy and F1 of paraphrases, by what the gold has.

    `train` is the gold and the scores that the threshold of paraphrases is tuned on.
    """
    gold = read_sentence_gold(what.gold)
    outputs = [read_sentence_scores(path, len(gold)) for path in what.systems]
    if gold.similarities:
        return what.report(what.label(), [score_similarity(gold.similarities, output) for output in outputs])
    if gold.answers:
        return what.report(what.label(), [score_ranking(gold.answers, output) for output in outputs])
    thresholds = _thresholds(train, len(outputs))
    label = what.label(thresholds=",".join(f"{threshold:.4g}" for threshold in thresholds))
    pairs = zip(outputs, thresholds, strict=True)
    return what.report(label, [score_paraphrases(gold.paraphrases, output, threshold) for output, threshold in pairs])


def _thresholds(train: Sequence[str], count: int) -> list[float]:
    """Tuned on the training pairs; without these there is nothing to tune on, since GOLD would be the test set."""
    if len(train) != 1 + count:
        raise UsageError(f"paraphrases need --train GOLD and {counted(count, 'file')} of scores, for the threshold")
    gold = read_sentence_gold(train[0])
    return [tune_threshold(gold.paraphrases, read_sentence_scores(path, len(gold))) for path in train[1:]]
