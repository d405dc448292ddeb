"""Training runs of the CRF word aligners: gold, its tags, both directions, a checkpoint to resume from, the card.

L-BFGS keeps its history to itself, but it is deterministic: given the same answers it asks the same questions. So the
checkpoint holds every answer of the objective. A resumed run starts from the beginning, is answered from the
checkpoint, and computes again only where that ends: the weights are those of a run that was never cut off, to the bit.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from forestalign.arrays import FloatArray
from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import InputError, UsageError, counted
from forestalign.formats.word_links import GOLD, GoldPair, LinkAnnotation, format_link_line, read_gold_links
from forestalign.learning.checkpoints import Arrays, Checkpoint, checkpoint_path, is_checkpoint, training
from forestalign.outputs import SideFile
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.words.crf import load_crf
from forestalign.words.crf.crf_aligner import CrfModel, ModelCard, load_resources, write_model
from forestalign.words.crf.feature_space import FAMILIES, FeatureSpace, feature_space
from forestalign.words.crf.training import (
    DIRECTIONS,
    PAIR_LIST_FEATURES,
    Loss,
    PartlyFree,
    TrainingPair,
    TrainSettings,
    fingerprint,
    synthetic_phrases,
    train,
)

REPORT_EVERY = 10  # iterations
TOGETHER = 1024  # sentences that are parsed at a time
KEPT_EVERY = 5  # answers of the objective


@dataclass(frozen=True, slots=True)
class CrfGold:
    """Files of gold links, and whether their sentences get tags."""

    gold: tuple[str, ...]
    possible: bool = False  # possible links count as sure ones
    no_parser: bool = False  # no tags


@dataclass(frozen=True, slots=True, kw_only=True)
class CrfPlan(CrfGold):
    """Everything that determines a training run; the options of `forestalign crf train` under the same names."""

    sample: tuple[int, ...] = ()  # pairs of each file; 0 takes all
    weights: tuple[float, ...] = ()  # of the pairs of each file
    seed: int = 0  # of the samples
    output: str
    phrase: bool = False
    longest: int = 3
    synthetic: bool = False
    by_kind: bool = False
    start: str = ""
    without: tuple[str, ...] = ()
    ppdb: str = ""
    l2: float = TrainSettings().l2
    iterations: int = TrainSettings().iterations
    jobs: int = 1
    resume: bool = False
    quiet: bool = False


def read_training_pairs(plan: CrfPlan) -> list[TrainingPair]:
    """The pairs of all files, each file with its weight and its share."""
    count = len(plan.gold)
    weights, sizes = plan.weights or [1.0] * count, plan.sample or [0] * count
    if len(weights) != count or min(weights) <= 0:
        raise UsageError(
            f"--weights has {list(weights)} for {counted(count, 'gold file')}; expected one above 0 for each"
        )
    if len(sizes) != count or min(sizes) < 0:
        raise UsageError(
            f"--sample has {list(sizes)} for {counted(count, 'gold file')}; expected one for each, 0 or more"
        )
    annotations = [
        (weight, gold)
        for path, weight, size in zip(plan.gold, weights, sizes, strict=True)
        for gold in _sample([pair.gold for pair in read_gold_links(path)], size, plan.seed)
    ]
    sentences = tag_sentences(plan, [gold for _, gold in annotations])
    return [
        TrainingPair(
            sentences[gold.source],
            sentences[gold.target],
            tuple(sorted({*gold.sure, *(gold.possible if plan.possible else ())})),
            weight,
        )
        for weight, gold in annotations
    ]


def _sample(gold: list[LinkAnnotation], size: int, seed: int) -> list[LinkAnnotation]:
    if not size or size >= len(gold):
        return gold
    chosen = np.random.default_rng(seed).choice(len(gold), size, replace=False)
    return [gold[number] for number in sorted(chosen.tolist())]


def tag_sentences(plan: CrfGold, annotations: Sequence[LinkAnnotation]) -> dict[tuple[str, ...], Sentence]:
    """The sentences with tags and lemmas, or plain where they have no parse."""
    found = {words: Sentence.from_words(words) for each in annotations for words in (each.source, each.target)}
    listed = [] if plan.no_parser else sorted(found.values(), key=lambda sentence: (len(sentence), sentence.words))
    parser = load_parser(DEFAULT_CONFIG.replace(nbest=1)) if listed else None
    for begin in range(0, len(listed), TOGETHER):
        assert parser is not None
        for parse in parser.parse(listed[begin : begin + TOGETHER]):
            if not parse.error:
                found[parse.sentence.words] = replace(parse.sentence, vectors=None, context_vectors=None)
    return found


def synthesise_gold(plan: CrfGold) -> Iterator[str]:
    """Phrase gold from token gold: one JSON line per pair."""
    for path in plan.gold:
        pairs = list(read_gold_links(path))
        sentences = tag_sentences(plan, [pair.gold for pair in pairs])
        for pair in pairs:
            gold = pair.gold
            token = TrainingPair(sentences[gold.source], sentences[gold.target], gold.sure)
            filled = LinkAnnotation(GOLD, gold.source, gold.target, synthetic_phrases(token).links, gold.possible)
            yield format_link_line(GoldPair(pair.id, (filled,)))


def train_crf(plan: CrfPlan) -> None:
    """Train a model on gold links and write it; progress goes to stderr."""
    record = SideFile(checkpoint_path(Path(plan.output)), is_checkpoint)
    with training(Path(plan.output), record, filter(None, (*plan.gold, plan.start, plan.ppdb))):
        _train(plan)


def _train(plan: CrfPlan) -> None:
    space = _space(plan)
    settings = TrainSettings(l2=plan.l2, iterations=plan.iterations, processes=plan.jobs)
    pairs = read_training_pairs(plan)
    if plan.synthetic:
        pairs = [synthetic_phrases(pair) for pair in pairs]
    if not pairs:
        raise UsageError(f"no gold pairs in {', '.join(plan.gold)}")
    key = f"{_description(plan, settings)}, data {fingerprint(pairs):08x}, {len(space)} weights"
    answers = _Answers(Checkpoint(checkpoint_path(Path(plan.output)), key), len(space) + 2, plan.resume)
    if answers.rows and not plan.quiet:
        print(f"{counted(len(answers.rows), 'evaluation')} recalled from {answers.kept.path}", file=sys.stderr)
    weights: dict[str, FloatArray] = {}
    for direction in DIRECTIONS:
        weights[direction] = _train_direction(plan, space, settings, direction, pairs, weights, answers)
    names = tuple(Path(path).name for path in plan.gold)
    card = ModelCard(names, len(pairs), _description(plan, settings))
    write_model(CrfModel(space, weights["s2t"], weights["t2s"], card=card), plan.output)


def _train_direction(
    plan: CrfPlan,
    space: FeatureSpace,
    settings: TrainSettings,
    direction: str,
    pairs: list[TrainingPair],
    done: Mapping[str, FloatArray],
    answers: _Answers,
) -> FloatArray:
    """The second direction starts from the first one's weights: most are alike, and that saves iterations."""
    earlier = next(iter(done.values()), None)
    start = load_crf(plan.start).model.weights_in(space, direction, earlier) if plan.start else earlier
    hide = plan.quiet or not sys.stderr.isatty()
    with tqdm(total=settings.iterations, desc=direction, disable=hide, leave=False) as bar:

        def report(iteration: int, objective: float) -> None:
            bar.update()
            bar.set_postfix(objective=f"{objective:.1f}")
            if hide and not plan.quiet and iteration % REPORT_EVERY == 0:
                print(f"{direction} iteration {iteration}: objective {objective:.2f}", file=sys.stderr)

        weights = train(pairs, direction, space, load_resources(), settings, start, report, answers)
    if not plan.ppdb:
        return weights
    listed = PartlyFree(weights, np.array([name.rpartition("/")[2] in PAIR_LIST_FEATURES for name in space.names]))
    return train(pairs, direction, space, load_resources(plan.ppdb), settings, listed, answer=answers)


