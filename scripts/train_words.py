"""Fit the weights of the word profile `best` to gold links, and print its scores on held-out halves.

    python scripts/train_words.py msr-rte2.dev.jsonl.gz:1.5 edinburgh.train.jsonl.gz:1.5 mtref.train.jsonl.gz:0.7:300 \
        wiki.train.jsonl.gz:0.7:200 --ppdb ppdb.tsv.gz --unrelated stsb.train.jsonl.gz -o grammar/word_model.tsv

`FILE:WEIGHT:N` gives a set its weight and takes its first N pairs; inside a set every pair of sentences counts about
the same, as in macro scores. Unrelated sentences, put together from different pairs or given, are examples of no
links. Held-out scores come from a model fitted to the pairs with even numbers and asked about the odd ones, and the
reverse; what is written is fitted to all. The fit is logistic regression, one for each kind of pair, by L-BFGS; its
only randomness is the sample of easy negatives, and that has a fixed seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gold_words import GoldSet, Links, add_gold_options, analyse_all, macro_line, read_sets
from scipy.optimize import minimize

from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.tokens import tokenize
from forestalign.word_alignment import Analysis
from forestalign.word_alignment.evidence import Evidence, gather
from forestalign.word_alignment.lexical_layers import LEXICAL, pipeline_similarity, similarity_of
from forestalign.word_alignment.matching import KINDS, MatchingModel, format_matching, match
from forestalign.word_alignment.sides import Lexicon

EASY_SHARE = 0.06  # of the pairs of words without any likeness, how many are kept as negatives
PENALTY = 3.0  # L2
UNRELATED_STEP = 6  # one pair of sentences put together for so many given ones
UNLIKE_SCORE, UNLIKE_COUNT = (
    1.0,
    400,
)  # human similarity, of 5, below which a pair counts as unrelated; how many of them
UNKNOWN = -1.0  # a pair of words that is neither linked nor not
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True, slots=True)
class Example:
    """One pair of sentences with its evidence and its gold."""

    evidence: Evidence
    gold: np.ndarray
    weight: float


def examples(gold_set: GoldSet, lexicon: Lexicon, contextual: bool) -> list[Example]:
    result = []
    for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True):
        if not contextual:
            source, target = without_vectors(source), without_vectors(target)
        marks = np.zeros((len(source), len(target)), dtype=np.float32)
        for i, j in gold.sure:
            marks[i, j] = 1.0
        weight = gold_set.weight * 5.0 / np.sqrt(max(1, len(gold.sure)) + 8.0)
        result.append(Example(gather(source, target, lexicon), marks, weight))
    return result


def unrelated(pairs: Sequence[tuple[Analysis, Analysis]], lexicon: Lexicon, contextual: bool) -> list[Example]:
    """Sentences that say different things: no links, but for identical words, of which nothing is said.

    Gold pairs are all related; without these the model links any two words in like places of unlike sentences.
    """
    result = []
    for source, target in pairs:
        if not contextual:
            source, target = without_vectors(source), without_vectors(target)
        evidence = gather(source, target, lexicon)
        is_same = pipeline_similarity(evidence.layers[: len(LEXICAL)]) == 1.0
        result.append(Example(evidence, np.where(is_same, UNKNOWN, 0.0), 1.0))
    return result


def read_unrelated(path: Path, cache: Path | None) -> list[tuple[Analysis, Analysis]]:
    """Pairs that people found unlike, from JSON lines with `source`, `target` and `score` (0 to 5)."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["score"] <= UNLIKE_SCORE][:UNLIKE_COUNT]
    pairs = [(tokenize(row["source"]).words, tokenize(row["target"]).words) for row in rows]
    analyses = analyse_all(sorted({words for pair in pairs for words in pair}), cache)
    return [(analyses[source], analyses[target]) for source, target in pairs]


