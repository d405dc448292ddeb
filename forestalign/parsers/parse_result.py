"""What every parser gives: per sentence its trees and its forest; the way there from charts, and from given trees."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from forestalign.chart import Chart, inside, kbest
from forestalign.config import AlignConfig
from forestalign.errors import NoParseError, UsageError, shown
from forestalign.forest import Forest, log_partition, pack, pack_chart, tree_of, viterbi
from forestalign.machine import with_one_thread
from forestalign.tokens import Sentence, analyse
from forestalign.trees import ScoredTree


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence with tags and lemmas, its best trees, its forest. Where it failed: no trees, and `error` says why."""

    sentence: Sentence
    trees: Sequence[ScoredTree]
    forest: Forest
    chart: Chart | None = field(default=None, compare=False, repr=False)
    error: str = ""


class Parser(Protocol):
    """One of the backends."""

    def parse(self, sentences: Sequence[Sentence], forests: bool = True, charts: bool = False) -> list[Parse]:
        """One parse per sentence, in order.

        Without `forests` there are trees and tags alone, no lemmas. Charts are large, so they are kept only on demand.
        """
        ...


def check_sentences(sentences: object) -> None:
    """Refuse what are no sentences, such as texts, with their place and value."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Sequence):
        raise UsageError(f"sentences is {shown(sentences)}; expected a list of Sentence, as tokenize makes them")
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, Sentence):
            raise UsageError(f"sentence {number} is {shown(sentence)}; expected a Sentence, as tokenize makes them")


class ChartSource(Protocol):
    """A model that scores spans."""

    piece_limit: int  # most word pieces of a sentence
    passes: int  # calls of `charts` that may run side by side, in threads

    def piece_count(self, sentence: Sentence) -> int:
        """Word pieces of a sentence."""
        ...

    def charts(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Chart]]:
        """One batch: each sentence, with word vectors where the model has them, and its chart."""
        ...


# Padded words squared of one batch: what bounds the memory of the scores, at about 1 kB each.
MOST_SPANS = 40_000
LONG = 120  # words; batches of shorter sentences may run side by side


@dataclass(frozen=True, slots=True)
class ChartParser:
    """A parser by charts: sorted by length inside, so that a batch has little padding; in the given order outside."""

    source: ChartSource
    config: AlignConfig

    @with_one_thread
    def parse(self, sentences: Sequence[Sentence], forests: bool = True, charts: bool = False) -> list[Parse]:
        """One parse per sentence, in order."""
        check_sentences(sentences)
        parses: list[Parse | None] = [self._refuse(sentence) for sentence in sentences]
        order = sorted((i for i, parse in enumerate(parses) if parse is None), key=lambda i: (len(sentences[i]), i))
        for i, sentence, chart in self.charts(sentences, order):
            parse = parse_of(sentence, chart, self.config, forests)
            parses[i] = parse if charts else replace(parse, chart=None)
            del parse, chart  # of a long sentence 100 MB, which the next pass can use
        return [parse for parse in parses if parse is not None]

    def charts(self, sentences: Sequence[Sentence], order: Sequence[int]) -> Iterator[tuple[int, Sentence, Chart]]:
        """The charts of sentences, in the given order, which should be by length.

        Passes of the encoder run in threads of their own: two passes side by side make better use of two cores than
        two threads in one pass, and what comes after them goes on meanwhile. A long sentence runs alone and in this
        thread, for the memory: what one thread has freed another cannot use.
        """
        lengths = [len(sentence) for sentence in sentences]
        batches = list(_batches(order, lengths, self.config.batch_size))
        if len(batches) == 1:  # there is nothing beside it, so a thread would only cost
            yield from _numbered(batches[0], self.source.charts([sentences[i] for i in batches[0]]))
            return
        waiting: deque[tuple[list[int], Future[list[tuple[Sentence, Chart]]]]] = deque()
        with ThreadPoolExecutor(max_workers=self.source.passes) as pool:
            for batch in batches:
                part, is_long = [sentences[i] for i in batch], lengths[batch[-1]] > LONG
                while waiting and (is_long or len(waiting) > self.source.passes):
                    yield from _finished(*waiting.popleft())
                if is_long:
                    yield from _numbered(batch, self.source.charts(part))
                else:
                    waiting.append((batch, pool.submit(self.source.charts, part)))
            while waiting:
                yield from _finished(*waiting.popleft())

    def _refuse(self, sentence: Sentence) -> Parse | None:
        if not sentence.tokens:
            return failed(sentence, "the sentence is empty; expected at least one token")
        count, limit = self.source.piece_count(sentence), self.source.piece_limit
        if count > limit:
            return failed(sentence, f"the sentence has {count} word pieces; the parser's limit is {limit}")
        return None


def _batches(order: Sequence[int], lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) == batch_size or _span_count([*batch, i], lengths) > MOST_SPANS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _finished(
    batch: Sequence[int], future: Future[list[tuple[Sentence, Chart]]]
) -> Iterator[tuple[int, Sentence, Chart]]:
    return _numbered(batch, future.result())


def _numbered(batch: Sequence[int], found: Sequence[tuple[Sentence, Chart]]) -> Iterator[tuple[int, Sentence, Chart]]:
    for i, (sentence, chart) in zip(batch, found, strict=True):
        yield i, sentence, chart


def _span_count(batch: Sequence[int], lengths: Sequence[int]) -> int:
    """Padded words squared; the last sentence is the longest."""
    return len(batch) * lengths[batch[-1]] ** 2


def parse_of(sentence: Sentence, chart: Chart, config: AlignConfig, forests: bool = True) -> Parse:
    """Trees, tags, lemmas and forest from a chart."""
    chart = chart.tempered(config.temperature)
    trees = kbest(chart, sentence.words, config.nbest, inside(chart).log_partition)
    tags = chart.best_tags()
    if not forests:
        tagged = sentence.with_analysis(tags, [""] * len(tags))
        return Parse(tagged, trees, no_forest(tagged), chart)
    sentence = analyse(sentence, tags)
    return Parse(sentence, trees, pack_chart(chart, trees, sentence), chart)


def failed(sentence: Sentence, error: str) -> Parse:
    """The parse of a sentence that has none, and why."""
    return Parse(sentence, (), no_forest(sentence), None, error)


def no_forest(sentence: Sentence) -> Forest:
    """The forest of a sentence that was not packed."""
    return Forest(sentence)


# ---- the user's own parses ----


Given = Sequence[ScoredTree] | Forest


class GivenTrees:
    """A parser that knows its sentences. Where the same words were given twice, the first parse counts."""

    def __init__(self, given: Iterable[Given], config: AlignConfig):
        self.config = config
        self._parses: dict[tuple[str, ...], Given] = {}
        for parse in given:
            self._parses.setdefault(_words(parse), parse)

    def parse(self, sentences: Sequence[Sentence], forests: bool = True, charts: bool = False) -> list[Parse]:
        """The given parse of each sentence, found by its words; `charts` is ignored, since given trees have none."""
        check_sentences(sentences)
        return [self._parse_one(sentence, forests) for sentence in sentences]

    def _parse_one(self, sentence: Sentence, forests: bool) -> Parse:
        given = self._parses.get(sentence.words)
        if given is None:
            return failed(sentence, f"no tree was given for the words {' '.join(sentence.words)!r}")
        if isinstance(given, Forest):
            return _of_forest(given, sentence)
        trees = tuple(sorted(given, key=lambda scored: -scored.log_prob))[: self.config.nbest]
        sentence = analyse(sentence, [leaf.label for leaf in trees[0].tree.leaves()])
        return Parse(sentence, trees, pack(trees, sentence) if forests else no_forest(sentence))


def _of_forest(forest: Forest, sentence: Sentence) -> Parse:
    """The forest over the sentence as it stands in the text, with the tags and lemmas that the forest has."""
    if forest.sentence.text != sentence.text:
        sentence = sentence.with_analysis(forest.sentence.tags, forest.sentence.lemmas)
        forest = forest.over(sentence)
    best = viterbi(forest)
    tree = ScoredTree(tree_of(forest, best.root, best.choice), best.log_prob - log_partition(forest))
    return Parse(forest.sentence, (tree,), forest)


def _words(given: Given) -> tuple[str, ...]:
    if isinstance(given, Forest):
        return given.sentence.words
    if not given:
        raise NoParseError("an empty list of trees was given; expected at least one tree per sentence")
    return tuple(str(leaf.word) for leaf in given[0].tree.leaves())
