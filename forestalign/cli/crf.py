"""Train the token CRF or the semi-Markov phrase CRF on gold links, and use what only they can do.

Gold is read in any format that `evaluate words` reads. `forestalign words --method crf --model MODEL` aligns with a
trained model; here are training, phrase gold made from token gold, scores of whole pairs and k-best lists.

example:
  forestalign crf train gold.jsonl -o token.json --analyses tags.jsonl
  forestalign crf train gold.jsonl -o phrase.json --phrase --synthetic --analyses tags.jsonl
  forestalign crf synthesise gold.jsonl > phrases.jsonl
  forestalign crf score pairs.tsv
  forestalign crf kbest pairs.tsv --count 5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from tqdm import tqdm

from forestalign.config import AlignConfig
from forestalign.crf import (
    COMBINATIONS,
    DIRECTIONS,
    FAMILIES,
    Costs,
    CrfAligner,
    CrfModel,
    FeatureSpace,
    ModelCard,
    Progress,
    TrainingPair,
    TrainSettings,
    feature_space,
    load_crf,
    load_resources,
    synthetic_phrases,
    train,
    write_model,
)
from forestalign.crf.analysis import AnalysisStore
from forestalign.crf.journal import Journal
from forestalign.crf.lattice import Array
from forestalign.crf.training import PAIR_LIST_FEATURES, fingerprint
from forestalign.errors import UsageError
from forestalign.formats import (
    BadRecord,
    GoldPair,
    LinkAnnotation,
    format_link_line,
    format_pharaoh,
    read_gold_links,
    read_pairs,
)
from forestalign.formats.word_links import GOLD
from forestalign.metrics import GoldLinks, score_words
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence

REPORT_EVERY = 10  # iterations
PARSED_TOGETHER = 32  # pairs


def configure(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="train|synthesise|score|kbest")
    _add_train(kinds.add_parser("train", help="train a model on gold links"))
    synthesise = kinds.add_parser("synthesise", help="phrase gold from token gold, as JSON lines")
    _add_gold(synthesise)
    for name, line in (("score", "one decision score a pair"), ("kbest", "the best alignments of each pair")):
        command = kinds.add_parser(name, help=line)
        command.add_argument("pairs", help="sentence pairs, any pair format; - is stdin")
        command.add_argument(
            "--model",
            default="",
            metavar="FILE",
            help="a trained model, or token or phrase, the shipped ones (default: token)",
        )
        command.add_argument("--ppdb", default="", metavar="FILE", help="a list of word pairs, tab-separated")
        command.add_argument("--tokenized", action="store_true", help="words are separated by spaces already")
        command.add_argument("--no-parser", action="store_true", help="no tags: quicker, less exact")
        if name == "kbest":
            command.add_argument("--count", type=int, default=5, metavar="K", help="alignments a pair (default: 5)")


def _add_gold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", nargs="+", help="gold links: JSON lines, Jacana JSON or MultiMWA TSV; .gz too")
    parser.add_argument("--possible", action="store_true", help="possible links count as sure ones")
    parser.add_argument("--analyses", default="", metavar="FILE", help="keep tags and lemmas in FILE and reuse them")
    parser.add_argument("--no-parser", action="store_true", help="no tags: features of tags and chunks stay silent")


def _add_train(parser: argparse.ArgumentParser) -> None:
    _add_gold(parser)
    defaults = TrainSettings()
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file to write")
    parser.add_argument("--phrase", action="store_true", help="semi-Markov model with spans up to --longest words")
    parser.add_argument("--longest", type=int, default=3, metavar="N", help="Ls and Lt of --phrase (default: 3)")
    parser.add_argument("--synthetic", action="store_true", help="turn matching chunks of the gold into phrases first")
    parser.add_argument("--by-kind", action="store_true", help="weights of their own for each kind of pair")
    parser.add_argument("--start", default="", metavar="MODEL", help="begin with the weights of a model, by name")
    parser.add_argument("--direction", choices=("both", *DIRECTIONS), default="both")
    parser.add_argument("--combination", choices=COMBINATIONS, default="", help="how the model joins its directions")
    parser.add_argument("--without", nargs="+", default=[], choices=FAMILIES, metavar="FAMILY", help="switch off")
    parser.add_argument("--sample", nargs="+", type=int, metavar="N", help="pairs to take of each gold file; 0 is all")
    parser.add_argument("--weights", nargs="+", type=float, metavar="W", help="of the pairs of each gold file")
    parser.add_argument("--ppdb", default="", metavar="FILE", help="fit the weights of a pair list, after the others")
    parser.add_argument("--l2", type=float, default=defaults.l2, help=f"L2 weight (default: {defaults.l2})")
    parser.add_argument("--iterations", type=int, default=defaults.iterations, help="most L-BFGS iterations")
    parser.add_argument("--miss-cost", type=float, default=defaults.costs.miss, help="margin for a missed word")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--held-out", type=float, default=0.0, metavar="SHARE", help="watch F1 on a share of the gold")
    parser.add_argument("--seed", type=int, default=0, help="of --sample and --held-out (default: 0)")
    parser.add_argument("--resume", action="store_true", help="go on where MODEL.journal of an earlier run ends")
    parser.add_argument("--note", default="", help="a line for the card in the model file")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    if args.kind == "train":
        return _train(args)
    if args.kind == "synthesise":
        return _synthesise(args)
    return _use(args)


# ---- gold ----


def _read_gold(args: argparse.Namespace) -> list[TrainingPair]:
    """The pairs of all files, each file with its weight and its share."""
    count = len(args.gold)
    weights, sizes = args.weights or [1.0] * count, args.sample or [0] * count
    if len(weights) != count or min(weights) <= 0:
        raise UsageError(f"--weights has {weights} for {count} gold files; expected one above 0 for each")
    if len(sizes) != count or min(sizes) < 0:
        raise UsageError(f"--sample has {sizes} for {count} gold files; expected one for each, 0 or more")
    annotations = [
        (weight, gold)
        for path, weight, size in zip(args.gold, weights, sizes, strict=True)
        for gold in _sample([pair.gold for pair in read_gold_links(path)], size, args.seed)
    ]
    store = _analysed(args, [gold for _, gold in annotations])
    return [
        TrainingPair(
            store.sentence(gold.source),
            store.sentence(gold.target),
            tuple(sorted({*gold.sure, *(gold.possible if args.possible else ())})),
            weight,
        )
        for weight, gold in annotations
    ]


def _sample(gold: list[LinkAnnotation], size: int, seed: int) -> list[LinkAnnotation]:
    if not size or size >= len(gold):
        return gold
    chosen = np.random.default_rng(seed).choice(len(gold), size, replace=False)
    return [gold[number] for number in sorted(chosen.tolist())]


def _analysed(args: argparse.Namespace, annotations: Sequence[LinkAnnotation]) -> AnalysisStore:
    store = AnalysisStore(args.analyses or None)
    if not args.no_parser:
        sentences = [words for each in annotations for words in (each.source, each.target)]
        store.analyse(sentences, load_parser(AlignConfig(nbest=1)))
    return store


def _synthesise(args: argparse.Namespace) -> int:
    for path in args.gold:
        pairs = list(read_gold_links(path))
        store = _analysed(args, [pair.gold for pair in pairs])
        for pair in pairs:
            gold = pair.gold
            token = TrainingPair(store.sentence(gold.source), store.sentence(gold.target), gold.sure)
            filled = LinkAnnotation(GOLD, gold.source, gold.target, synthetic_phrases(token).links, gold.possible)
            print(format_link_line(GoldPair(pair.id, (filled,))))
    return 0


# ---- training ----


def _train(args: argparse.Namespace) -> int:
    space = _space(args)
    settings = TrainSettings(
        l2=args.l2, iterations=args.iterations, costs=Costs(miss=args.miss_cost), processes=args.jobs
    )
    pairs = _read_gold(args)
    if args.synthetic:
        pairs = [synthetic_phrases(pair) for pair in pairs]
    if not pairs:
        raise UsageError(f"no gold pairs in {', '.join(args.gold)}")
    held_out, pairs = _split(pairs, args.held_out, args.seed)
    run = f"{_description(args, settings)}, data {fingerprint(pairs):08x}"
    with Journal(f"{args.output}.journal", run, len(space), args.resume) as journal:
        run_ = _Run(args, space, settings, held_out, journal)
        for direction in DIRECTIONS if args.direction == "both" else (args.direction,):
            run_.train(direction, pairs)
        model = run_.model(len(pairs))
        write_model(model, args.output)
    journal.remove()
    if held_out and not args.quiet:
        print(f"held out: F1 {_f1(model, held_out):.4f} on {len(held_out)} pairs", file=sys.stderr)
    return 0


def _description(args: argparse.Namespace, settings: TrainSettings) -> str:
    """The settings, for the card and for the journal."""
    costs = settings.costs
    parts = [f"l2={settings.l2} iterations={settings.iterations} miss={costs.miss} direction={args.direction}"]
    parts += [f"longest={args.longest}"] if args.phrase else []
    parts += [name for name in ("by_kind", "possible", "synthetic") if getattr(args, name)]
    parts += ["untagged"] if args.no_parser else []
    parts += [f"weights={','.join(map(str, args.weights))}"] if args.weights else []
    parts += [f"sample={','.join(map(str, args.sample))} seed={args.seed}"] if args.sample else []
    parts += [f"without={','.join(sorted(args.without))}"] if args.without else []
    parts += [f"start={Path(args.start).name}"] if args.start else []
    parts += [f"ppdb={Path(args.ppdb).name}"] if args.ppdb else []
    return " ".join(parts)


def _space(args: argparse.Namespace) -> FeatureSpace:
    longest = args.longest if args.phrase else 1
    families = tuple(family for family in FAMILIES if family not in args.without)
    return feature_space(families, longest, longest, args.by_kind)


def _split(pairs: list[TrainingPair], share: float, seed: int) -> tuple[list[TrainingPair], list[TrainingPair]]:
    if not 0 <= share < 1:
        raise UsageError(f"--held-out is {share}; expected a share from 0 to below 1")
    order = np.random.default_rng(seed).permutation(len(pairs))
    chosen = set(order[: round(share * len(pairs))].tolist())
    held_out = [pair for number, pair in enumerate(pairs) if number in chosen]
    return held_out, [pair for number, pair in enumerate(pairs) if number not in chosen]


class _Run:
    """One training run: progress, and the weights of the directions as they come in."""

    def __init__(
        self,
        args: argparse.Namespace,
        space: FeatureSpace,
        settings: TrainSettings,
        held_out: list[TrainingPair],
        journal: Journal,
    ):
        self._args, self._space, self._settings, self._held_out = args, space, settings, held_out
        self._journal = journal
        self._weights: dict[str, Array] = {}
        self._start = load_crf(args.start).model if args.start else None
        if journal.recalled and not args.quiet:
            print(f"{journal.recalled} evaluations recalled from {args.output}.journal", file=sys.stderr)

    def train(self, direction: str, pairs: list[TrainingPair]) -> None:
        # on a terminal a bar; elsewhere a line now and then
        hide = self._args.quiet or not sys.stderr.isatty()
        space, settings = self._space, self._settings
        with tqdm(total=settings.iterations, desc=direction, disable=hide, leave=False) as bar:

            def report(progress: Progress) -> None:
                bar.update()
                bar.set_postfix(objective=f"{progress.objective:.1f}")
                if progress.iteration % REPORT_EVERY == 0 and hide and not self._args.quiet:
                    self._print_progress(direction, progress)

            resources, start = load_resources(), self._first_weights(direction)
            weights = train(pairs, direction, space, resources, settings, start, report, journal=self._journal)
        if self._args.ppdb:
            listed = np.array([name.rpartition("/")[2] in PAIR_LIST_FEATURES for name in space.names])
            resources = load_resources(self._args.ppdb)
            weights = train(
                pairs, direction, space, resources, settings, weights, trainable=listed, journal=self._journal
            )
        self._weights[direction] = weights

    def _first_weights(self, direction: str) -> Array | None:
        """The second direction starts from the first one's weights: most are alike, and that saves iterations."""
        earlier = next(iter(self._weights.values()), None)
        return earlier if self._start is None else self._start.weights_in(self._space, direction, earlier)

    def _print_progress(self, direction: str, progress: Progress) -> None:
        line = f"{direction} iteration {progress.iteration}: objective {progress.objective:.2f}"
        if self._held_out:
            weights = self._weights | {direction: progress.weights}
            model = CrfModel(self._space, weights.get("s2t"), weights.get("t2s"))
            line += f", held out F1 {_f1(model, self._held_out):.4f}"
        print(line, file=sys.stderr)

    def model(self, pair_count: int) -> CrfModel:
        args = self._args
        names = tuple(Path(path).name for path in args.gold)
        card = ModelCard(names, pair_count, _description(args, self._settings), args.note)
        model = CrfModel(self._space, self._weights.get("s2t"), self._weights.get("t2s"), card=card)
        return model.combined(args.combination) if args.combination else model


