"""Learn the weights of phrase features from pairs of sentences, by feature-enhanced Viterbi EM.

    forestalign train pairs.tsv -o my-model.json.gz --jobs 2
    forestalign align pairs.tsv --model my-model.json.gz

Pairs are parsed once and kept in a folder (--cache). After every batch a checkpoint is written beside the model;
--resume goes on from it. --start begins with the weights of a model instead of none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from tqdm import tqdm

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.cli.batch_options import add_worker_options, opened_workers
from forestalign.errors import UsageError
from forestalign.features import EXTRAS, FeatureSet
from forestalign.formats import PairRecord, read_pairs
from forestalign.learning import EmSettings
from forestalign.model import load_model, save_model
from forestalign.training import PairCache, cache_corpus, card_of, train_model


def configure(parser: argparse.ArgumentParser) -> None:
    plain = EmSettings()
    parser.add_argument("pairs", nargs="+", help="files of pairs: tab, ' ||| ', or JSON lines")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file to write")
    parser.add_argument("--tokenized", action="store_true", help="words are what stands between spaces")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file")
    parser.add_argument("--cache", default=".cache/forestalign", metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("--start", metavar="MODEL", help="begin with the weights of this model")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint beside the output")
    parser.add_argument("--no-lexical", action="store_true", help="without feature 1, the pairs of words")
    parser.add_argument(
        "--extras", default=",".join(EXTRAS), metavar="LIST", help=f"further features, of {', '.join(EXTRAS)}"
    )
    for name, kind in (("batch_size", int), ("passes", int), ("l2", float), ("min_count", int), ("em_seed", int)):
        default = getattr(plain, name.removeprefix("em_"))
        # names of their own, since settings of the aligner are read from the arguments by name
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=f"em_{name.removeprefix('em_')}",
            type=kind,
            default=default,
            metavar="N",
        )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress line")
    add_settings(parser)
    add_worker_options(parser)


def run(args: argparse.Namespace) -> int:
    config = config_of(args)
    settings = EmSettings(
        batch_size=args.em_batch_size,
        passes=args.em_passes,
        l2=args.em_l2,
        min_count=args.em_min_count,
        seed=args.em_seed,
    )
    extras = tuple(name for name in args.extras.split(",") if name)
    if not set(extras) <= set(EXTRAS):
        raise UsageError(f"--extras is {args.extras!r}; expected some of {', '.join(EXTRAS)}")
    output = Path(args.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    show = sys.stderr.isatty() and not args.quiet
    with opened_workers(args) as workers:
        paths, failed = [], 0
        records = _records(args)
        cached = cache_corpus(records, PairCache(Path(args.cache), config), workers)
        for record, path in tqdm(cached, desc="parse", unit=" pairs", disable=not show):
            if isinstance(path, Path):
                paths.append(path)
            else:
                failed += 1
                print(f"line {record.number} ({record.id}): {path}", file=sys.stderr)
        with tqdm(total=len(paths) * settings.passes, desc="align", unit=" pairs", disable=not show) as bar:

            def notify(message: str, count: int) -> None:
                bar.set_postfix_str(message, refresh=False)
                bar.update(count)
                if not show and not count and not args.quiet:
                    print(message, file=sys.stderr)

            report = train_model(
                paths,
                config,
                settings,
                output.with_suffix(".checkpoint.npz"),
                start=load_model(args.start) if args.start else None,
                features=FeatureSet(not args.no_lexical, extras),
                resume=args.resume,
                workers=workers,
                notify=notify,
            )
    names = [Path(name).name for name in args.pairs]
    card = card_of(report, settings, Aligner(config).signature, names, date.today().isoformat())
    save_model(report.model, output, card)
    print(f"{output}: {report.pair_count} pairs, objective {report.history[-1][1]:.4f}", file=sys.stderr)
    return 1 if failed else 0


def _records(args: argparse.Namespace) -> Iterator[PairRecord]:
    for name in args.pairs:
        count = 0
        for record in read_pairs(name, args.tokenized):
            if not isinstance(record, PairRecord):
                print(f"{name}: line {record.number}: {record.message}", file=sys.stderr)
                continue
            count += 1
            if args.limit and count > args.limit:
                break
            yield record
