"""Gold word links with analysed sentences, for the scripts that score, ablate and train the word aligner.

Parsing takes longer than everything else, so analyses may be kept in a file between runs (`--cache`). The file knows
which parser made them, and starts anew when the shipped one has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forestalign.config import DEFAULT_CONFIG
from forestalign.formats import read_gold_links
from forestalign.grammar import grammar_root
from forestalign.metrics.words import GoldLinks, score_words
from forestalign.parsers import load_parser
from forestalign.tokens import Sentence
from forestalign.word_alignment import Analysis, analyse_parse

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A file of gold links, analysed."""

    name: str
    weight: float
    pairs: tuple[tuple[Analysis, Analysis], ...]
    gold: tuple[GoldLinks, ...]


def add_gold_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "gold",
        nargs="+",
        metavar="FILE[:WEIGHT[:N]]",
        help="gold links, their weight, how many of them",
    )
    parser.add_argument("--ppdb", default="", metavar="FILE", help="a PPDB-format list, to measure with and without it")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE and take them from there")


def read_sets(files: Sequence[str], cache: Path | None) -> list[GoldSet]:
    """All files (FILE[:WEIGHT[:N]]), their sentences parsed; the tokens of the majority vote where they differ."""
    named, golds = [], []
    for text in files:
        name, weight, count, *_ = [*text.split(":"), "", "", ""]
        named.append((Path(name), float(weight or 1)))
        golds.append([pair.gold for pair in read_gold_links(name)][: int(count) if count else None])
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


def analyse_all(sentences: Sequence[tuple[str, ...]], cache: Path | None) -> dict[tuple[str, ...], Analysis]:
    known = _read_cache(cache)
    missing = [words for words in sentences if words not in known]
    if missing:
        parser = load_parser(DEFAULT_CONFIG.with_(nbest=1))
        for begin in range(0, len(missing), 256):
            block = missing[begin : begin + 256]
            for words, parse in zip(block, parser.parse([Sentence.from_words(w) for w in block]), strict=True):
                known[words] = analyse_parse(parse)
        if cache is not None:
            cache.write_bytes(pickle.dumps((parser_hash(), known)))
    return known


def _read_cache(cache: Path | None) -> dict[tuple[str, ...], Analysis]:
    """What is kept of the present parser; nothing of an earlier one."""
    if cache is None or not cache.exists():
        return {}
    made_by, known = pickle.loads(cache.read_bytes())
    return known if made_by == parser_hash() else {}


def parser_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted((grammar_root() / "parser").glob("*.onnx")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def macro_line(gold: Sequence[GoldLinks], system: Sequence[Links]) -> str:
    """P, R, F1 and E in per cent, macro-averaged over pairs, sure links."""
    scores = {score.name: score.value for score in score_words(gold, system).scores()}
    return "  ".join(f"{name} {100 * scores[name]:5.2f}" for name in ("P", "R", "F1", "E"))