class _Answers:
    """What the objective answered, in the order in which it was asked: checksum of the point, value, gradient."""

    def __init__(self, kept: Checkpoint, width: int, resume: bool):
        self.kept, self._width, self._asked = kept, width, 0
        self.rows = (kept.read(self._rows_of) if resume else None) or []

    def __call__(self, objective: Loss, point: FloatArray) -> tuple[float, FloatArray]:
        check, self._asked = zlib.crc32(point.tobytes()), self._asked + 1
        if self._asked <= len(self.rows):
            row = self.rows[self._asked - 1]
            if row[0] != check:
                raise InputError(self.kept.path, None, "holds another run; start anew without --resume, or remove it")
            return float(row[1]), row[2 : 2 + len(point)].copy()
        value, gradient = objective(point)
        row = np.zeros(self._width)
        row[0], row[1], row[2 : 2 + len(gradient)] = check, value, gradient
        self.rows.append(row)
        if len(self.rows) % KEPT_EVERY == 0:
            self.kept.write({"answers": np.array(self.rows)})
        return value, gradient

    def _rows_of(self, content: Arrays) -> list[FloatArray]:
        return list(content["answers"].reshape(-1, self._width))


def _description(plan: CrfPlan, settings: TrainSettings) -> str:
    """The settings, for the card and for the checkpoint."""
    parts = [f"l2={settings.l2} iterations={settings.iterations}"]
    parts += [f"longest={plan.longest}"] if plan.phrase else []
    parts += [name for name in ("by_kind", "possible", "synthetic") if getattr(plan, name)]
    parts += ["untagged"] if plan.no_parser else []
    parts += [f"weights={','.join(map(str, plan.weights))}"] if plan.weights else []
    parts += [f"sample={','.join(map(str, plan.sample))} seed={plan.seed}"] if plan.sample else []
    parts += [f"without={','.join(sorted(plan.without))}"] if plan.without else []
    parts += [f"start={Path(plan.start).name}"] if plan.start else []
    parts += [f"ppdb={Path(plan.ppdb).name}"] if plan.ppdb else []
    return " ".join(parts)


def _space(plan: CrfPlan) -> FeatureSpace:
    longest = plan.longest if plan.phrase else 1
    families = tuple(family for family in FAMILIES if family not in plan.without)
    return feature_space(families, longest, longest, plan.by_kind)
