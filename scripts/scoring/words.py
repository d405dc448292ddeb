"""Word links against gold links."""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forestalign.config import DEFAULT_CONFIG
from forestalign.errors import UsageError
from forestalign.evaluation.scores import SAMPLES, Evaluation
from forestalign.evaluation.word_scores import GoldLinks, Links, score_words
from forestalign.formats.word_links import read_gold_links
from forestalign.grammar import parser_hash
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.words import PROFILES, Analysis, analyse_parse
from forestalign.words.linking import WordLinker
from scoring.phrases import p_value

Words = tuple[str, ...]
LinkFinder = Callable[[Analysis, Analysis], Links]
COLUMNS = ("P", "R", "F1", "E")
TOGETHER = 1024  # sentences that are parsed until the file is written again


def print_words(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Word links: P, R, F1 (macro averages over pairs, sure links) and E, the share of pairs without a mistake.

        score.py words msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --rows best published crf similarity

    p is approximate randomisation on F1 against the first row; pairs a second are of processor time on parsed pairs.
    """
    parser.add_argument("gold", nargs="+", metavar="FILE[:WEIGHT[:N]]", help="gold links; of N the first N pairs")
    parser.add_argument("--rows", nargs="+", default=["best", "published", "paper"], metavar="NAME",
                        help="profiles and other methods")  # fmt: skip
    parser.add_argument(
        "--ppdb", default="", metavar="FILE", help="a list of paraphrases for the methods that take one"
    )
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE and reuse them")
    args = parser.parse_args(arguments)
    finders = [(row, link_finder(row, args.ppdb)) for row in args.rows]
    for part in read_sets(args.gold, args.cache):
        print(f"{part.name}: {len(part.pairs)} pairs")
        first: Evaluation | None = None
        for row, find in finders:
            find(*part.pairs[0])
            begin = time.process_time()
            system = [find(*pair) for pair in part.pairs]
            rate = len(system) / (time.process_time() - begin)
            scores = score_words(part.gold, system)
            cells = "  ".join(f"{name} {100 * scores[name]:5.2f}" for name in COLUMNS)
            cell = "" if first is None else f"p {p_value(first, scores, SAMPLES):.4f}"
            first = first or scores
            print(f"  {row:20}{cells}  {cell:9} {rate:6.0f} pairs/s", flush=True)


def link_finder(row: str, ppdb: str) -> LinkFinder:
    """A profile, or another method by its name."""
    settings: dict[str, Any] = {"profile": row} if row in PROFILES else {"links": row}
    linker = WordLinker(DEFAULT_CONFIG.replace(ppdb=ppdb, **settings))
    return lambda source, target: frozenset(linker.link(source, target).pairs)


# ---- sets of gold links ----


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A file of gold links, analysed."""

    name: str
    weight: float
    pairs: tuple[tuple[Analysis, Analysis], ...]
    gold: tuple[GoldLinks, ...]


def analyse_all(sentences: Iterable[Words], path: Path | None) -> dict[Words, Analysis]:
    """All sentences that have a parse; those of the present parser are kept in a file, a pickle that only we read."""
    known: dict[Words, Analysis] = {}
    if path is not None and path.exists():
        parser_name, kept = pickle.loads(path.read_bytes())
        known = kept if parser_name == parser_hash() else {}
    missing = sorted(set(sentences) - known.keys(), key=lambda words: (len(words), words))
    parser = load_parser(DEFAULT_CONFIG.replace(nbest=1))
    for begin in range(0, len(missing), TOGETHER):
        parses = parser.parse([Sentence.from_words(words) for words in missing[begin : begin + TOGETHER]])
        known |= {parse.sentence.words: analyse_parse(parse) for parse in parses if not parse.error}
        if path is not None:
            path.write_bytes(pickle.dumps((parser_hash(), known)))
    return known


def read_sets(files: Sequence[str], cache: Path | None) -> list[GoldSet]:
    """All files (FILE[:WEIGHT[:PART]]), their sentences parsed; the tokens of the majority vote where they differ."""
    named, golds = [], []
    for text in files:
        path, weight, part = _file_weight_part(text)
        named.append((path, weight))
        golds.append([pair.gold for pair in read_gold_links(path)][part])
    words = {words for gold in golds for pair in gold for words in (pair.source, pair.target)}
    analyses = analyse_all(sorted(words), cache)
    return [
        GoldSet(
            path.name.split(".jsonl")[0],
            weight,
            tuple((analyses[pair.source], analyses[pair.target]) for pair in gold),
            tuple(
                GoldLinks(str(number), pair.source, pair.target, frozenset(pair.sure), frozenset(pair.possible))
                for number, pair in enumerate(gold)
            ),
        )
        for (path, weight), gold in zip(named, golds, strict=True)
    ]


def _file_weight_part(text: str) -> tuple[Path, float, slice]:
    name, weight, part, *more = [*text.split(":"), "", ""]
    begin, _, end = part.rpartition("-")
    try:
        if any(more):
            raise ValueError(text)
        return Path(name), float(weight or 1), slice(int(begin or 0), int(end) if end else None)
    except ValueError as error:
        raise UsageError(
            f"gold {text!r}; expected FILE, FILE:WEIGHT, FILE:WEIGHT:N or FILE:WEIGHT:BEGIN-END"
        ) from error
