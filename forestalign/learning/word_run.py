"""Training runs of the word profile `best`: its metric, and the weights of its matching models.

The weights must see the metric as it is on new sentences. So the pairs are dealt into quarters, a metric is learned
with each quarter, and a pair is always described by the metric of another quarter; the one that is kept has seen them
all. Unrelated sentences, put together from different pairs or given, are examples of no links: gold pairs are all
related, and without these the model links any two words in like places of unlike sentences.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from forestalign.arrays import Float32Array
from forestalign.learning.word_gold import GoldSet, Links, analyse_all, macro_line
from forestalign.learning.word_metric_training import LinkedRows, learn_metric, rows
from forestalign.learning.word_weights import UNKNOWN, WordExample, fit
from forestalign.lexicon import load_ppdb, load_vectors, load_wordnet
from forestalign.outputs import whole_file
from forestalign.tokens import tokenize
from forestalign.words import Analysis
from forestalign.words.learned.evidence import LEXICAL, gather, lexical_layers, pipeline_similarity
from forestalign.words.learned.matching import MatchingModel, align_best, format_matching, match, read_matching
from forestalign.words.learned.sides import CONTENT, Lexicon, kind_of, prepare
from forestalign.words.word_vectors import Metric, centre_of, read_centre, read_metric, write_centre, write_metric

UNRELATED_STEP = 6  # one pair of sentences put together for so many given ones
UNLIKE_SCORE = 1.0  # human similarity, of 5, up to which a given pair counts as unrelated
UNLIKE_COUNT = 400  # how many of them
THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6)
QUARTERS = 4
SAME_HALF, OTHER_HALF = 2, 1  # so many quarters on: a metric of the same half of the pairs, and of the other half
# of the given sets against further gold, for the metric: msr-rte2.dev 90.1 -> 90.3, mtref.train 80.9 -> 80.6
GIVEN_WEIGHT = 3.0

KNOWN = (
    "same form", "same lemma", "same stem", "synonyms", "derivations", "hypernyms", "similar adjectives", "antonyms",
)  # fmt: skip

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


def fitted_links(folder: Path, ppdb: str = "") -> Callable[[Analysis, Analysis], Links]:
    """Profile `best` by the files that `WordTraining.write` wrote into a folder."""
    metric, centre = read_metric(folder / "word_metric.npz"), read_centre(folder / "word_centre.npy")
    models = read_matching(folder / "word_model.tsv")
    lexicon = Lexicon(load_wordnet(), load_vectors(), load_ppdb(ppdb) if ppdb else None, metric, centre)
    return lambda source, target: frozenset(align_best(source, target, lexicon, models=models).pairs)


def hard_links(source: Analysis, target: Analysis, links: Links) -> Links:
    """The links between different content words of which the lexicon knows no relation."""
    lexicon = Lexicon(load_wordnet(), load_vectors())
    layers = lexical_layers(source, target, prepare(source, lexicon), prepare(target, lexicon), lexicon)
    known = layers[[LEXICAL.index(name) for name in KNOWN]].max(0) > 0
    sides = [[kind_of(word.lower()) == CONTENT for word in each.sentence.words] for each in (source, target)]
    return frozenset((i, j) for i, j in links if sides[0][i] and sides[1][j] and not known[i, j])


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