def _f1(model: CrfModel, pairs: Sequence[TrainingPair]) -> float:
    aligner = CrfAligner(model, load_resources())
    gold = [GoldLinks("", pair.source.words, pair.target.words, frozenset(pair.links)) for pair in pairs]
    system = [frozenset(aligner.align(pair.source, pair.target).pairs) for pair in pairs]
    return score_words(gold, system)["F1"]


# ---- score and kbest ----


def _use(args: argparse.Namespace) -> int:
    """A pair that fails leaves an empty line among scores, so that line n is pair n; and none among k-best lists."""
    aligner = load_crf(args.model, args.ppdb)
    failed = False
    for number, source, target in _sentences(args):
        if isinstance(source, str):
            print(f"{args.pairs}:{number}: {source}", file=sys.stderr)
            failed = True
            lines = [""] if args.kind == "score" else []
        elif args.kind == "score":
            lines = [f"{aligner.decision_score(source, target):.4f}"]
        else:
            best = enumerate(aligner.k_best(source, target, args.count))
            lines = [f"{number}\t{rank}\t{log_prob:.4f}\t{format_pharaoh(links)}" for rank, (log_prob, links) in best]
        for line in lines:
            print(line)
    return int(failed)


def _sentences(args: argparse.Namespace) -> Iterator[tuple[int, Sentence | str, Sentence]]:
    """Pairs with tags; a bad line has its message in place of the source."""
    parser = None if args.no_parser else load_parser(AlignConfig(nbest=1))
    records = iter(read_pairs(args.pairs, tokenized=args.tokenized))
    while batch := list(islice(records, PARSED_TOGETHER)):
        sides = [side for each in batch if not isinstance(each, BadRecord) for side in (each.source, each.target)]
        parsed = iter(sides if parser is None else [parse.sentence for parse in parser.parse(sides)])
        for record in batch:
            if isinstance(record, BadRecord):
                yield record.number, record.message, Sentence.from_words(())
            else:
                yield record.number, next(parsed), next(parsed)
