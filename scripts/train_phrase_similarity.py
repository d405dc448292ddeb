"""Learn the similarity of phrases from human gold, and say how good its probabilities are on pairs kept back.

    python scripts/train_phrase_similarity.py STSint.input.headlines.wa mtref.train.jsonl.gz edinburgh.train.jsonl.gz \\
        msr-rte2.dev.jsonl.gz --most 400 --folds 5 -o grammar/phrase_similarity.json

A file holds aligned chunks (`.wa`) or word links; chunks that are neither opposites nor merely related, and connected
groups of sure and possible links, are the blocks that phrases are judged by. Every source is also paired with the
target of the next pair, where everything is wrong. With --folds N: precision, recall and calibration of the candidates.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from forestalign.aligner import Aligner
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import NoParseError
from forestalign.evaluation.answer_files import read_word_gold
from forestalign.evaluation.word_scores import blocks
from forestalign.formats.ists import read_ists
from forestalign.formats.lines import write_lines
from forestalign.learning.calibration import Point, calibration_error
from forestalign.learning.similarity_training import Block, SimilarityRows, similarity_rows, train_similarity
from forestalign.lexicon import load_phrases, load_vectors, load_wordnet
from forestalign.phrases.evidence.phrase_evidence import find_evidence
from forestalign.phrases.evidence.phrase_similarity import similarity_record
from forestalign.phrases.evidence.span_context import SpanLexicon, span_context

BATCH = 32
LEAST_SCORE = 3.0  # of chunks that count as partners
Item = tuple[tuple[str, ...], tuple[str, ...], tuple[Block, ...]]


def read_items(path: Path) -> Iterator[Item]:
    if path.suffix == ".wa":
        for row in read_ists(path):
            kept = [pair for pair in row.pairs if pair.source and pair.target]
            good = [p for p in kept if not p.relation.startswith(("OPPO", "REL")) and (p.score or 0) >= LEAST_SCORE]
            yield row.source, row.target, tuple((frozenset(p.source), frozenset(p.target)) for p in good)
        return
    for gold in read_word_gold(path):
        found = sorted((sorted(block.source), sorted(block.target)) for block in blocks(gold.all))
        yield gold.source, gold.target, tuple((frozenset(left), frozenset(right)) for left, right in found)


def rows_of(items: Sequence[Item], aligner: Aligner, generator: np.random.Generator) -> list[SimilarityRows]:
    """Candidates of all pairs, each with those of an unrelated pair beside it."""
    lexicon, phrases = SpanLexicon(load_wordnet(), load_vectors()), load_phrases()
    unrelated = [(item[0], items[(k + 1) % len(items)][1], ()) for k, item in enumerate(items)]
    found: list[SimilarityRows] = []
    both = [item for pair in zip(items, unrelated, strict=True) for item in pair]
    for begin in range(0, len(both), BATCH):
        part = both[begin : begin + BATCH]
        for item, pair in zip(part, aligner.prepare([("", s, t, None) for s, t, _ in part]), strict=True):
            if isinstance(pair, NoParseError):
                continue
            source, target = pair.source.sentence, pair.target.sentence
            evidence = find_evidence(source, target, phrases)
            context = span_context(source, target, pair.words, evidence, lexicon)
            found.append(similarity_rows(context, (pair.source, pair.target), item[2], generator))
    return found


def cross_validate(rows: Sequence[SimilarityRows], folds: int) -> None:
    points: list[Point] = []
    hits = given = asked = 0.0
    for fold in range(folds):
        model = train_similarity([row for k, row in enumerate(rows) if k // 2 % folds != fold])
        for k, row in enumerate(rows):
            if k // 2 % folds == fold and len(row.labels):
                p = model.probabilities(row.features)
                is_given = p >= model.threshold
                hits += float((row.labels * is_given).sum())
                given += float((row.weights * is_given).sum())
                asked += float(row.labels.sum())
                points += zip(p.tolist(), row.labels.tolist(), strict=True)
    print(f"candidates above {model.threshold}: precision {100 * hits / max(given, 1):.1f}, recall ", end="")
    print(f"{100 * hits / max(asked, 1):.1f} of {asked:.0f}; calibration error {calibration_error(points):.4f}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="+", type=Path, metavar="FILE")
    arguments.add_argument("--most", type=int, default=0, help="pairs of each file; 0: all")
    arguments.add_argument("--folds", type=int, default=0, metavar="N", help="cross-validate over N parts")
    arguments.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the weights of all pairs")
    args = arguments.parse_args()
    aligner, generator = Aligner(DEFAULT_CONFIG), np.random.default_rng(0)
    rows: list[SimilarityRows] = []
    for path in args.files:
        found = rows_of(list(islice(read_items(path), args.most or None)), aligner, generator)
        print(f"{path.name}: {sum(row.labels.sum() for row in found):.0f} right candidates", flush=True)
        rows += found
    if args.folds > 1:
        cross_validate(rows, args.folds)
    if args.output:
        write_lines(args.output, [json.dumps(similarity_record(train_similarity(rows)), indent=1)])


if __name__ == "__main__":
    main()
