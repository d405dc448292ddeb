"""What forests are worth: alignment over the parser's 1-best trees against alignment over forests.

    python scripts/make_pairs.py ewt.train.mrg.gz -o pairs.jsonl
    python scripts/score_forests.py annotations/dev.jsonl pairs.jsonl msr-rte2.dev.jsonl.gz:A,C \\
        edinburgh.train.jsonl.gz mtref.dev.jsonl.gz --cache CACHE --set scoring=best

A file holds annotated pairs with gold trees, or human word links from which phrase gold is projected (F1 only). For
each file: F1; with gold trees also UAS, where `1-best` is the parser's best tree and `forests` the parse that the
alignment chose, UAS by phenomenon, and the attachments that the choice changed, by kind. At the end the means of F1
and of UAS over the files. p-values are of approximate randomisation over pairs of sentences, and those by phenomenon
are not corrected for their number. Parses and word links come from the cache folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from forestalign.batch import Processes, Worker, Workers
from forestalign.cli.align_options import add_settings, config_of
from forestalign.config import AlignConfig
from forestalign.errors import counted
from forestalign.evaluation import (
    Attachments,
    Evaluation,
    KindChange,
    attachment_kinds,
    compare,
    compare_attachments,
)
from forestalign.evaluation.annotated_pairs import AnnotatedPair
from forestalign.evaluation.annotation_files import read_annotations
from forestalign.evaluation.counts import picked, union
from forestalign.evaluation.development import AnnotatedSet, Answer, DevelopmentSet, read_development
from forestalign.evaluation.development_answers import DevelopmentWorker, align_development, best_trees, prepared_pairs
from forestalign.evaluation.report import as_text, measured, signature
from forestalign.evaluation.significance import SAMPLES
from forestalign.pair_cache import cache_folder

SYSTEMS = ("1-best", "forests")
SHOWN = ("F1", "several links F1", "UAS")
FEWEST_PAIRS = 10  # of a phenomenon that gets a row of its own


@dataclass(frozen=True, slots=True)
class Answers:
    """One file with the answers over 1-best trees and over forests; `annotated` is empty for word links."""

    path: str
    gold: DevelopmentSet
    annotated: tuple[AnnotatedPair, ...]
    one_best: list[Answer]
    forests: list[Answer]

    def evaluations(self) -> tuple[Evaluation, Evaluation]:
        """Both systems, scored."""
        return self.gold.evaluate(self.one_best), self.gold.evaluate(self.forests)


def main() -> int:
    args = _arguments()
    config = config_of(args)
    scored = []
    with Processes(args.jobs) as workers:
        for gold in args.gold:
            answers = _answers(gold, config, args, workers)
            scored.append(answers.evaluations())
            print(_table(answers, scored[-1], config, args), end="\n\n", flush=True)
    if len(scored) > 1:
        print(_summary(scored, args))
    return 0


def _answers(gold: str, config: AlignConfig, args: argparse.Namespace, workers: Workers) -> Answers:
    path, _, names = gold.partition(":")
    folder, worker = Path(args.cache), Worker(DevelopmentWorker)
    development = read_development(
        path,
        lambda records: best_trees(prepared_pairs(records, folder, config.replace(mutual=False), workers)),
        names.split(",") if names else (),
        args.limit,
    )
    is_annotated = isinstance(development, AnnotatedSet)
    annotated = tuple(islice(read_annotations(path), args.limit or None)) if is_annotated else ()
    one_best, forests = (
        align_development(worker, prepared_pairs(development.records, folder, each, workers), each, workers)
        for each in (config.replace(one_best=True, mutual=False), config)
    )
    return Answers(path, development, annotated, one_best, forests)


def _table(answers: Answers, evaluations: Sequence[Evaluation], config: AlignConfig, args: argparse.Namespace) -> str:
    what = {"set": answers.gold.name, "pairs": len(answers.gold.records), "scoring": config.scoring}
    label = signature(what | config.differences(), answers.path)
    systems = list(zip(SYSTEMS, (picked(each, SHOWN) for each in evaluations), strict=True))
    report = measured(
        label, systems, np.random.default_rng(args.seed), args.samples, changes=attachment_changes(answers)
    )
    return "\n".join([as_text(report), *_phenomena(answers.annotated, evaluations, args)])


def attachment_changes(answers: Answers) -> tuple[KindChange, ...]:
    """What the choice of parses changed, by kind of attachment; nothing where there are no gold trees."""
    if not isinstance(answers.gold, AnnotatedSet):
        return ()
    gold = list(chain.from_iterable(answers.gold.gold))
    trees = [side.tree for pair in answers.annotated for side in (pair.source, pair.target)]
    kinds = [attachment_kinds(tree, found.heads) for tree, found in zip(trees, gold, strict=True)]
    first, second = (_attachments(gold, found) for found in (answers.one_best, answers.forests))
    return compare_attachments(gold, first, second, kinds)


def _attachments(gold: Sequence[Attachments], answers: Iterable[Answer]) -> list[Attachments]:
    heads = chain.from_iterable((answer.source_heads, answer.target_heads) for answer in answers)
    return [Attachments(wanted.words, found) for wanted, found in zip(gold, heads, strict=True)]


def _phenomena(
    pairs: Sequence[AnnotatedPair], evaluations: Sequence[Evaluation], args: argparse.Namespace
) -> list[str]:
    """UAS of the pairs with each phenomenon that enough pairs have."""
    lines = []
    for name in sorted({name for pair in pairs for name in pair.phenomena}):
        rows = [number for number, pair in enumerate(pairs) if name in pair.phenomena]
        if len(rows) >= FEWEST_PAIRS:
            chosen = [replace(picked(each, ["UAS"]), counts=each.counts[rows]) for each in evaluations]
            lines.append(f"{name:20} {len(rows):5} pairs  {_difference(chosen[0], chosen[1], args)}")
    return ["", *lines] if lines else []


def _difference(first: Evaluation, second: Evaluation, args: argparse.Namespace) -> str:
    found = compare(first, second, np.random.default_rng(args.seed), args.samples)
    return "  ".join(
        f"{each.name} {100 * each.first:.2f} -> {100 * each.second:.2f} "
        f"({100 * each.difference:+.2f}, p {each.p_value:.4f})"
        for each in found
    )


def _summary(scored: Sequence[tuple[Evaluation, Evaluation]], args: argparse.Namespace) -> str:
    """All files together: the mean of F1 over the files, and of UAS over those with gold trees."""
    lines = []
    for name, files in (("F1", scored), ("UAS", [each for each in scored if "UAS" in each[0].names])):
        if files:
            first, second = (union([picked(each[k], [name]) for each in files]) for k in (0, 1))
            sizes = f"{counted(len(files), 'file')}, {counted(len(first), 'pair')}"
            lines.append(f"{sizes}, mean of {_difference(first, second, args)}")
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="+", metavar="GOLD[:ANNOTATORS]", help="annotated pairs, or word links")
    parser.add_argument("--cache", default=str(cache_folder()), metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the significance tests")
    add_settings(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