def mismatched(gold_set: GoldSet) -> list[tuple[Analysis, Analysis]]:
    """Sentences of different pairs put together."""
    count = len(gold_set.pairs)
    numbers = range(0, count, UNRELATED_STEP)
    return [(gold_set.pairs[number][0], gold_set.pairs[(number + count // 2) % count][1]) for number in numbers]


def without_vectors(analysis: Analysis) -> Analysis:
    return replace(analysis, sentence=replace(analysis.sentence, vectors=None))


def sample(items: Sequence[Example], beliefs: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """Layers, kinds, gold and weights of the pairs of words that are kept; easy negatives are few and weigh more."""
    generator = np.random.default_rng(0)
    parts = []
    for item, belief in zip(items, beliefs, strict=True):
        is_easy = (similarity_of(item.evidence.layers[: len(LEXICAL)]) == 0) & (item.gold == 0)
        if belief is not None:
            is_easy &= belief < 0.02
        easy = is_easy.ravel()
        keep = (~easy | (generator.random(easy.size) < EASY_SHARE)) & (item.gold.ravel() != UNKNOWN)
        layers = item.evidence.layers if belief is None else item.evidence.with_belief(belief)
        weights = np.where(easy, 1.0 / EASY_SHARE, 1.0)[keep] * item.weight
        rows = layers.reshape(len(layers), -1)[:, keep].T
        parts.append((rows, item.evidence.kinds.ravel()[keep], item.gold.ravel()[keep], weights.astype(np.float32)))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def fit_pass(rows: np.ndarray, kinds: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One logistic regression for each kind; the last weight is the bias and is not penalised."""
    result = np.zeros((len(KINDS), rows.shape[1] + 1), dtype=np.float32)
    for kind in range(len(KINDS)):
        chosen = kinds == kind
        design = np.concatenate([rows[chosen], np.ones((chosen.sum(), 1), dtype=np.float32)], axis=1)
        arguments = (design, gold[chosen], weights[chosen])
        start = np.zeros(design.shape[1])
        found = minimize(loss, start, arguments, jac=True, method="L-BFGS-B", options={"maxiter": 80})
        result[kind] = found.x
    return result


def loss(theta: np.ndarray, design: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Weighted negative log-likelihood with its gradient."""
    scores = np.clip(design @ theta.astype(np.float32), -30.0, 30.0)
    probabilities = 1.0 / (1.0 + np.exp(-scores))
    value = float((weights * (np.logaddexp(0.0, scores) - gold * scores)).sum())
    gradient = (design.T @ ((probabilities - gold) * weights)).astype(np.float64)
    penalty = np.append(theta[:-1], 0.0)
    return value + PENALTY / 2.0 * float(penalty @ penalty), gradient + PENALTY * penalty


def fit(items: Sequence[Example]) -> MatchingModel:
    """Both passes; the second is fitted to the belief of the first."""
    model = MatchingModel((fit_pass(*sample(items, [None] * len(items))),))
    beliefs = [model.probabilities(0, item.evidence.layers, item.evidence.kinds) for item in items]
    return MatchingModel((*model.passes, fit_pass(*sample(items, beliefs))))


def links(probabilities: np.ndarray, threshold: float) -> Links:
    return frozenset((int(i), int(j)) for i, j in np.argwhere(probabilities > threshold))


def print_held_out(
    sets: Sequence[GoldSet], items: Sequence[Sequence[Example]], others: Sequence[Example], title: str
) -> None:
    """Two models, each asked about the half it has not seen."""
    models = [fit([*(item for part in items for item in part[half::2]), *others[half::2]]) for half in (0, 1)]
    for gold_set, part in zip(sets, items, strict=True):
        found = [match(item.evidence, models[1 - number % 2]) for number, item in enumerate(part)]
        for threshold in THRESHOLDS:
            line = macro_line(gold_set.gold, [links(values, threshold) for values in found])
            print(f"{title:<20}{gold_set.name:<18}threshold {threshold}  {line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--unrelated", type=Path, metavar="FILE", help="pairs of texts with human similarity scores")
    parser.add_argument("-o", "--output", type=Path, help="where to write the weights; without it only scores")
    args = parser.parse_args()
    sets = read_sets(args)
    unlike = [pair for gold_set in sets for pair in mismatched(gold_set)]
    if args.unrelated:
        unlike += read_unrelated(args.unrelated, args.cache)
    models = []
    for contextual in (False, True):
        for ppdb in ("", args.ppdb):
            lexicon = Lexicon(load_wordnet(), load_vectors(), load_ppdb(ppdb) if ppdb else None)
            items = [examples(gold_set, lexicon, contextual) for gold_set in sets]
            title = f"{'contextual' if contextual else 'plain'}{' listed' if ppdb else ''}"
            others = unrelated(unlike, lexicon, contextual)
            print_held_out(sets, items, others, title)
            if args.output:
                models.append(fit([*(item for part in items for item in part), *others]))
    if args.output:
        args.output.write_text(format_matching(tuple(models)), encoding="utf-8")


if __name__ == "__main__":
    main()
