"""Fit the word profile `best` to gold links: its metric and the weights of its matching model.

    python scripts/train_words.py msr-rte2.dev.jsonl.gz:1.5 edinburgh.train.jsonl.gz:1.5 mtref.train.jsonl.gz:0.7:300 \
        wiki.train.jsonl.gz:0.7:200 --metric mtref.train.jsonl.gz wiki.train.jsonl.gz:0.5:1200 --ppdb ppdb.tsv.gz \
        --unrelated stsb.train.jsonl.gz --cache analyses.pickle [-o grammar]

`FILE:WEIGHT:N` gives a set its weight and takes its first N pairs; inside a set every pair of sentences counts about
the same, as in macro scores. Unrelated sentences, put together from different pairs or given, are examples of no
links. `--metric` names more gold for the metric alone.

The weights must see the metric as it is on new sentences. So the pairs are dealt into quarters, a metric is learned
with each quarter, and a pair is always described by the metric of another quarter; the one that is written has seen
them all. Without `-o` nothing is written, and scores of held-out halves are printed: from a model fitted to the pairs
with even numbers, and metrics of their quarters, asked about the odd ones, and the reverse.

The weights are logistic regressions, one for each kind of pair, by L-BFGS; the only randomness is the sample of easy
negatives, and that has a fixed seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gold_words import GoldSet, Links, add_gold_options, analyse_all, macro_line, read_sets
from metric_words import LinkedRows, learn_metric, rows
from weights_words import UNKNOWN, Example, fit

from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.tokens import tokenize
from forestalign.word_alignment import Analysis
from forestalign.word_alignment.evidence import gather
from forestalign.word_alignment.lexical_layers import LEXICAL, pipeline_similarity
from forestalign.word_alignment.matching import format_matching, match
from forestalign.word_alignment.metric import Metric, write_metric
from forestalign.word_alignment.sides import Lexicon

UNRELATED_STEP = 6  # one pair of sentences put together for so many given ones
UNLIKE_SCORE = 1.0  # human similarity, of 5, up to which a given pair counts as unrelated
UNLIKE_COUNT = 400  # how many of them
THRESHOLDS = (0.35, 0.4, 0.45, 0.5)
QUARTERS = 4
GIVEN_WEIGHT = (
    3.0  # of the given sets against further gold, for the metric: msr-rte2.dev 90.1 -> 90.3, mtref.train 80.9 -> 80.6
)

# ---- examples ----


def examples(gold_set: GoldSet, lexicon: Lexicon) -> list[Example]:
    result = []
    for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True):
        marks = np.zeros((len(source), len(target)), dtype=np.float32)
        for i, j in gold.sure:
            marks[i, j] = 1.0
        weight = gold_set.weight * 5.0 / np.sqrt(max(1, len(gold.sure)) + 8.0)
        result.append(Example(gather(source, target, lexicon), rows(source), rows(target), marks, weight))
    return result


def unrelated(pairs: Sequence[tuple[Analysis, Analysis]], lexicon: Lexicon) -> list[Example]:
    """Sentences that say different things: no links, but for identical words, of which nothing is said.

    Gold pairs are all related; without these the model links any two words in like places of unlike sentences.
    """
    result = []
    for source, target in pairs:
        evidence = gather(source, target, lexicon)
        is_same = pipeline_similarity(evidence.layers[: len(LEXICAL)]) == 1.0
        result.append(Example(evidence, rows(source), rows(target), np.where(is_same, UNKNOWN, 0.0), 1.0))
    return result


def read_unrelated(path: Path, cache: Path | None) -> list[tuple[Analysis, Analysis]]:
    """Pairs that people found unlike, from JSON lines with `source`, `target` and `score` (0 to 5)."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [row for row in map(json.loads, lines) if row["score"] <= UNLIKE_SCORE][:UNLIKE_COUNT]
    pairs = [(tokenize(row["source"]).words, tokenize(row["target"]).words) for row in found]
    analyses = analyse_all(sorted({words for pair in pairs for words in pair}), cache)
    return [(analyses[source], analyses[target]) for source, target in pairs]


