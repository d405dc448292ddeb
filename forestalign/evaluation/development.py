"""A development set: pairs with phrase gold, and how alignments of them are scored.

Three kinds of gold: annotated pairs (phrases of several annotators over gold trees, so chosen trees can be scored as
well), and human word links, from which phrase gold is projected through the 1-best trees, and pairs whose phrases
were marked while they were written. The system gets the tokens alone; it parses and links them as it always does.

Aligning a development set under given settings. Parses and word links come from the cache, so that only the search
is done again from one trial to the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path

from forestalign.batch.workers import Worker, Workers, map_ordered
from forestalign.config import AlignConfig
from forestalign.dependencies import unlabelled_heads
from forestalign.errors import AnnotationError, NoParseError
from forestalign.evaluation.annotated_pairs import AnnotatedPair, AnnotatedSentence, phrase_answer, read_annotations
from forestalign.evaluation.parse_scores import Attachments, score_attachments
from forestalign.evaluation.phrase_scores import (
    Judgement,
    Match,
    PhraseSet,
    RootReached,
    judge,
    phrase_set,
    score_humans,
    score_phrases,
    score_reachability,
)
from forestalign.evaluation.projection import (
    GoldKind,
    ProjectedGold,
    SpanPair,
    choose_annotators,
    judge_contents,
    project_spans,
    projected_gold,
    score_annotators,
    score_projected,
)
from forestalign.evaluation.scores import Evaluation, combine
from forestalign.evaluation.written_pairs import WrittenJudge, WrittenPair, read_written, score_written
from forestalign.forest import best_tree, one_best
from forestalign.formats.lines import read_text_lines
from forestalign.formats.pairs import PairRecord
from forestalign.formats.word_links import GoldPair, read_gold_links
from forestalign.machine import with_one_thread
from forestalign.pair_cache import PairCache, cache_corpus, read_cached
from forestalign.phrases.prepared_pair import PreparedPair
from forestalign.phrases.stage import PhraseStage, load_stage
from forestalign.tokens import Sentence, Span
from forestalign.trees import Tree
from forestalign.words import CANDIDATE
from forestalign.words.alignment import WordAlignment


@dataclass(frozen=True, slots=True)
class Answer:
    """What is scored of one aligned pair."""

    phrases: PhraseSet  # of spans
    spans: frozenset[SpanPair]
    source_heads: tuple[int, ...]  # unlabelled dependencies of the chosen trees
    target_heads: tuple[int, ...]
    root: RootReached


@dataclass(frozen=True, slots=True)
class AnnotatedJudge:
    """The annotators' answers for one pair, by span."""

    answers: tuple[PhraseSet, ...]

    def judgements(self, spans: frozenset[SpanPair]) -> list[Judgement]:
        """Counts against each two annotators (section 6.3)."""
        return [judge(spans, left.pairs & right.pairs, left.pairs | right.pairs) for left, right in self._references()]

    def is_right(self, pair: SpanPair) -> float:
        """The share of references that allow the pair."""
        references = self._references()
        return sum(pair in left.pairs | right.pairs for left, right in references) / len(references)

    def _references(self) -> list[tuple[PhraseSet, PhraseSet]]:
        return list(combinations(self.answers, 2)) or [(self.answers[0], self.answers[0])]


@dataclass(frozen=True, slots=True)
class ProjectedJudge:
    """The phrase gold of one pair by each annotator's word links."""

    gold: tuple[ProjectedGold, ...]

    def judgements(self, spans: frozenset[SpanPair]) -> list[Judgement]:
        """Counts against each annotator, matched by the links that pairs hold."""
        return [judge_contents(spans, reference) for reference in self.gold]

    def is_right(self, pair: SpanPair) -> float:
        """The share of annotators whose links allow the pair."""
        return sum(reference.allows(pair) for reference in self.gold) / len(self.gold)


Judge = AnnotatedJudge | ProjectedJudge | WrittenJudge


def risk(judge: Judge, spans: frozenset[SpanPair]) -> float:
    """Required pairs that are missing plus given pairs that are wrong, averaged over references."""
    counts = judge.judgements(spans)
    return sum(each.required - each.found + each.given - each.allowed for each in counts) / len(counts)


