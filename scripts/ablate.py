"""What each part is worth: the whole system, with each part taken away or each option changed, and the baselines.

    python scripts/ablate.py annotations/dev.jsonl mtref.dev.jsonl.gz msr-rte2.dev.jsonl.gz:A,C --limit 100
    python scripts/ablate.py annotations/dev.jsonl --rows "w/o forests" "w/o phrase evidence" --test

A file holds annotated pairs, or human word links from which phrase gold is projected. The scores stay as they ship, and
only the settings of a row are changed; parses and links are kept in the cache folder, so a row costs its search.
p-values are of approximate randomisation on F1 against the first row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scoring.phrases import Row, add_set_options, print_table

from forestalign.cli.align_options import config_of
from forestalign.config import HAND_SET, AlignConfig
from forestalign.phrases.evidence.phrase_evidence import KINDS
from forestalign.phrases.scoring.schema import NAMES
from forestalign.phrases.scoring.score_model import ScoreModel, load_score_model
from forestalign.phrases.stage import load_stage

HEADS = ("heads linked", "heads held", "heads linked elsewhere", "edges without link")


class Variant(NamedTuple):
    """A system: settings that differ, and parts of the scores without a weight."""

    name: str
    settings: dict[str, Any]
    without: tuple[str, ...] = ()


VARIANTS = (
    Variant("proposed", {}),
    Variant("w/o forests", {"one_best": True}),
    Variant("w/o the other's say in forests", {"mutual": False}),
    Variant("w/o non-compositional steps", {"monotonic": True}),
    Variant("w/o lifts", {"lifts": False}),
    Variant("w/o competition of links", {"rivals": False}),
    Variant("w/o rest costs", {"prospect_share": 0.0}),
    Variant("one direction", {"direction": "directional"}),
    Variant("w/o phrase evidence", {"evidence": "none"}),
    *(Variant(f"w/o {kind}", {"evidence": ",".join(each for each in KINDS if each != kind)}) for kind in KINDS),
    Variant("w/o EM model", {}, ("pair: log pr", "null: log pr")),
    Variant("w/o parse score", {}, ("parse",)),
    Variant("w/o heads and edges", {}, tuple(f"pair: {name}" for name in HEADS)),
    Variant("paper's scores", {"scoring": "paper"}),
    Variant("paper's scores, w/o EM", {"scoring": "paper", "model": HAND_SET}),
    *(Variant(f"links {method}", {"links": method}) for method in ("dictionary", "crf")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_options(parser)
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="the first row and these alone")
    args = parser.parse_args()
    names = [variant.name for variant in VARIANTS]
    unknown = [name for name in args.rows if name not in names]
    if unknown:
        parser.error(f"no row is called {unknown[0]!r}; expected some of {', '.join(names)}")
    config = config_of(args)
    variants = [each for each in VARIANTS if not args.rows or each.name in (names[0], *args.rows)]
    print_table(shipped_rows(variants, config), config, args)


def shipped_rows(variants: list[Variant], config: AlignConfig) -> Iterator[Row]:
    """The rows with the scores that ship, some of their weights set to nought."""
    for name, settings, without in variants:
        changed = config.replace(**settings)
        if without:
            is_used = np.array([not {part, part.partition(":")[0]} & set(without) for part in NAMES])
            model = ScoreModel(load_score_model(changed.scores).weights * is_used)
            yield Row(name, changed, load_stage(changed, score_model=model))
        else:
            yield Row(name, changed)


if __name__ == "__main__":
    main()