def mismatched(gold_set: GoldSet) -> list[tuple[Analysis, Analysis]]:
    """Sentences of different pairs put together."""
    count = len(gold_set.pairs)
    numbers = range(0, count, UNRELATED_STEP)
    return [(gold_set.pairs[number][0], gold_set.pairs[(number + count // 2) % count][1]) for number in numbers]


# ---- metrics of quarters ----


def linked(gold_set: GoldSet, factor: float = 1.0) -> list[LinkedRows]:
    result = []
    for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True):
        marks = np.zeros((len(source), len(target)), dtype=np.float32)
        for i, j in gold.sure:
            marks[i, j] = 1.0
        result.append(LinkedRows(rows(source), rows(target), marks, factor * gold_set.weight))
    return result


def more_gold(sets: Sequence[GoldSet], more: Sequence[GoldSet]) -> list[LinkedRows]:
    """The pairs of the further sets that are not among the given ones."""
    given = {(pair.source, pair.target) for gold_set in sets for pair in gold_set.gold}
    return [
        item
        for gold_set in more
        for item, pair in zip(linked(gold_set), gold_set.gold, strict=True)
        if (pair.source, pair.target) not in given
    ]


def apart(items: Sequence[Example]) -> list[LinkedRows]:
    """Unrelated sentences without the words that both have: no word has a partner.

    With these the metric tells topic from meaning (mtref.train 80.9 -> 81.4, edinburgh.train 89.4 -> 89.5).
    """
    result = []
    for item in items:
        left, right = (~(item.gold == UNKNOWN).any(axis) for axis in (1, 0))
        if left.any() and right.any():
            nothing = np.zeros((left.sum(), right.sum()), dtype=np.float32)
            result.append(LinkedRows(item.left[left], item.right[right], nothing, 1.0))
    return result


def learn_quarters(sets: Sequence[GoldSet], more: Sequence[LinkedRows]) -> list[Metric]:
    """One metric for each quarter of the sets, each with all of the rest."""
    every = [linked(gold_set, GIVEN_WEIGHT) for gold_set in sets]
    return [
        learn_metric([*more, *(p for part in every for p in part[quarter::QUARTERS])]) for quarter in range(QUARTERS)
    ]


def described(items: Sequence[Example], metrics: Sequence[Metric], step: int) -> list[Example]:
    """Each pair by the metric of the quarter that many after its own.

    Two after is a metric of the same half of the pairs, one after a metric of the other half.
    """
    return [item.by(metrics[(number + step) % QUARTERS]) for number, item in enumerate(items)]


# ---- scores and weights ----


def links(probabilities: np.ndarray, threshold: float) -> Links:
    return frozenset((int(i), int(j)) for i, j in np.argwhere(probabilities > threshold))


def print_held_out(
    sets: Sequence[GoldSet],
    seen: Sequence[Sequence[Example]],
    asked: Sequence[Sequence[Example]],
    others: Sequence[Example],
    title: str,
) -> None:
    """Two models, each asked about the half it has not seen."""
    models = [fit([*(item for part in seen for item in part[half::2]), *others[half::2]]) for half in (0, 1)]
    for gold_set, part in zip(sets, asked, strict=True):
        found = [match(item.evidence, models[1 - number % 2]) for number, item in enumerate(part)]
        for threshold in THRESHOLDS:
            line = macro_line(gold_set.gold, [links(values, threshold) for values in found])
            print(f"{title:<20}{gold_set.name:<18}threshold {threshold}  {line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--metric", nargs="+", default=[], metavar="FILE[:WEIGHT[:N]]", help="more gold for the metric")
    parser.add_argument("--unrelated", type=Path, metavar="FILE", help="pairs of texts with human similarity scores")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where to write; without it only scores")
    args = parser.parse_args()
    sets, more = read_sets(args.gold, args.cache), read_sets(args.metric, args.cache)
    unlike = [pair for gold_set in sets for pair in mismatched(gold_set)]
    if args.unrelated:
        unlike += read_unrelated(args.unrelated, args.cache)
    further = [*more_gold(sets, more), *apart(unrelated(unlike, Lexicon(load_wordnet(), load_vectors())))]
    metrics = learn_quarters(sets, further)
    models = {}
    for ppdb in ("", args.ppdb):
        lexicon = Lexicon(load_wordnet(), load_vectors(), load_ppdb(ppdb) if ppdb else None)
        items = [examples(gold_set, lexicon) for gold_set in sets]
        others = described(unrelated(unlike, lexicon), metrics, 0)
        for contextual in (False, True):
            keep = Example.as_given if contextual else Example.without_vectors
            seen, asked = ([[keep(e) for e in described(part, metrics, step)] for part in items] for step in (2, 1))
            rest = [keep(item) for item in others]
            if args.output:
                models[contextual, ppdb] = fit([*(item for part in seen for item in part), *rest])
            else:
                title = f"{'contextual' if contextual else 'plain'}{' listed' if ppdb else ''}"
                print_held_out(sets, seen, asked, rest, title)
    if args.output:
        every = [item for gold_set in sets for item in linked(gold_set, GIVEN_WEIGHT)]
        write_metric(args.output / "word_metric.npz", learn_metric([*further, *every]))
        ordered = tuple(models[contextual, ppdb] for contextual in (False, True) for ppdb in ("", args.ppdb))
        (args.output / "word_model.tsv").write_text(format_matching(ordered), encoding="utf-8")


if __name__ == "__main__":
    main()
