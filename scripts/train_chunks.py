"""Learn the weights for aligning chunks from `.wa` gold, and say what they do on pairs that were kept back.

    python scripts/train_chunks.py STSint.input.headlines.wa STSint.input.images.wa STSint.input.answers-students.wa \\
        --folds 5 -o grammar/chunk_model.json

Beside FILE.wa the chunks are read from FILE.sent1.chunk.txt and FILE.sent2.chunk.txt (`[ a chunk ] [ another ]`, one
line per pair) where these exist: a line of a `.wa` file may join several chunks, which makes the task easier than it
is. With --folds N every pair is scored by a model of the other N - 1 parts of all files; the scores of the task,
and how far off the probabilities are (expected calibration error).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.chunk_aligner import ChunkAligner
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import NoParseError
from forestalign.evaluation.chunk_scores import score_chunks
from forestalign.evaluation.scores import Evaluation
from forestalign.formats.chunk_files import ChunkAlignment, ChunkedPair, chunk_alignment, chunks_of, read_ists
from forestalign.formats.lines import write_lines
from forestalign.learning.train_scores import Point, calibration_error
from forestalign.machine import with_one_thread
from forestalign.phrases.chunk_alignment import TYPES, ChunkModel, align_chunks, around_features, model_record
from forestalign.phrases.evidence.logistic import Scaled, Weighting, fit_logistic, minimise, softmax
from forestalign.phrases.evidence.span_pairs import (
    DIRECTED_PART,
    SYMMETRIC,
    SYMMETRIC_PART,
    SpanContext,
    Words,
    span_features,
)
from forestalign.tokens import Sentence, Span

BATCH = 32
Side = tuple[Span, ...]
Pairs = list[tuple[ChunkAlignment, ChunkedPair]]


# ---- what is learned from, and the fit: every example also counts with its sentences in each other's place ----


@with_one_thread
def fit_multinomial(
    features: FloatArray, labels: FloatArray, classes: int, ridge: float = 1.0, weights: FloatArray | None = None
) -> tuple[Weighting, ...]:
    """One weighted sum per class, of which the softmax is the probability; labels are class numbers."""
    scaled = Scaled.of(features)
    counts = np.ones(len(labels)) if weights is None else weights
    wanted = np.eye(classes)[labels.astype(np.int64)]
    shape = (classes, scaled.rows.shape[1])

    def loss(vector: FloatArray) -> tuple[float, FloatArray]:
        table = vector.reshape(shape)
        shares = softmax(scaled.rows @ table.T)
        value = -(counts @ np.log(np.maximum((shares * wanted).sum(axis=1), 1e-300)))
        slope = ((shares - wanted) * counts[:, None]).T @ scaled.rows
        slope[:, :-1] += ridge * table[:, :-1]
        return float(value + 0.5 * ridge * (table[:, :-1] ** 2).sum()), slope.ravel()

    table = minimise(loss, np.zeros(shape[0] * shape[1])).reshape(shape)
    return tuple(scaled.weigh(row) for row in table)


@with_one_thread
def fit_ridge(features: FloatArray, values: FloatArray, ridge: float = 1.0) -> Weighting:
    """Weights that give the values with the least squared error; `ridge` keeps all but the constant small."""
    scaled = Scaled.of(features)
    penalty = ridge * np.diag([1.0] * features.shape[1] + [0.0])
    solved = np.linalg.solve(scaled.rows.T @ scaled.rows + penalty, scaled.rows.T @ values)
    return scaled.weigh(solved.astype(np.float64))


THRESHOLD = 0.4  # five folds: .35 to .45 differ by less than .3 on each set
RIDGE = 1.0
TYPE_RIDGE = 3.0
MIRRORED = {"SPE1": "SPE2", "SPE2": "SPE1"}


@dataclass(frozen=True, slots=True, eq=False)
class ChunkExample:
    """A pair of chunked sentences with its gold: features and labels of all pairs of chunks, and the aligned spans."""

    gold: ChunkAlignment
    context: SpanContext
    source: tuple[Words, ...]
    target: tuple[Words, ...]
    features: FloatArray  # [source, target, NAMES]
    labels: FloatArray  # [source, target]
    aligned: FloatArray  # [aligned pairs, NAMES]
    types: tuple[str, ...]
    scores: tuple[float, ...]
    weight: float = 1.0  # how often it counts when types are learned


def chunk_example(
    gold: ChunkAlignment,
    context: SpanContext,
    source: Sequence[Words],
    target: Sequence[Words],
    weight: float = 1.0,
) -> ChunkExample:
    """What is learned from one pair; chunks are in the order of the sentences."""
    features = span_features(context, source, target)
    labels = np.zeros(features.shape[:2])
    kept = [pair for pair in gold.pairs if pair.source and pair.target and pair.relation.split("_")[0] in TYPES]
    for pair in kept:
        rows = [a for a, words in enumerate(source) if set(words) <= set(pair.source)]
        columns = [b for b, words in enumerate(target) if set(words) <= set(pair.target)]
        labels[np.ix_(rows, columns)] = 1.0
    aligned = [span_features(context, [sorted(pair.source)], [sorted(pair.target)])[0, 0] for pair in kept]
    return ChunkExample(
        gold,
        context,
        tuple(source),
        tuple(target),
        features,
        labels,
        np.array(aligned).reshape(len(kept), features.shape[2]),
        tuple(pair.relation.split("_")[0] for pair in kept),
        tuple(pair.score or 0.0 for pair in kept),
        weight,
    )


def train_chunks(examples: Sequence[ChunkExample]) -> ChunkModel:
    """All weights; the second model is fitted to what the first one says of the same pairs."""
    cells = np.concatenate([each.features[..., SYMMETRIC_PART].reshape(-1, len(SYMMETRIC)) for each in examples])
    labels = np.concatenate([each.labels.ravel() for each in examples])
    pair = fit_logistic(cells, labels, RIDGE)
    around = [around_features(pair(each.features[..., SYMMETRIC_PART])) for each in examples]
    second = fit_logistic(np.concatenate([each.reshape(-1, each.shape[-1]) for each in around]), labels, RIDGE)
    aligned = np.concatenate([each.aligned for each in examples])
    types = [kind for each in examples for kind in each.types]
    scores = np.array([score for each in examples for score in each.scores])
    rows = np.concatenate([aligned, mirrored_features(aligned)])
    numbers = [TYPES.index(kind) for kind in types] + [TYPES.index(MIRRORED.get(kind, kind)) for kind in types]
    counts = np.array([each.weight for each in examples for _ in each.types])
    is_other = np.array([kind != "EQUI" for kind in types])
    return ChunkModel(
        pair,
        second,
        fit_multinomial(rows, np.array(numbers, np.float64), len(TYPES), TYPE_RIDGE, np.tile(counts, 2)),
        fit_ridge(aligned[is_other][:, SYMMETRIC_PART], scores[is_other], TYPE_RIDGE),
        THRESHOLD,
    )


def mirrored_features(features: FloatArray) -> FloatArray:
    """The features of the same spans with source and target swapped."""
    turned = features.copy()
    turned[..., DIRECTED_PART] *= -1.0
    return turned


# ---- the script ----


def read_set(path: Path) -> Pairs:
    """The pairs of one file with their chunks; a pair whose two files disagree keeps the chunks of its `.wa`."""
    gold = list(read_ists(path))
    stem = str(path).removesuffix(".wa")
    files = [Path(f"{stem}.sent{number}.chunk.txt") for number in (1, 2)]
    pairs = []
    given = [_chunk_lines(file) if file.is_file() else [()] * len(gold) for file in files]
    for number, (each, source, target) in enumerate(zip(gold, *given, strict=True), start=1):
        known = chunks_of(each)
        chunks = [
            own if own and own[-1].end == len(words) else other
            for own, other, words in zip((source, target), known, (each.source, each.target), strict=True)
        ]
        sentences = [Sentence.from_words(words) for words in (each.source, each.target)]
        pairs.append((each, ChunkedPair(number, each.id, sentences[0], sentences[1], chunks[0], chunks[1])))
    return pairs


def _chunk_lines(path: Path) -> list[Side]:
    sides = []
    for line in path.read_text(encoding="utf-8").splitlines():
        spans, begin = [], 0
        for chunk in re.findall(r"\[ (.*?) \](?= |$)", line.strip()):
            end = begin + len(chunk.split())
            spans.append(Span(begin, end))
            begin = end
        sides.append(tuple(spans))
    return sides


def examples_of(pairs: Pairs, aligner: ChunkAligner, weight: float) -> list[ChunkExample]:
    """Features and labels of all pairs."""
    found = []
    for begin in range(0, len(pairs), BATCH):
        part = pairs[begin : begin + BATCH]
        for (gold, pair), context in zip(part, aligner.contexts([each for _, each in part]), strict=True):
            if isinstance(context, NoParseError):
                raise context
            chunks = [[range(*span) for span in side] for side in (pair.source_chunks, pair.target_chunks)]
            found.append(chunk_example(gold, context, chunks[0], chunks[1], weight))
    return found


def cross_validate(sets: Sequence[Pairs], examples: Sequence[Sequence[ChunkExample]], folds: int) -> list[Evaluation]:
    """The scores of each set by models of the other parts; prints the calibration."""
    systems: list[list[ChunkAlignment | None]] = [[None] * len(each) for each in sets]
    points: list[Point] = []
    for fold in range(folds):
        model = train_chunks([e for each in examples for k, e in enumerate(each) if k % folds != fold])
        for pairs, own, system in zip(sets, examples, systems, strict=True):
            for k in range(fold, len(own), folds):
                system[k] = _answer(pairs[k][1], own[k], model)
                shares = model.probabilities(own[k].features)
                points += zip(shares.ravel().tolist(), own[k].labels.ravel().tolist(), strict=True)
    print(f"expected calibration error of pairs of chunks: {calibration_error(points):.4f}")
    return [score_chunks([gold for gold, _ in pairs], system) for pairs, system in zip(sets, systems, strict=True)]


def _answer(pair: ChunkedPair, example: ChunkExample, model: ChunkModel) -> ChunkAlignment:
    return chunk_alignment(pair, align_chunks(example.context, example.source, example.target, model))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="+", type=Path, metavar="FILE.wa")
    arguments.add_argument("--folds", type=int, default=0, metavar="N", help="cross-validate over N parts")
    arguments.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the weights of all pairs")
    args = arguments.parse_args()
    sets = [read_set(path) for path in args.files]
    aligner = ChunkAligner(DEFAULT_CONFIG)
    mean = sum(map(len, sets)) / len(sets)  # types of all files count the same: the smallest has kinds of its own
    examples = [examples_of(pairs, aligner, mean / len(pairs)) for pairs in sets]
    if args.folds > 1:
        for path, evaluation in zip(args.files, cross_validate(sets, examples, args.folds), strict=True):
            cells = "  ".join(f"{score.name} {100 * score.value:.1f}" for score in evaluation.scores())
            print(f"{path.stem.removeprefix('STSint.input.'):20}{cells}")
    if args.output:
        record = model_record(train_chunks([example for each in examples for example in each]))
        write_lines(args.output, [json.dumps(record, indent=1)])


if __name__ == "__main__":
    main()
