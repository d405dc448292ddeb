"""Print the scores of our word aligners, of the papers' baselines and of other programs on gold links, in one table.

    python scripts/compare_words.py msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz
    python scripts/compare_words.py msr-rte2.dev.jsonl.gz --text msrp.tsv --encoder DIR --only best,meteor,simalign

P, R and F1 are macro averages over pairs, of sure links; E is the share of pairs without any mistake; p is approximate
randomisation on F1 against `best`. Each method works in a process of its own on pairs that are parsed already: pairs
per second of its processor time, and the most memory that it took, models included (Linux only). `ibm` needs the
package eflomal and learns from the gold file's sentences, and from the pairs of --text; `ted` needs apted; `simalign`
needs simalign and a folder with an encoder.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from forestalign.config import DEFAULT_CONFIG
from forestalign.evaluation.significance import compare
from forestalign.evaluation.word_scores import Links, score_words
from forestalign.formats import PairRecord, read_pairs
from forestalign.learning.word_gold import GoldSet, read_sets
from forestalign.words import Analysis
from forestalign.words.baselines.word_models import corpus_links
from forestalign.words.linking import WordLinker

Pairs = Sequence[tuple[Analysis, Analysis]]
Method = Callable[[Pairs], list[Links]]
OURS = {
    "best": {"profile": "best"},
    "published": {"profile": "published"},
    "paper": {"profile": "paper"},
    "crf": {"links": "crf"},
    "dictionary": {"links": "dictionary"},
    "meteor": {"links": "meteor"},
    "ted": {"links": "ted"},
    "similarity argmax": {"links": "similarity", "matching": "argmax"},
    "similarity itermax": {"links": "similarity", "matching": "itermax"},
    "similarity match": {"links": "similarity", "matching": "match"},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The links of a method, and what they took."""

    links: list[Links]
    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", nargs="+", metavar="FILE[:WEIGHT[:N]]", help="gold links; of N the first N pairs")
    parser.add_argument("--only", default="", metavar="A,B", help="only these methods (with best, to compare with)")
    parser.add_argument("--text", nargs="*", default=[], metavar="FILE", help="more pairs for ibm to learn from")
    parser.add_argument("--encoder", default="", metavar="DIR", help="folder of the encoder for simalign")
    parser.add_argument("--ppdb", default="", metavar="FILE", help="a list of paraphrases for those that take one")
    args = parser.parse_args()
    methods = all_methods(args)
    for gold_set in read_sets(args.gold, None):
        print(f"{gold_set.name}, {len(gold_set.pairs)} pairs\n")
        print_table(gold_set, methods)


def all_methods(args: argparse.Namespace) -> dict[str, Method]:
    """The methods that are asked for and installed, `best` first."""
    found: dict[str, Method] = {name: partial(by_linker, settings, args.ppdb) for name, settings in OURS.items()}
    if not importlib.util.find_spec("apted"):
        del found["ted"]
    if importlib.util.find_spec("eflomal"):
        found["ibm (eflomal)"] = partial(by_eflomal, args.text)
    if args.encoder and importlib.util.find_spec("simalign"):
        found["simalign"] = partial(by_simalign, args.encoder)
    wanted = [name.strip() for name in args.only.split(",") if name.strip()]
    return {name: method for name, method in found.items() if not wanted or name == "best" or name in wanted}


def by_linker(settings: dict[str, Any], ppdb: str, pairs: Pairs) -> list[Links]:
    linker = WordLinker(DEFAULT_CONFIG.replace(**settings, ppdb=ppdb))
    return [frozenset(linker.link(*pair).pairs) for pair in pairs]


def by_eflomal(texts: Sequence[str], pairs: Pairs) -> list[Links]:
    corpus = [(source.sentence, target.sentence) for source, target in pairs]
    more = [record for text in texts for record in read_pairs(text) if isinstance(record, PairRecord)]
    found = corpus_links([*corpus, *((record.source, record.target) for record in more)])
    return [frozenset(links.pairs) for links in found[: len(pairs)]]


def by_simalign(encoder: str, pairs: Pairs) -> list[Links]:
    import simalign

    aligner = simalign.SentenceAligner(
        model=encoder, token_type="bpe", matching_methods="i", layer=layer_of(Path(encoder))
    )
    words = [(list(source.sentence.words), list(target.sentence.words)) for source, target in pairs]
    return [frozenset(aligner.get_word_aligns(*pair)["itermax"]) for pair in words]


def layer_of(encoder: Path) -> int:
    """The layer that SimAlign takes of an encoder with twelve, the eighth, and the like of smaller ones."""
    count = json.loads((encoder / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]
    return min(8, 2 * int(count) // 3)


# ---- measuring ----


def measured(method: Method, pairs: Pairs) -> Answer:
    """The method in a process of its own; what happens once is not counted in the time."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(method, pairs, send))
    process.start()
    try:
        answer: Answer = receive.recv()
    finally:
        process.join()
    return answer


def _measure(method: Method, pairs: Pairs, send: Connection) -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # what went before the fork does not count
    before = _kilobytes("VmRSS")
    method(pairs[:3])
    seconds = _seconds()
    links = method(pairs)
    seconds = _seconds() - seconds
    below = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    send.send(Answer(links, seconds, max(0, _kilobytes("VmHWM") - before, below) / 1024))


def _kilobytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _seconds() -> float:
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + below.ru_utime + below.ru_stime


def print_table(gold_set: GoldSet, methods: dict[str, Method]) -> None:
    print("| method | P | R | F1 | E | p | pairs/s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    best = None
    for name, method in methods.items():
        answer = measured(method, gold_set.pairs)
        scores = score_words(gold_set.gold, answer.links)
        best = best or scores
        row = [f"{100 * scores[column]:.1f}" for column in ("P", "R", "F1", "E")]
        p_value = next(c.p_value for c in compare(best, scores, np.random.default_rng(0)) if c.name == "F1")
        rate = len(gold_set.pairs) / answer.seconds
        print(
            f"| {name} | {' | '.join(row)} | {'' if scores is best else f'{p_value:.4f}'} | {rate:.0f} "
            f"| {answer.megabytes:.0f} |",
            flush=True,
        )
    print()


if __name__ == "__main__":
    main()