@dataclass(frozen=True, slots=True)
class AnnotatedSet:
    """Pairs whose phrases people aligned over gold trees."""

    name: str
    records: tuple[PairRecord, ...]
    annotators: tuple[tuple[PhraseSet, ...], ...]
    gold: tuple[tuple[Attachments, Attachments], ...]  # of the gold trees

    def evaluate(self, answers: Sequence[Answer]) -> Evaluation:
        """Phrases by span against the annotators, attachments of the chosen trees, reachability."""
        return combine(
            [
                score_phrases([answer.phrases for answer in answers], self.annotators),
                self._attachments(answers),
                score_reachability([answer.root for answer in answers]),
            ]
        )

    def judges(self) -> tuple[AnnotatedJudge, ...]:
        """What judges the answers, pair by pair."""
        return tuple(map(AnnotatedJudge, zip(*self.annotators, strict=True)))

    def human(self) -> Evaluation | None:
        """The human row: each of three annotators against the other two; None where there are not three."""
        return score_humans(self.annotators) if len(self.annotators) == 3 else None

    def _attachments(self, answers: Sequence[Answer]) -> Evaluation:
        """UAS, one row per pair of sentences as everywhere else."""
        gold, system = [], []
        for (source, target), answer in zip(self.gold, answers, strict=True):
            words, shift = source.words + target.words, len(source.words)
            gold.append(Attachments(words, source.heads + _shifted(target.heads, shift)))
            system.append(Attachments(words, answer.source_heads + _shifted(answer.target_heads, shift)))
        return score_attachments(gold, system)


@dataclass(frozen=True, slots=True)
class ProjectedSet:
    """Pairs with human word links, and the phrase gold that they give on the 1-best trees."""

    name: str
    records: tuple[PairRecord, ...]
    gold: tuple[tuple[ProjectedGold, ...], ...]  # by annotator, then pair

    def evaluate(self, answers: Sequence[Answer]) -> Evaluation:
        """Core and consistent pairs of the projected gold, and reachability."""
        outputs = [[answer.spans for answer in answers]] * len(self.gold)
        return combine([score_projected(outputs, self.gold), score_reachability([answer.root for answer in answers])])

    def judges(self) -> tuple[ProjectedJudge, ...]:
        """What judges the answers, pair by pair."""
        return tuple(map(ProjectedJudge, zip(*self.gold, strict=True)))

    def human(self) -> Evaluation | None:
        """Each of two annotators against the other; None where there are not two."""
        return score_annotators(self.gold) if len(self.gold) == 2 else None


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """Pairs whose phrases were marked while they were written."""

    name: str
    records: tuple[PairRecord, ...]
    pairs: tuple[WrittenPair, ...]

    def evaluate(self, answers: Sequence[Answer]) -> Evaluation:
        """Phrases by span against the marks, and reachability."""
        found = score_written([answer.spans for answer in answers], self.pairs)
        return combine([found, score_reachability([answer.root for answer in answers])])

    def judges(self) -> tuple[WrittenJudge, ...]:
        """What judges the answers, pair by pair."""
        return tuple(map(WrittenJudge, self.pairs))

    def human(self) -> None:
        """There is one writer for each pair."""


DevelopmentSet = AnnotatedSet | ProjectedSet | WrittenSet
BestTrees = Callable[[Sequence[PairRecord]], Sequence[tuple[Tree, Tree]]]


def read_development(
    path: str | Path,
    best_trees: BestTrees,
    annotators: Sequence[str] = (),
    limit: int = 0,
    kind: GoldKind = GoldKind.FAIR,
) -> DevelopmentSet:
    """Annotated pairs or word links, told apart by the first line.

    `best_trees` gives the 1-best trees of word-linked pairs; `annotators` are those whose links to use, each a
    reference of its own (none: the gold); `kind` says what possible links count for.
    """
    first = _first_record(path)
    if isinstance(first.get("source"), dict):
        return _annotated(path, tuple(islice(read_annotations(path), limit or None)))
    if "phenomena" in first:
        return _written(path, tuple(islice(read_written(path), limit or None)))
    return _projected(path, list(islice(read_gold_links(path), limit or None)), best_trees, annotators, kind)


def _first_record(path: str | Path) -> dict[str, object]:
    """The first line as a JSON object; empty where it is none."""
    for _, text in read_text_lines(path):
        try:
            first = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return first if isinstance(first, dict) else {}
    raise AnnotationError(path, None, "is empty; a development set needs at least one pair")


def _written(path: str | Path, pairs: tuple[WrittenPair, ...]) -> WrittenSet:
    records = (
        _record(number, pair.record.id, pair.source.tokens, pair.target.tokens)
        for number, pair in enumerate(pairs, start=1)
    )
    return WrittenSet(Path(path).name, tuple(records), pairs)


def _annotated(path: str | Path, pairs: Sequence[AnnotatedPair]) -> AnnotatedSet:
    counts = {len(pair.annotations) for pair in pairs}
    if len(counts) != 1 or counts == {0}:
        raise AnnotationError(path, None, f"pairs have {sorted(counts)} annotators; expected one number above 0")
    return AnnotatedSet(
        Path(path).name,
        tuple(_record(pair.line, pair.id, pair.source.tokens, pair.target.tokens) for pair in pairs),
        tuple(
            tuple(phrase_set(phrase_answer(pair, pair.annotations[index]), Match.SPAN) for pair in pairs)
            for index in range(counts.pop())
        ),
        tuple((_attachments(pair.source), _attachments(pair.target)) for pair in pairs),
    )


