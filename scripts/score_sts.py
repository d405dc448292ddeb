"""Pearson correlation of sentence scores (section 4.2 of Sultan et al. 2014) with human similarity.

    python scripts/score_sts.py stsb.dev.jsonl.gz --ppdb ppdb.tsv.gz

Input: JSON lines with `source`, `target` (texts) and `score`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from forestalign.config import DEFAULT_CONFIG
from forestalign.learning.word_gold import analyse_all
from forestalign.tokens import tokenize
from forestalign.words import PROFILES, WordAligner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--ppdb", default="", metavar="FILE", help="a PPDB-format list of word pairs")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep analyses in FILE (.npz) and reuse them")
    args = parser.parse_args()
    with gzip.open(args.file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [(tokenize(row["source"]).words, tokenize(row["target"]).words) for row in rows]
    analyses = analyse_all(sorted({words for pair in pairs for words in pair}), args.cache)
    human = [row["score"] for row in rows]
    for profile in (name for name in PROFILES if name != "fast"):
        aligner = WordAligner(DEFAULT_CONFIG.replace(profile=profile, ppdb=args.ppdb))
        scores = []
        for source, target in pairs:
            left, right = analyses[source], analyses[target]
            scores.append(asdict(aligner.scores(left, right, aligner.align(left, right))))
        for name in ("proportion", "harmonic", "weighted"):
            pearson = np.corrcoef(human, [score[name] for score in scores])[0, 1]
            print(f"{profile:<10} {name:<12} r {pearson:.4f}", flush=True)


if __name__ == "__main__":
    main()
