"""The ablation of Table 3: the whole system, with each part taken away or each option changed, and the baselines.

    python scripts/ablate_phrases.py annotations/dev.jsonl
    python scripts/ablate_phrases.py mtref.dev.jsonl.gz msr-rte2.dev.jsonl.gz:A,C --model my-model.json.gz

A file holds annotated pairs, or human word links from which phrase gold is projected. The system parses and links the
tokens by itself; both are kept in the cache folder, so a row costs only its search. p-values are of approximate
randomisation on F1 against the row "proposed". A file called test.jsonl is scored only when --test is given: it is for
the final figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.aligner import Aligner
from forestalign.cli.align_options import add_settings, config_of
from forestalign.config import HAND_SET, AlignConfig, Direction
from forestalign.errors import InputError
from forestalign.evaluation import Evaluation, compare
from forestalign.evaluation.development import Answer, DevelopmentSet, read_development
from forestalign.evaluation.development_answers import (
    align_cached,
    best_trees,
    prepared_pairs,
    project_cached,
)
from forestalign.evaluation.significance import SAMPLES
from forestalign.pair_cache import cache_folder, read_cached
from forestalign.phrases.evidence.phrase_evidence import KINDS
from forestalign.phrases.scoring.model import PhraseModel, load_model
from forestalign.phrases.scoring.pair_features import DENSE, EXTRAS
from forestalign.phrases.stage import load_stage

COLUMNS = ("recall", "precision", "F1", "UAS", "root reached", "root completed")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: settings that differ, and what is done to the model."""

    name: str
    config: AlignConfig
    change: Callable[[PhraseModel], PhraseModel] = lambda model: model


def rows(config: AlignConfig, model: PhraseModel) -> Iterator[Row]:
    """All lines; the first is the system as it is."""
    yield Row("proposed", config)
    yield Row("monotonic", config.replace(monotonic=True))
    yield Row("w/o EM", config.replace(model=HAND_SET))
    yield Row("1-best tree", config.replace(one_best=True))
    for name in ("lifts", "strict"):
        change: dict[str, Any] = {name: not getattr(config, name)}
        yield Row(f"{name} {'on' if change[name] else 'off'}", config.replace(**change))
    other: Direction = "directional" if config.direction == "symmetric" else "symmetric"
    yield Row(other, config.replace(direction=other))
    yield Row("pruned forest", config.replace(forest="pruned"))
    yield Row("local parse score", config.replace(parse_score="local"))
    yield Row("literal penalty", config.replace(penalty="literal"))
    yield Row("literal null normaliser", config.replace(null_normaliser="literal"))
    yield Row("normaliser by node", config.replace(normaliser="node"))
    yield Row("no parse score", config.replace(parse_weight=0.0))
    yield Row("no link score", config.replace(link_weight=0.0))
    yield Row("tree edit distance", config.replace(search="ted"))
    yield Row("no evidence", config.replace(evidence="none"))
    for kind in KINDS:
        yield Row(f"w/o {kind}", config.replace(evidence=",".join(each for each in KINDS if each != kind)))
    for links in ("dictionary", "union", "crf"):
        yield Row(f"links {links}", config.replace(links=links))
    if len(model.lexical):
        yield Row("w/o lexical", config, without_lexical)
    for extra in model.features.extras:
        yield Row(f"w/o {extra}", config, partial(without_extra, extra=extra))


def without_lexical(model: PhraseModel) -> PhraseModel:
    return replace(model, lexical_keys=(), lexical=np.zeros(0))


def without_extra(model: PhraseModel, extra: str) -> PhraseModel:
    """The weights of a feature set to zero; the others stay, so this is a lower bound of doing without it."""
    weights = model.dense.copy()
    weights[[DENSE.index(name) for name in EXTRAS[extra]]] = 0.0
    return replace(model, dense=weights)


def main() -> int:
    args = _arguments()
    config = config_of(args)
    model = load_model(config.model)
    folder = Path(args.cache)
    for gold in args.gold:
        path, _, names = gold.partition(":")
        if Path(path).name.startswith(("test.", "natural.")) and not args.test:
            raise SystemExit(f"{path} is for the final scores; --test scores it all the same")
        development = read_development(
            path,
            lambda records: best_trees(prepared_pairs(records, folder, config.replace(mutual=False))),
            names.split(",") if names else (),
            args.limit,
        )
        _print_table(development, config, model, folder, args)
    return 0


def _print_table(
    development: DevelopmentSet, config: AlignConfig, model: PhraseModel, folder: Path, args: argparse.Namespace
) -> None:
    print(f"{development.name}: {len(development.records)} pairs")
    print("  ".join([f"{'':24}", *(f"{name:>14}" for name in (*COLUMNS, "p"))]))
    human = development.human()
    if human is not None:
        _print_row("human", human)
    paths = prepared_pairs(development.records, folder, config)
    _print_row("project", development.evaluate([project_cached(read_cached(path)) for path in paths]))
    proposed: Evaluation | None = None
    for row in rows(config, model):
        if args.rows and row.name not in args.rows and proposed is not None:
            continue
        try:
            evaluation = development.evaluate(_answers(row, model, development, folder))
        except InputError as error:  # a model that is not installed
            print(f"{row.name:24}  left out: {error}", flush=True)
            continue
        proposed = proposed or evaluation
        _print_row(row.name, evaluation, None if proposed is evaluation else _p_value(proposed, evaluation, args))
    print(f"\n{Aligner(config).signature}\n", flush=True)


def _answers(row: Row, model: PhraseModel, development: DevelopmentSet, folder: Path) -> list[Answer]:
    changed = load_model(HAND_SET) if row.config.model == HAND_SET else row.change(model)
    stage = load_stage(row.config, changed)
    paths = prepared_pairs(development.records, folder, row.config)
    return [align_cached(read_cached(path), stage) for path in paths]


def _p_value(proposed: Evaluation, evaluation: Evaluation, args: argparse.Namespace) -> float:
    comparisons = compare(proposed, evaluation, np.random.default_rng(args.seed), args.samples)
    return next(comparison.p_value for comparison in comparisons if comparison.name == "F1")


def _print_row(name: str, evaluation: Evaluation, p_value: float | None = None) -> None:
    known = {score.name: score.value for score in evaluation.scores()}
    cells = [f"{100 * known[column]:14.2f}" if column in known else f"{'-':>14}" for column in COLUMNS]
    last = f"{p_value:14.4f}" if p_value is not None else f"{'':14}"
    print("  ".join([f"{name:24}", *cells, last]).rstrip(), flush=True)


def _arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="+", metavar="GOLD[:ANNOTATORS]", help="annotated pairs, or word links")
    parser.add_argument("--cache", default=str(cache_folder()), metavar="DIR", help="folder of parsed pairs")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N pairs of each file")
    parser.add_argument("--rows", action="append", default=[], metavar="NAME", help="only this row (may be repeated)")
    parser.add_argument("--test", action="store_true", help="score test.jsonl, too")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES, help="shuffles of a significance test")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the significance tests")
    add_settings(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
