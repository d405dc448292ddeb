"""Learn grammar/unit_scores.npz, the score of pairs of stretches of text, from marked phrases (extra `train`).

    python scripts/train_units.py annotations/written.jsonl -o grammar/unit_scores.npz

Three things are learned (forestalign/phrases/result/unit_pairs.py): which stretches are marked at all; the scores of
their pairs, as `train_spans.py` learns those of nodes; and, with scores that were learned from the other half, how
likely a pair is right that the alignment does not have. A pair that is neither marked nor contradicts a mark counts
little, as wrong. The figures printed are of pairs whose split is dev; only the last constant is chosen with them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from train_spans import Example, SpanModel, add_options, learn

import forestalign
from forestalign.arrays import FloatArray
from forestalign.evaluation.written_pairs import Words, WrittenJudge, WrittenPair, read_written, span_of
from forestalign.phrases.evidence.phrase_evidence import block_links, read_forest, rule_evidence
from forestalign.phrases.result.unit_pairs import (
    HIDDEN,
    SURE,
    TABLES,
    Nodes,
    Stretches,
    candidate_pairs,
    choose_units,
    stretches_of,
)
from forestalign.phrases.scoring.schema import NodeArrays
from forestalign.phrases.scoring.span_scores import SpansToScore, checked_weights
from forestalign.phrases.search.hypotheses import Derivation
from forestalign.tokens import Span

UNJUDGED = 0.1  # weight of a pair about which the marks say nothing


class Aligned(NamedTuple):
    """A written pair with its nodes and its alignment; `phrases` are in one piece, without marks at their edges."""

    pair: WrittenPair
    phrases: list[tuple[Span, Span]]
    nodes: Nodes
    readings: Any
    links: FloatArray
    derivation: Derivation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="written pairs")
    args = add_options(parser).parse_args()
    torch.set_num_threads(1)
    arrays = learn_units(read_aligned(args.file), args)
    if args.output:
        np.savez(args.output, **arrays)


def read_aligned(path: Path) -> list[Aligned]:
    """The pairs of a file, aligned."""
    pairs, aligner, found = list(read_written(path)), forestalign.load(), []
    rows = [(str(k), list(pair.source.tokens), list(pair.target.tokens), None) for k, pair in enumerate(pairs)]
    prepared: list[Any] = [each for at in range(0, len(rows), 32) for each in aligner.prepare(rows[at : at + 32])]
    for own, pair in zip(prepared, pairs, strict=True):
        result: Any = aligner.align_prepared(own)
        links = block_links(own.source, own.target, own.words, rule_evidence(result.correspondences))
        nodes = NodeArrays.of(own.source), NodeArrays.of(own.target)
        readings = read_forest(own.source), read_forest(own.target)
        both = [(bare(one, pair.source.tokens), bare(other, pair.target.tokens)) for one, other in pair.phrases]
        phrases = [(one, other) for one, other in both if one and other]
        found.append(Aligned(pair, phrases, nodes, readings, links, result.phrases.derivation))
    return found


def bare(words: Words, tokens: Sequence[str]) -> Span | None:
    """The span of words without marks of punctuation at its edges, if they are adjacent."""
    said = [word for word in words if any(map(str.isalnum, tokens[word]))]
    return span_of(words & frozenset(range(min(said), max(said) + 1))) if said else None


def learn_units(pairs: list[Aligned], args: argparse.Namespace) -> dict[str, Any]:
    """All weights of unit_scores.npz."""
    readings = [reading for each in pairs for reading in each.readings]
    tags = sorted({tag for each in readings for tag in each.sentence.tags})
    relations = sorted({name.partition(":")[0] for each in readings for name in each.dependencies.relations})
    numbers = [{name: k + 1 for k, name in enumerate(names)} for names in (tags, relations)]
    sides = [[SpansToScore.of(nodes) for nodes in each.nodes] for each in pairs]
    found = [
        [stretches_of(*one, *numbers) for one in zip(own, each.readings, strict=True)]
        for own, each in zip(sides, pairs, strict=True)
    ]
    tables = learn_tables(pairs, found, (len(tags), len(relations)))
    units = [example(*each, tables) for each in zip(pairs, sides, found, strict=True)]
    train, dev = ([k for k, each in enumerate(units) if each.is_dev == is_dev] for is_dev in (False, True))
    rows: list[Any] = []
    for own, other in ((train[::2], train[1::2]), (train[1::2], train[::2])):
        rows += judge_pairs(learn([units[k] for k in own], [units[k] for k in dev], args), pairs, units, other)
    model = learn([units[k] for k in train], [units[k] for k in dev], args)
    confidence = learn_confidence(rows, judge_pairs(model, pairs, units, dev))
    return tables | {"tags": np.array(tags), "relations": np.array(relations)} | model.arrays() | confidence


def learn_tables(pairs: list[Aligned], found: list[list[Stretches]], counts: tuple[int, int]) -> dict[str, Any]:
    """What says whether a stretch is marked at all: a logistic model with a weight for each edge, cut arc and node."""
    sizes = {"opening": (counts[0] + 1) ** 2, "inward": 2 * counts[1] + 2}
    sizes |= {"closing": sizes["opening"], "outward": sizes["inward"]}
    tables: dict[str, Any] = {
        name: torch.zeros(shape[0] or sizes[name], requires_grad=True) for name, shape in TABLES.items()
    }
    optimiser = torch.optim.AdamW(list(tables.values()), lr=0.02, weight_decay=0.02)
    rows = []
    for each, sides in zip(pairs, found, strict=True):
        for number, own in enumerate(sides if each.pair.record.split != "dev" else ()):
            marked, spans = {phrase[number] for phrase in each.phrases}, zip(own.begin, own.end, strict=True)
            rows.append((own, torch.tensor([float(span in marked) for span in spans])))
    for number in range(3):
        random.Random(number).shuffle(rows)
        for at in range(0, len(rows), 16):
            optimiser.zero_grad()
            for own, answer in rows[at : at + 16]:
                cut = torch.tensor(own.inward).float() @ tables["inward"][own.arcs]
                cut = cut + torch.tensor(own.outward).float() @ tables["outward"][own.arcs]
                places = zip(("opening", "closing", "roots", "node", "length"), own.rows, strict=True)
                scores = sum((tables[name][row] for name, row in places), cut)
                functional.binary_cross_entropy_with_logits(scores, answer, reduction="sum").backward()
            optimiser.step()
        optimiser.param_groups[0]["lr"] *= 0.6
    return {name: table.detach().numpy().astype(np.float16).astype(np.float32) for name, table in tables.items()}


def example(each: Aligned, sides: list[SpansToScore], found: list[Stretches], tables: dict[str, Any]) -> Example:
    """The tensors of a pair whose spans are units."""
    one, other = (choose_units(*side, tables) for side in zip(sides, found, strict=True))
    places = [{span: k for k, span in enumerate(zip(own.begin, own.end, strict=True))} for own in (one, other)]
    both = [(places[0].get(left), places[1].get(right)) for left, right in each.phrases]
    partners = [(left, right) for left, right in both if left is not None and right is not None]
    added = each.pair.source.added, each.pair.target.added
    lonely = [
        [k for span, k in own.items() if words.issuperset(range(*span))]
        for own, words in zip(places, added, strict=True)
    ]
    return Example(each.pair.record.split == "dev", one, other, each.links, partners, (lonely[0], lonely[1]))


def judge_pairs(model: SpanModel, pairs: list[Aligned], units: list[Example], chosen: Sequence[int]) -> list[Any]:
    """Features of pairs that no alignment has, whether each is right, and how much it counts."""
    weights, rows = checked_weights(model.arrays()), []
    for own, each in ((pairs[k], units[k]) for k in chosen):
        found = candidate_pairs(each.source, each.target, each.links, own.nodes, own.derivation, weights)
        judge = WrittenJudge(own.pair)
        for left, right, features in zip(*found, strict=True):
            one, other = (Span(side.begin[k], side.end[k]) for side, k in ((each.source, left), (each.target, right)))
            is_right = (one, other) in own.phrases
            rows.append((features, is_right, 1.0 if is_right or judge.contradicts(one, other) else UNJUDGED))
    return rows


def learn_confidence(rows: list[Any], dev: list[Any]) -> dict[str, Any]:
    """A small network from the features of pairs to how likely they are right; prints what it is worth on others."""
    features, right, weight = (torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*rows, strict=True))
    mean, spread = features.mean(0), features.std(0) + 1e-6
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(features.shape[1], HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    for _ in range(12):
        order = torch.randperm(len(features))
        for at in range(0, len(order), 512):
            own = order[at : at + 512]
            optimiser.zero_grad()
            scores = model((features[own] - mean) / spread)[:, 0]
            loss = functional.binary_cross_entropy_with_logits(scores, right[own], weight[own], reduction="sum")
            (loss / weight[own].sum()).backward()
            optimiser.step()
        optimiser.param_groups[0]["lr"] *= 0.8
    features, right, weight = (torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*dev, strict=True))
    with torch.no_grad():
        scores, judged, shift = model((features - mean) / spread)[:, 0], weight == 1, torch.zeros(1)
        for _ in range(300):  # of what is judged on dev as much is right as is expected
            shift += (right - torch.sigmoid(scores + shift))[judged].mean()
        sure = torch.sigmoid(scores + shift) >= SURE
    counts = [int((sure & each).sum()) for each in (right > 0, (right == 0) & judged, ~judged)]
    print("dev, sure pairs that are right, wrong, not judged: {}, {}, {}".format(*counts), flush=True)
    last = torch.cat([model[2].weight[0], model[2].bias + shift])
    parts = {"mean": mean, "spread": spread, "layer": model[0].weight, "layer_bias": model[0].bias, "last": last}
    return {name: part.detach().numpy().astype(np.float32) for name, part in parts.items()}


if __name__ == "__main__":
    main()
