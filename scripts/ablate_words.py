"""Ablations of Table 3 of Sultan et al. (2014) and the parameter grid of section 3.3.5, for a profile of the pipeline.

python scripts/ablate_words.py msr-rte2.dev.jsonl.gz edinburgh.train.jsonl.gz --ppdb ppdb.tsv.gz
python scripts/ablate_words.py msr-rte2.dev.jsonl.gz --ppdb ppdb.tsv.gz --grid
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from gold_options import add_gold_options

from forestalign.config import DEFAULT_CONFIG, AlignConfig
from forestalign.learning.word_gold import GoldSet, macro_line, read_sets
from forestalign.words import WordAligner
from forestalign.words.similarity import Sources
from forestalign.words.sultan.candidates import ALL_STAGES, Stages
from forestalign.words.word_aligner import profile_sources

STEPS = tuple(step / 10 for step in range(1, 11))


def ablations(sources: Sources) -> list[tuple[str, Sources, Stages]]:
    """The rows of Table 3: what is left, and its name."""
    exact = replace(sources, pairs=None, wordnet=None, vectors=None, function=None)
    return [
        ("all", sources, ALL_STAGES),
        ("- word similarity", exact, ALL_STAGES),
        ("- contextual evidence", sources, Stages(dependencies=False, text=False)),
        ("- dependencies", sources, Stages(dependencies=False)),
        ("- text neighbourhood", sources, Stages(text=False)),
        ("- stop words", sources, Stages(stop_words=False)),
    ]


def print_ablations(config: AlignConfig, sets: list[GoldSet]) -> None:
    for name, sources, stages in ablations(profile_sources(config)):
        aligner = WordAligner(config, sources, stages)
        for gold_set in sets:
            print(f"{name:<24}{gold_set.name:<18}{scores(aligner, gold_set)}")


def print_grid(config: AlignConfig, sets: list[GoldSet]) -> None:
    """ppdbSim and w from 0.1 to 1."""
    for level in STEPS:
        sources = replace(profile_sources(config), level=level)
        for weight in STEPS:
            aligner = WordAligner(config, sources, weight=weight)
            for gold_set in sets:
                print(f"ppdbSim {level:.1f}  w {weight:.1f}  {gold_set.name:<18}{scores(aligner, gold_set)}")


def scores(aligner: WordAligner, gold_set: GoldSet) -> str:
    return macro_line(gold_set.gold, [frozenset(aligner.align(*pair).pairs) for pair in gold_set.pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_gold_options(parser)
    parser.add_argument("--profile", choices=("paper", "published"), default="published")
    parser.add_argument("--grid", action="store_true", help="the parameter grid instead of the ablations")
    args = parser.parse_args()
    config = DEFAULT_CONFIG.replace(profile=args.profile, ppdb=args.ppdb)
    (print_grid if args.grid else print_ablations)(config, read_sets(args.gold, args.cache))


if __name__ == "__main__":
    main()
