"""Cross-validation of the CRF word aligners: every pair is aligned by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from forestalign.batch import Processes, Worker, map_ordered
from forestalign.config import AlignConfig
from forestalign.errors import InputError, counted
from forestalign.evaluation.scores import Evaluation
from forestalign.evaluation.sentence_scores import read_sentence_gold, score_paraphrases, tune_threshold
from forestalign.formats import BadRecord, read_pairs
from forestalign.formats.pairs import PairFormat
from forestalign.grammar import parser_hash
from forestalign.parsers import load_parser
from forestalign.words.crf import (
    FAMILIES,
    CrfAligner,
    CrfModel,
    TrainingPair,
    TrainSettings,
    feature_space,
    load_resources,
    train,
)
from forestalign.words.crf.analysis_store import AnalysisStore

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Folds:
    """How pairs are dealt into folds, and what is trained on all but one of them."""

    longest: int = 1  # words of a span; 1 is the token model
    without: tuple[str, ...] = ()  # families of features
    settings: TrainSettings = TrainSettings()  # noqa: RUF009 - frozen
    count: int = 5
    seed: int = 0
    ppdb: str = ""
    by_kind: bool = False

    def held_out(self, pair_count: int, fold: int) -> list[int]:
        """The numbers of the pairs of a fold."""
        order: list[int] = np.random.default_rng(self.seed).permutation(pair_count).tolist()
        return order[fold :: self.count]


def cross_validate(
    pairs: Sequence[TrainingPair], others: Sequence[TrainingPair], folds: Folds, jobs: int = 1
) -> list[dict[str, Links]]:
    """For each pair the links of every combination of directions; the other pairs are in every training part."""
    worker = Worker.of(partial(_align_fold, pairs, others, folds))
    with Processes(jobs) as processes:
        parts = list(map_ordered(worker, range(folds.count), processes if jobs > 1 else None))
    found = {number: links for part in parts for number, links in part.items()}
    return [found[number] for number in range(len(pairs))]


def _align_fold(
    pairs: Sequence[TrainingPair], others: Sequence[TrainingPair], folds: Folds, fold: int
) -> dict[int, dict[str, Links]]:
    held_out = folds.held_out(len(pairs), fold)
    training = [pairs[number] for number in sorted(set(range(len(pairs))) - set(held_out))] + list(others)
    families = tuple(family for family in FAMILIES if family not in folds.without)
    space = feature_space(families, folds.longest, folds.longest, folds.by_kind)
    resources = load_resources(folds.ppdb)
    forward = train(training, "s2t", space, resources, folds.settings)
    backward = train(training, "t2s", space, resources, folds.settings, forward)
    found = align_all_ways(CrfModel(space, forward, backward), [pairs[number] for number in held_out], folds.ppdb)
    return dict(zip(held_out, found, strict=True))


def align_all_ways(model: CrfModel, pairs: Sequence[TrainingPair], ppdb: str = "") -> list[dict[str, Links]]:
    """For each pair one decoding, put together in every way."""
    aligner = CrfAligner(model, load_resources(ppdb))
    return [
        {name: frozenset(links.pairs) for name, links in aligner.align_all(pair.source, pair.target).items()}
        for pair in pairs
    ]


# ---- is it a paraphrase? ----


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs of sentences, tokenized, of which people have said whether they are paraphrases."""

    sides: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    labels: tuple[bool, ...]


def read_labelled_pairs(path: str) -> LabelledPairs:
    """JSON lines with `source` and `target` (texts or lists of words) and `paraphrase`, plain or gzipped."""
    labels = read_sentence_gold(path).paraphrases
    sides = []
    for record in read_pairs(path, form=PairFormat.JSON):
        if isinstance(record, BadRecord):
            raise InputError(path, record.number, record.message)
        sides.append((record.source.words, record.target.words))
    if len(sides) != len(labels):
        raise InputError(path, None, f"{len(labels)} judgements for {counted(len(sides), 'pair')}")
    return LabelledPairs(tuple(sides), labels)


def decision_scores(
    aligner: CrfAligner, pairs: LabelledPairs, analyses: str = "", no_parser: bool = False
) -> list[float]:
    """The decision score of each pair; tags, lemmas and the vectors that the model needs are kept in the file."""
    store = AnalysisStore(analyses or None, parser_hash() if aligner.model.space.is_contextual else "")
    if not no_parser:
        store.analyse([words for pair in pairs.sides for words in pair], load_parser(AlignConfig(nbest=1)))
    return [aligner.decision_score(store.sentence(source), store.sentence(target)) for source, target in pairs.sides]


def validate_threshold(labels: Sequence[bool], scores: Sequence[float], folds: Folds) -> Evaluation:
    """Accuracy and F1 of a threshold on the decision score that is tuned on the other folds."""
    margins = list(scores)
    for fold in range(folds.count):
        asked = folds.held_out(len(labels), fold)
        known = sorted(set(range(len(labels))) - set(asked))
        threshold = tune_threshold([labels[number] for number in known], [scores[number] for number in known])
        for number in asked:
            margins[number] -= threshold
    return score_paraphrases(labels, margins, 0.0)
