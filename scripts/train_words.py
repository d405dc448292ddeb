"""Fit the word profile `best` to gold links: its metric and the weights of its matching model.

    python scripts/train_words.py msr-rte2.dev.jsonl.gz:1.5 edinburgh.train.jsonl.gz:1.5 mtref.train.jsonl.gz:0.7:300 \
        wiki.train.jsonl.gz:0.7:200 --metric mtref.train.jsonl.gz wiki.train.jsonl.gz:0.5:1200 --ppdb ppdb.tsv.gz \
        --unrelated stsb.train.jsonl.gz --cache analyses [-o grammar]

`FILE:WEIGHT:N` gives a set its weight and takes its first N pairs, `FILE:WEIGHT:BEGIN-END` those between. `--metric`
names more gold for the metric alone. Without `-o` nothing is written, and scores of held-out halves are printed.

The weights must see the metric as it is on new sentences. So the pairs are dealt into quarters, a metric is learned
with each quarter, and a pair is always described by the metric of another quarter; the one that is kept has seen them
all. Unrelated sentences, put together from different pairs or given, are examples of no links: gold pairs are all
related, and without these the model links any two words in like places of unlike sentences. The only randomness is the
order of pairs and the sample of easy negatives, and both have a fixed seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import numpy as np
from scoring.words import GoldSet, analyse_all, read_sets

from forestalign.arrays import AnyArray, AnyFloatArray, Float32Array, FloatArray, Int8Array
from forestalign.errors import UsageError
from forestalign.evaluation.word_scores import GoldLinks, Links, score_words
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.machine import with_one_thread
from forestalign.outputs import whole_file
from forestalign.phrases.evidence.logistic import minimise
from forestalign.tokens import tokenize
from forestalign.words import Analysis
from forestalign.words.learned.evidence import LEARNED_PART, Evidence, gather, pipeline_similarity, similarity_of
from forestalign.words.learned.matching import FIRST, KINDS, MatchingModel, format_matching, match
from forestalign.words.learned.sides import Lexicon
from forestalign.words.word_vectors import (
    Metric,
    centre_of,
    learned_layers,
    partners,
    rows_of,
    unit_rows,
    write_centre,
    write_metric,
)

UNRELATED_STEP = 6  # one pair of sentences put together for so many given ones
UNLIKE_SCORE = 1.0  # human similarity, of 5, up to which a given pair counts as unrelated
UNLIKE_COUNT = 400  # how many of them
THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6)
QUARTERS = 4
SAME_HALF, OTHER_HALF = 2, 1  # so many quarters on: a metric of the same half of the pairs, and of the other half
# of the given sets against further gold, for the metric: msr-rte2.dev 90.1 -> 90.3, mtref.train 80.9 -> 80.6
GIVEN_WEIGHT = 3.0

AnalysedPair = tuple[Analysis, Analysis]


@dataclass(frozen=True)
class WordTraining:
    """Gold to learn from: given sets, more gold for the metric alone, pairs of sentences that say different things."""

    sets: Sequence[GoldSet]
    more: Sequence[GoldSet]
    unlike: Sequence[AnalysedPair]
    ppdb: str = ""

    def write(self, folder: Path) -> None:
        """Learn from everything; write word_centre.npy, word_metric.npz and word_model.tsv."""
        write_centre(folder / "word_centre.npy", self._centre)
        models = {
            (contextual, ppdb): fit([*chain.from_iterable(seen), *rest])
            for contextual, ppdb, seen, _, rest in self._views()
        }
        every = [item for gold_set in self.sets for item in linked(gold_set, GIVEN_WEIGHT)]
        write_metric(folder / "word_metric.npz", learn_metric([*self._further, *every]))
        ordered = tuple(models[contextual, ppdb] for contextual in (False, True) for ppdb in ("", self.ppdb))
        with whole_file(folder / "word_model.tsv") as file:
            file.write(format_matching(ordered).encode())

    def held_out(self) -> Iterator[str]:
        """Lines of scores: a model fitted to the even pairs is asked about the odd ones, and the reverse."""
        for contextual, ppdb, seen, asked, rest in self._views():
            title = f"{'contextual' if contextual else 'plain'}{' listed' if ppdb else ''}"
            models = [fit([*chain.from_iterable(part[half::2] for part in seen), *rest[half::2]]) for half in (0, 1)]
            for gold_set, part in zip(self.sets, asked, strict=True):
                for line in _half_scores(gold_set, part, models):
                    yield f"{title:<20}{gold_set.name:<18}{line}"

    @cached_property
    def _centre(self) -> Float32Array:
        return centre_of(each.sentence for gold_set in self.sets for pair in gold_set.pairs for each in pair)

    @cached_property
    def _further(self) -> list[LinkedRows]:
        lexicon = Lexicon(load_wordnet(), load_vectors(), centre=self._centre)
        return [*more_gold(self.sets, self.more), *apart(unrelated(self.unlike, lexicon))]

    @cached_property
    def _quarter_metrics(self) -> list[Metric]:
        """One metric for each quarter of the sets, each with all of the rest."""
        every = [linked(gold_set, GIVEN_WEIGHT) for gold_set in self.sets]
        return [
            learn_metric([*self._further, *chain.from_iterable(part[quarter::QUARTERS] for part in every)])
            for quarter in range(QUARTERS)
        ]

    def _views(
        self,
    ) -> Iterator[tuple[bool, str, list[list[WordExample]], list[list[WordExample]], list[WordExample]]]:
        """For each model: is it contextual, its list, what it sees, what it is asked about, examples of no links."""
        metrics = self._quarter_metrics
        for ppdb in dict.fromkeys(("", self.ppdb)):
            pairs = load_ppdb(ppdb) if ppdb else None
            lexicon = Lexicon(load_wordnet(), load_vectors(), pairs, centre=self._centre)
            items = [examples(gold_set, lexicon) for gold_set in self.sets]
            seen, asked = ([described(part, metrics, step) for part in items] for step in (SAME_HALF, OTHER_HALF))
            rest = described(unrelated(self.unlike, lexicon), metrics, 0)
            plain = [[[each.without_vectors() for each in part] for part in parts] for parts in (seen, asked, [rest])]
            yield False, ppdb, plain[0], plain[1], plain[2][0]
            yield True, ppdb, seen, asked, rest


def _half_scores(gold_set: GoldSet, items: Sequence[WordExample], models: Sequence[MatchingModel]) -> Iterator[str]:
    found = [match(item.evidence, models[1 - number % 2]) for number, item in enumerate(items)]
    for threshold in THRESHOLDS:
        line = macro_line(gold_set.gold, [links_above(values, threshold) for values in found])
        yield f"threshold {threshold}  {line}"


def links_above(probabilities: Float32Array, threshold: float) -> Links:
    """The pairs of words that are likelier than the threshold."""
    return frozenset((int(i), int(j)) for i, j in np.argwhere(probabilities > threshold))


# ---- examples ----


def examples(gold_set: GoldSet, lexicon: Lexicon) -> list[WordExample]:
    """The pairs of a set; inside it every pair of sentences counts about the same, as in macro scores."""
    result = []
    for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True):
        weight = gold_set.weight * 5.0 / np.sqrt(max(1, len(gold.sure)) + 8.0)
        marks = _marks(source, target, gold.sure)
        result.append(WordExample(gather(source, target, lexicon), rows(source), rows(target), marks, weight))
    return result


def _marks(source: Analysis, target: Analysis, links: Links) -> Float32Array:
    """1 for each link."""
    marks = np.zeros((len(source), len(target)), dtype=np.float32)
    for i, j in sorted(links):
        marks[i, j] = 1.0
    return marks


def unrelated(pairs: Sequence[AnalysedPair], lexicon: Lexicon) -> list[WordExample]:
    """Sentences that say different things: no links, but for identical words, of which nothing is said."""
    result = []
    for source, target in pairs:
        evidence = gather(source, target, lexicon)
        is_same = pipeline_similarity(evidence.lexical) == 1.0
        marks = np.where(is_same, UNKNOWN, 0.0)
        result.append(WordExample(evidence, rows(source), rows(target), marks, 1.0))
    return result


def read_unrelated(path: Path, cache: Path | None) -> list[AnalysedPair]:
    """Pairs that people found unlike, from gzipped JSON lines with `source`, `target` and `score` (0 to 5)."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [row for row in map(json.loads, lines) if row["score"] <= UNLIKE_SCORE][:UNLIKE_COUNT]
    pairs = [(tokenize(row["source"]).words, tokenize(row["target"]).words) for row in found]
    analyses = analyse_all(sorted({words for pair in pairs for words in pair}), cache)
    return [(analyses[source], analyses[target]) for source, target in pairs]


