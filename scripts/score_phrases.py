"""Phrase scores on gold made from human word links: system, human row and `project` baseline, set by set.

    python scripts/score_phrases.py OUT msr-rte2.dev.jsonl.gz:A,C edinburgh.train.jsonl.gz mtref.dev.jsonl.gz

OUT is a folder with one file of phrase records for each set (`msr-rte2.dev.jsonl`). Files that are missing are made
with `forestalign align`; what follows `--` goes to that command. The 1-best trees are kept in OUT as well. With
`--against OTHER`, a second folder of outputs stands beside the first, with p-values.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from forestalign.cli import main as command
from forestalign.evaluation.phrase_report import TreeFiles, evaluate_projected, read_or_parse
from forestalign.evaluation.report import as_text, measured, signature
from forestalign.evaluation.significance import SAMPLES
from forestalign.formats.lines import write_lines
from forestalign.formats.word_links import read_gold_links
from forestalign.trees import format_brackets


def main() -> int:
    args = _arguments()
    folders = [Path(args.out), *([Path(args.against)] if args.against else [])]
    for gold in args.gold:
        path, _, names = gold.partition(":")
        annotators = names.split(",") if names else []
        stem = Path(path).name.removesuffix(".gz").removesuffix(".jsonl")
        outputs = [str(_output(folder, stem, path, args.align)) for folder in folders]
        trees = _trees(folders[0], stem, path, annotators)
        evaluations, rows = evaluate_projected(path, outputs, annotators, trees, baseline=True)
        named = list(zip([folder.name for folder in folders], evaluations, strict=True))
        label = signature({"set": stem, "annotators": "+".join(annotators) or "gold"}, path)
        print(as_text(measured(label, named, np.random.default_rng(0), args.samples, rows)), end="\n\n", flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", help="folder of outputs and trees")
    parser.add_argument("gold", nargs="+", metavar="GOLD[:ANNOTATORS]", help="word links, e.g. msr.jsonl.gz:A,C")
    parser.add_argument("--against", default="", metavar="OTHER", help="a second folder of outputs, to compare")
    parser.add_argument("-B", "--samples", type=int, default=SAMPLES)
    own = sys.argv[1:]
    at = own.index("--") if "--" in own else len(own)
    args = parser.parse_args(own[:at])
    args.align = own[at + 1 :]
    return args


def _output(folder: Path, stem: str, gold: str, options: list[str]) -> Path:
    path = folder / f"{stem}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists() and command(["align", gold, "--json", "-o", str(path), *options]) != 0:
        raise SystemExit(f"{path}: aligning {gold} failed")
    return path


def _trees(folder: Path, stem: str, gold: str, annotators: list[str]) -> TreeFiles:
    """The 1-best trees of the words that the annotators saw, parsed once."""
    files = folder / f"{stem}.source.mrg", folder / f"{stem}.target.mrg"
    if not all(file.exists() for file in files):
        chosen = [pair.by(annotators[0]) if annotators else pair.gold for pair in read_gold_links(gold)]
        trees = read_or_parse([(links.source, links.target) for links in chosen], None)
        for side, file in enumerate(files):
            write_lines(file, [format_brackets(pair[side]) for pair in trees])
    return str(files[0]), str(files[1])


if __name__ == "__main__":
    sys.exit(main())
