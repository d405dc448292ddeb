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
from forestalign.evaluation.annotated_pairs import AnnotatedPair, phrase_answer, read_annotations
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
from forestalign.phrases.stage import PhraseStage, PreparedPair, load_stage
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
class DevelopmentSet:
    """Pairs with what judges the answers to them, how these are scored together, and the human row if there is one."""

    name: str
    records: tuple[PairRecord, ...]
    judges: tuple[Judge, ...]
    scores: Callable[[Sequence[Answer]], Sequence[Evaluation]]
    human: Evaluation | None = None

    def evaluate(self, answers: Sequence[Answer]) -> Evaluation:
        """The scores of this kind of gold, and reachability."""
        return combine([*self.scores(answers), score_reachability([answer.root for answer in answers])])


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
        return _annotated_set(path, tuple(islice(read_annotations(path), limit or None)))
    if "phenomena" in first:
        return _written_set(path, tuple(islice(read_written(path), limit or None)))
    return _projected_set(path, list(islice(read_gold_links(path), limit or None)), best_trees, annotators, kind)


def _first_record(path: str | Path) -> dict[str, object]:
    """The first line as a JSON object; empty where it is none."""
    for _, text in read_text_lines(path):
        try:
            first = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return first if isinstance(first, dict) else {}
    raise AnnotationError(path, None, "is empty; a development set needs at least one pair")


def _written_set(path: str | Path, pairs: tuple[WrittenPair, ...]) -> DevelopmentSet:
    """Pairs whose phrases were marked while they were written: phrases by span against the marks."""
    records = tuple(
        _record(number, pair.record.id, pair.source.tokens, pair.target.tokens)
        for number, pair in enumerate(pairs, start=1)
    )

    def scores(answers: Sequence[Answer]) -> list[Evaluation]:
        return [score_written([answer.spans for answer in answers], pairs)]

    return DevelopmentSet(Path(path).name, records, tuple(map(WrittenJudge, pairs)), scores)


def _annotated_set(path: str | Path, pairs: Sequence[AnnotatedPair]) -> DevelopmentSet:
    """Phrases by span against the annotators, and attachments of the chosen trees."""
    counts = {len(pair.annotations) for pair in pairs}
    if len(counts) != 1 or counts == {0}:
        raise AnnotationError(path, None, f"pairs have {sorted(counts)} annotators; expected one number above 0")
    people = [
        [phrase_set(phrase_answer(pair, pair.annotations[index]), Match.SPAN) for pair in pairs]
        for index in range(counts.pop())
    ]

    gold = [
        _heads_of_pair(each, unlabelled_heads(each.source.tree), unlabelled_heads(each.target.tree)) for each in pairs
    ]

    def scores(answers: Sequence[Answer]) -> list[Evaluation]:
        both = zip(pairs, answers, strict=True)
        chosen = [_heads_of_pair(pair, each.source_heads, each.target_heads) for pair, each in both]
        return [score_phrases([each.phrases for each in answers], people), score_attachments(gold, chosen)]

    records = tuple(_record(pair.line, pair.id, pair.source.tokens, pair.target.tokens) for pair in pairs)
    judges = tuple(map(AnnotatedJudge, zip(*people, strict=True)))
    human = score_humans(people) if len(people) == 3 else None
    return DevelopmentSet(Path(path).name, records, judges, scores, human)


def _heads_of_pair(pair: AnnotatedPair, source: tuple[int, ...], target: tuple[int, ...]) -> Attachments:
    """Heads of both sentences as one, those of the second numbered after the first; roots stay roots."""
    shift = len(pair.source.tokens)
    shifted = tuple(head if head < 0 else head + shift for head in target)
    return Attachments(pair.source.tokens + pair.target.tokens, source + shifted)


def _projected_set(
    path: str | Path, pairs: Sequence[GoldPair], best_trees: BestTrees, annotators: Sequence[str], kind: GoldKind
) -> DevelopmentSet:
    """Core and consistent pairs of the gold that is projected from word links."""
    chosen = [choose_annotators(path, pair, annotators) for pair in pairs]
    records = tuple(
        _record(number, pair.id, links[0].source, links[0].target)
        for number, (pair, links) in enumerate(zip(pairs, chosen, strict=True), start=1)
    )
    gold = projected_gold(chosen, best_trees(records), kind)

    def scores(answers: Sequence[Answer]) -> list[Evaluation]:
        return [score_projected([[answer.spans for answer in answers]] * len(gold), gold)]

    judges = tuple(map(ProjectedJudge, zip(*gold, strict=True)))
    human = score_annotators(gold) if len(gold) == 2 else None
    return DevelopmentSet(Path(path).name, records, judges, scores, human)


def _record(number: int, identity: str, source: Sequence[str], target: Sequence[str]) -> PairRecord:
    return PairRecord(number, identity, Sentence.from_words(source), Sentence.from_words(target))


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