def mismatched(gold_set: GoldSet) -> list[AnalysedPair]:
    """Sentences of different pairs put together."""
    count = len(gold_set.pairs)
    numbers = range(0, count, UNRELATED_STEP)
    return [(gold_set.pairs[number][0], gold_set.pairs[(number + count // 2) % count][1]) for number in numbers]


def described(items: Sequence[WordExample], metrics: Sequence[Metric], step: int) -> list[WordExample]:
    """Each pair by the metric of the quarter that many after its own."""
    return [item.by(metrics[(number + step) % QUARTERS]) for number, item in enumerate(items)]


# ---- rows for the metric ----


def linked(gold_set: GoldSet, factor: float = 1.0) -> list[LinkedRows]:
    """The pairs of a set, with its weight times the factor."""
    return [
        LinkedRows(rows(source), rows(target), _marks(source, target, gold.sure), factor * gold_set.weight)
        for (source, target), gold in zip(gold_set.pairs, gold_set.gold, strict=True)
    ]


def more_gold(sets: Sequence[GoldSet], more: Sequence[GoldSet]) -> list[LinkedRows]:
    """The pairs of the further sets that are not among the given ones."""
    given = {(pair.source, pair.target) for gold_set in sets for pair in gold_set.gold}
    return [
        item
        for gold_set in more
        for item, pair in zip(linked(gold_set), gold_set.gold, strict=True)
        if (pair.source, pair.target) not in given
    ]


def apart(items: Sequence[WordExample]) -> list[LinkedRows]:
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


def macro_line(gold: Sequence[GoldLinks], system: Sequence[Links]) -> str:
    """P, R, F1 and E in per cent, macro-averaged over pairs, sure links."""
    scores = {score.name: score.value for score in score_words(gold, system).scores()}
    return "  ".join(f"{name} {100 * scores[name]:5.2f}" for name in ("P", "R", "F1", "E"))


# ---- the metric ----
#
# The loss of one pair of sentences is the cross entropy of the partners of every word, in both directions: the gold
# partners share the probability of their word, and a word without one has all of it on "no partner". It is divided by
# the number of words, so that every pair of sentences counts the same. The projection starts from the principal
# directions of the vectors, so that s starts as a plain dot product. The optimiser is Adam with a falling step.

RANK = 256  # held-out F1 of the metric alone rises up to here; the file stays under 300 kB
EPOCHS, BATCH, STEP = 5, 16, 5e-3
START = 2.0  # length of the principal directions at the start
DECAY = (0.9, 0.99)


@dataclass(frozen=True, slots=True)
class LinkedRows:
    """One pair of sentences: the rows of its words, 1 for each gold link, and how much it counts."""

    left: Float32Array
    right: Float32Array
    gold: Float32Array
    weight: float


def rows(analysis: Analysis) -> Float32Array:
    """x of the words of a sentence: vectors of the encoder, which it must have, and static ones."""
    middle = analysis.sentence.context_vectors
    if middle is None:
        raise UsageError(
            f"{analysis.sentence.text!r} has no contextual vectors; expected a parse by the shipped parser"
        )
    static = load_vectors().matrix([word.lower() for word in analysis.sentence.words])
    return rows_of(unit_rows(middle), static)


@with_one_thread
def learn_metric(pairs: Sequence[LinkedRows]) -> Metric:
    """Adam over batches of pairs."""
    generator = np.random.default_rng(0)
    parameters = [principal_directions(pairs), np.zeros(pairs[0].left.shape[1], dtype=np.float32)]
    means, squares = ([np.zeros_like(value) for value in parameters] for _ in range(2))
    step_count = EPOCHS * -(-len(pairs) // BATCH)
    batches = (
        order[begin : begin + BATCH]
        for order in (generator.permutation(len(pairs)) for _ in range(EPOCHS))
        for begin in range(0, len(pairs), BATCH)
    )
    for number, batch in enumerate(batches, start=1):
        slopes = gradient(Metric(*parameters), [pairs[n] for n in batch])
        for value, slope, mean, square in zip(parameters, slopes, means, squares, strict=True):
            mean += (1 - DECAY[0]) * (slope - mean)
            square += (1 - DECAY[1]) * (slope * slope - square)
            size = STEP * (1 - number / (step_count + 1)) / (1 - DECAY[0] ** number)
            value -= size * mean / (np.sqrt(square / (1 - DECAY[1] ** number)) + 1e-8)
    return Metric(*parameters)


def principal_directions(pairs: Sequence[LinkedRows]) -> Float32Array:
    """The directions in which the words of the sources differ most, as columns."""
    every = np.concatenate([pair.left for pair in pairs])
    _, directions = np.linalg.eigh(every.T @ every / len(every))
    first: Float32Array = (START * directions[:, ::-1][:, :RANK]).astype(np.float32)
    return first


def gradient(metric: Metric, batch: Sequence[LinkedRows]) -> tuple[Float32Array, Float32Array]:
    """Of the mean loss of a batch, by the projection and by the null score."""
    every = np.concatenate([rows for pair in batch for rows in (pair.left, pair.right)])
    projected = metric.of(every)
    by_place, by_null = [], []
    begin = 0
    for pair in batch:
        middle, end = begin + len(pair.left), begin + len(pair.left) + len(pair.right)
        left, right = projected.places[begin:middle], projected.places[middle:end]
        scores = left @ right.T
        forth, left_null = surprise(scores, projected.null[begin:middle], pair.gold)
        back, right_null = surprise(scores.T, projected.null[middle:end], pair.gold.T)
        slopes = forth + back.T
        share = np.float32(pair.weight / (len(batch) * sum(scores.shape)))
        by_place += [share * (slopes @ right), share * (slopes.T @ left)]
        by_null += [share * left_null, share * right_null]
        begin = end
    return every.T @ np.concatenate(by_place), every.T @ np.concatenate(by_null)


def surprise(scores: Float32Array, null: Float32Array, gold: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Probability given minus probability due, for every pair and for no partner."""
    given, without = partners(scores, null)
    counts = gold.sum(1, keepdims=True)
    due = gold / np.maximum(counts, 1)
    return given - due, without[:, 0] - (counts[:, 0] == 0)


# ---- the weights of the matching model (words/learned/matching.py) ----

Marks = AnyFloatArray  # 1 for each gold link
EASY_SHARE = 0.1  # of the pairs of words that nothing speaks for, how many are kept as negatives
RELATED = 0.9  # similarity of related words
PENALTY = 3.0  # L2
UNKNOWN = -1.0  # gold of a pair of words that is neither linked nor not
ENCODED = ("learned ", "lexical context ", "lexical middle ", "lexical squared middle ")
CONTEXTUAL = [number for number, name in enumerate(FIRST) if name.startswith(ENCODED)]


@dataclass(frozen=True, slots=True)
class WordExample:
    """One pair of sentences with its evidence, the rows that the metric projects, its gold, and how much it counts."""

    evidence: Evidence
    left: Float32Array
    right: Float32Array
    gold: Marks
    weight: float

    def by(self, metric: Metric) -> WordExample:
        """The example with the layers that a metric gives."""
        layers = self.evidence.layers.copy()
        layers[LEARNED_PART] = learned_layers(metric.of(self.left), metric.of(self.right))
        return replace(self, evidence=replace(self.evidence, layers=layers))

    def without_vectors(self) -> WordExample:
        """The example as if its sentences had no contextual vectors."""
        layers = self.evidence.layers.copy()
        layers[CONTEXTUAL] = 0.0
        return replace(self, evidence=replace(self.evidence, layers=layers))


@with_one_thread
def fit(items: Sequence[WordExample]) -> MatchingModel:
    """Both passes; the second is fitted to the belief of the first."""
    model = MatchingModel((fit_pass(*sample(items, [None] * len(items))),))
    beliefs = [model.probabilities(0, item.evidence.layers, item.evidence.kinds) for item in items]
    return MatchingModel((*model.passes, fit_pass(*sample(items, beliefs))))


def sample(items: Sequence[WordExample], beliefs: Sequence[Float32Array | None]) -> list[AnyArray]:
    """Layers, kinds, gold and weights of the pairs of words that are kept; easy negatives are few and weigh more."""
    generator = np.random.default_rng(0)
    parts = []
    for item, belief in zip(items, beliefs, strict=True):
        is_unlikely = similarity_of(item.evidence.lexical) < RELATED if belief is None else belief < 0.02
        easy = (is_unlikely & (item.gold == 0)).ravel()
        keep = (~easy | (generator.random(easy.size) < EASY_SHARE)) & (item.gold.ravel() != UNKNOWN)
        layers = item.evidence.layers if belief is None else item.evidence.with_belief(belief)
        weights = np.where(easy, 1.0 / EASY_SHARE, 1.0)[keep] * item.weight
        rows = layers.reshape(len(layers), -1)[:, keep].T
        parts.append((rows, item.evidence.kinds.ravel()[keep], item.gold.ravel()[keep], weights.astype(np.float32)))
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


@with_one_thread
def fit_pass(rows: Float32Array, kinds: Int8Array, gold: Marks, weights: Float32Array) -> Float32Array:
    """One logistic regression for each kind; the last weight is the bias and is not penalised."""
    result = np.zeros((len(KINDS), rows.shape[1] + 1), dtype=np.float32)
    for kind in range(len(KINDS)):
        chosen = kinds == kind
        design = np.concatenate([rows[chosen], np.ones((chosen.sum(), 1), dtype=np.float32)], axis=1)
        own = partial(loss, design=design, gold=gold[chosen], weights=weights[chosen])
        result[kind] = minimise(own, np.zeros(design.shape[1]), 80)
    return result


def loss(theta: FloatArray, design: Float32Array, gold: Marks, weights: Float32Array) -> tuple[float, FloatArray]:
    """Weighted negative log-likelihood with its gradient."""
    scores = np.clip(design @ theta.astype(np.float32), -30.0, 30.0)
    probabilities = 1.0 / (1.0 + np.exp(-scores))
    value = float((weights * (np.logaddexp(0.0, scores) - gold * scores)).sum())
    gradient = (design.T @ ((probabilities - gold) * weights)).astype(np.float64)
    penalty = np.append(theta[:-1], 0.0)
    return value + PENALTY / 2.0 * float(penalty @ penalty), gradient + PENALTY * penalty


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "gold", nargs="+", metavar="FILE[:WEIGHT[:N]]", help="gold links, their weight, how many of them"
    )
    parser.add_argument(
        "--ppdb", default="", metavar="FILE", help="a PPDB-format list, for weights with and without it"
    )
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE and reuse them")
    parser.add_argument("--metric", nargs="+", default=[], metavar="FILE[:WEIGHT[:N]]", help="more gold for the metric")
    parser.add_argument("--unrelated", type=Path, metavar="FILE", help="pairs of texts with human similarity scores")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where to write; without it only scores")
    args = parser.parse_args()
    sets, more = read_sets(args.gold, args.cache), read_sets(args.metric, args.cache)
    unlike = [pair for gold_set in sets for pair in mismatched(gold_set)]
    unlike += read_unrelated(args.unrelated, args.cache) if args.unrelated else []
    training = WordTraining(sets, more, unlike, args.ppdb)
    if args.output:
        training.write(args.output)
    else:
        for line in training.held_out():
            print(line, flush=True)


if __name__ == "__main__":
    main()
