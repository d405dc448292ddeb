"""One report for each kind of evaluation: read gold and systems, score, compare, and say what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.errors import UsageError, counted
from forestalign.evaluation import (
    Evaluation,
    GoldKind,
    KindChange,
    Match,
    attachment_kinds,
    compare_attachments,
    score_attachments,
    score_paraphrases,
    score_parses,
    score_ranking,
    score_similarity,
    score_words,
    tune_threshold,
)
from forestalign.evaluation.answer_files import read_word_gold, read_word_output
from forestalign.evaluation.chunk_outputs import BASELINE, chunk_baseline, read_chunk_gold, read_chunk_output
from forestalign.evaluation.chunk_scores import score_chunks
from forestalign.evaluation.parse_files import ParsedFile, check_parses, read_parses
from forestalign.evaluation.phrase_report import Rows, TreeFiles, evaluate_phrases, evaluate_projected
from forestalign.evaluation.report import Report, measured, signature
from forestalign.evaluation.sentence_files import read_sentence_gold, read_sentence_scores
from forestalign.evaluation.significance import SAMPLES


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
        self,
        label: str,
        evaluations: Sequence[Evaluation],
        rows: Rows = (),
        changes: tuple[KindChange, ...] = (),
    ) -> Report:
        """Scores with intervals, the systems compared."""
        named = list(zip(self.names, evaluations, strict=True))
        if not named and not rows:
            raise UsageError("no system, and not enough annotators for a human row; expected a SYSTEM")
        return measured(label, named, np.random.default_rng(self.seed), self.samples, rows, changes)


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