def _projected(
    path: str | Path, pairs: Sequence[GoldPair], best_trees: BestTrees, annotators: Sequence[str], kind: GoldKind
) -> ProjectedSet:
    chosen = [choose_annotators(path, pair, annotators) for pair in pairs]
    records = tuple(
        _record(number, pair.id, links[0].source, links[0].target)
        for number, (pair, links) in enumerate(zip(pairs, chosen, strict=True), start=1)
    )
    gold = projected_gold(chosen, best_trees(records), kind)
    return ProjectedSet(Path(path).name, records, gold)


def _record(number: int, identity: str, source: Sequence[str], target: Sequence[str]) -> PairRecord:
    return PairRecord(number, identity, Sentence.from_words(source), Sentence.from_words(target))


def _attachments(sentence: AnnotatedSentence) -> Attachments:
    return Attachments(sentence.tokens, unlabelled_heads(sentence.tree))


def _shifted(heads: tuple[int, ...], by: int) -> tuple[int, ...]:
    """Heads of a second sentence, numbered after the first; roots stay roots."""
    return tuple(head if head < 0 else head + by for head in heads)


CHUNK = 8


def prepared_pairs(
    records: Sequence[PairRecord], folder: Path, config: AlignConfig, workers: Workers | None = None
) -> list[Path]:
    """The cache files of all pairs, parsed where they are not there yet; every pair has to have a parse."""
    paths = []
    for record, path in cache_corpus(records, PairCache(folder, config), workers):
        if not isinstance(path, Path):
            raise NoParseError(f"pair {record.id}: {path}; every pair of a development set must have a parse")
        paths.append(path)
    return paths


def best_trees(paths: Sequence[Path]) -> list[tuple[Tree, Tree]]:
    """The parser's 1-best trees of cached pairs."""
    return [(best_tree(pair.source), best_tree(pair.target)) for pair in map(read_cached, paths)]


def align_cached(pair: PreparedPair, stage: PhraseStage) -> Answer:
    """The answer of the search for one pair."""
    best = stage.align(pair).phrases
    special = frozenset((each.source, each.target) for each in best.pairs if not each.compositional)
    spans = frozenset((each.source, each.target) for each in best.pairs)
    return Answer(
        PhraseSet(spans, special),
        spans,
        unlabelled_heads(best.source_tree),
        unlabelled_heads(best.target_tree),
        RootReached(best.reached_root, best.completed),
    )


def project_cached(pair: PreparedPair) -> Answer:
    """The answer of the `project` baseline, on the 1-best trees; unlikely links would only harm it."""
    source, target = one_best(pair.source), one_best(pair.target)
    likely = WordAlignment(tuple(link for link in pair.words if link.stage != CANDIDATE))
    spans = project_spans(source, target, likely)
    whole = Span(0, len(source.sentence)), Span(0, len(target.sentence))
    return Answer(
        PhraseSet(spans),
        spans,
        unlabelled_heads(best_tree(source)),
        unlabelled_heads(best_tree(target)),
        RootReached(whole in spans, False),
    )


@dataclass(frozen=True, slots=True)
class ConfiguredPaths:
    """Pairs to align, and the settings to align them with."""

    config: AlignConfig
    paths: tuple[Path, ...]


@dataclass(slots=True)
class DevelopmentWorker:
    """Aligns cached pairs; a model and its lexicon are loaded once per process."""

    loaded: dict[tuple[str, ...], PhraseStage] = field(default_factory=dict)

    @with_one_thread
    def __call__(self, task: ConfiguredPaths) -> list[Answer]:
        config = task.config
        key = (config.model, config.vectors, config.scoring, config.scores, config.ppdb)
        if key not in self.loaded:
            self.loaded[key] = load_stage(task.config)
        stage = replace(self.loaded[key], config=task.config)
        return [align_cached(read_cached(path), stage) for path in task.paths]


def align_development(
    worker: Worker[ConfiguredPaths, list[Answer]],
    paths: Sequence[Path],
    config: AlignConfig,
    workers: Workers | None = None,
) -> list[Answer]:
    """The answers for all pairs, in order."""
    tasks = (ConfiguredPaths(config, tuple(paths[k : k + CHUNK])) for k in range(0, len(paths), CHUNK))
    return [answer for answers in map_ordered(worker, tasks, workers) for answer in answers]
