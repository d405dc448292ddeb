"""Learn grammar/span_scores.npz, the score of pairs of phrases, from pairs with marked phrases (extra `train`).

    python scripts/train_spans.py annotations/written.jsonl annotations/train.jsonl -o grammar/span_scores.npz

Each marked phrase is asked for its partner among all phrases of the other sentence and null, in both directions
(softmax, cross-entropy). Phrases of words that are marked as added have no partner; neither has a phrase of an
annotated pair that nobody aligned. Pairs of written.jsonl whose split is dev are not learned from; the scores printed
are theirs: how often the partner of a phrase of several words has the highest score in both directions.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import forestalign
from forestalign.arrays import FloatArray
from forestalign.evaluation.annotated_pairs import read_annotations
from forestalign.evaluation.written_pairs import Words, read_written, span_of
from forestalign.phrases.evidence.phrase_evidence import block_links, match_rules, read_forest, rule_evidence
from forestalign.phrases.scoring.schema import NodeArrays
from forestalign.phrases.scoring.span_scores import FEATURE_COUNT, LEAST_CONTENT, LEAST_WEIGHT, SpansToScore

BATCH = 8
NULL_WEIGHT = 0.3  # of a phrase without a partner, beside one with


@dataclass
class Example:
    """A pair as tensors: both sides, links, and which spans are partners or have none."""

    is_dev: bool
    source: SpansToScore
    target: SpansToScore
    links: FloatArray
    partners: list[tuple[int, int]]
    lonely: tuple[list[int], list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="written or annotated pairs")
    args = add_options(parser).parse_args()
    torch.set_num_threads(1)
    examples = [example for path in args.files for example in read_examples(path)]
    dev, train = ([each for each in examples if each.is_dev == is_dev] for is_dev in (True, False))
    random.Random(1).shuffle(train)
    model = learn(train, dev, args)
    if args.output:
        np.savez(args.output, **model.arrays())


def add_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What `train_units.py` shares."""
    parser.add_argument("-o", "--output", type=Path, help="where the weights go")
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--drop", type=float, default=0.25)
    return parser


def read_examples(path: Path) -> list[Example]:
    """The pairs of a file, parsed."""
    rows: list[tuple[Sequence[str], Sequence[str], list[tuple[Words, Words]], tuple[Words, Words] | None, bool]] = []
    with path.open(encoding="utf-8") as lines:
        is_written = isinstance(json.loads(next(lines))["source"], str)
    if is_written:
        for pair in read_written(path):
            added = pair.source.added, pair.target.added
            is_dev = pair.record.split == "dev"
            rows.append((pair.source.tokens, pair.target.tokens, pair.phrases, added, is_dev))
    else:
        for annotated in read_annotations(path):
            spans = {
                (frozenset(range(one.begin, one.end)), frozenset(range(other.begin, other.end)))
                for one, other in annotated.annotations[0].pairs
            }
            rows.append((annotated.source.tokens, annotated.target.tokens, sorted(spans, key=str), None, False))
    aligner = forestalign.load()
    examples = []
    for at in range(0, len(rows), 32):
        chunk = rows[at : at + 32]
        prepared = aligner.prepare([(str(k), list(row[0]), list(row[1]), None) for k, row in enumerate(chunk)])
        examples += [example(pair, *row[2:]) for pair, row in zip(prepared, chunk, strict=True)]
    return examples


def example(pair: Any, phrases: list[tuple[Words, Words]], added: tuple[Words, Words] | None, is_dev: bool) -> Example:
    """The tensors of a parsed pair; `added` is None where all phrases were judged."""
    sides = SpansToScore.of(NodeArrays.of(pair.source)), SpansToScore.of(NodeArrays.of(pair.target))
    evidence = rule_evidence(match_rules(read_forest(pair.source), read_forest(pair.target), pair.words))
    links = block_links(pair.source, pair.target, pair.words, evidence)
    places = [
        {span: k for k, span in enumerate(zip(side.begin.tolist(), side.end.tolist(), strict=True))} for side in sides
    ]
    partners = []
    for one, other in phrases:
        spans = span_of(one), span_of(other)
        if spans[0] in places[0] and spans[1] in places[1]:
            partners.append((places[0][spans[0]], places[1][spans[1]]))
    lonely = []
    for number in (0, 1):
        taken = {each[number] for each in partners}
        if added is None:
            lonely.append(
                [k for k in range(len(sides[number].begin)) if k not in taken and not sides[number].is_bar[k]]
            )
        else:
            lonely.append([k for span, k in places[number].items() if added[number].issuperset(range(*span))])
    return Example(is_dev, *sides, links, partners, (lonely[0], lonely[1]))


class SpanModel(nn.Module):
    """The score of forestalign/phrases/scoring/span_scores.py, with gradients."""

    def __init__(self, dimensions: int, drop: float, has_units: bool = False):
        super().__init__()
        self.word = nn.Linear(dimensions, 96, bias=False)
        self.likeness = nn.Linear(dimensions, 96, bias=False)
        self.span = nn.Linear(480, 64)
        self.weight = nn.Linear(96, 1)
        self.hidden = nn.Linear(FEATURE_COUNT + 3 * has_units, 32)
        self.out = nn.Linear(32, 1)
        self.null = nn.Linear(3 + has_units, 1)
        self.temperature = nn.Parameter(torch.tensor(8.0))
        self.scale = nn.Parameter(torch.tensor(6.0))
        self.drop = nn.Dropout(drop)

    def arrays(self) -> dict[str, Any]:
        """The weights as they are kept."""
        scalars = [self.temperature, self.scale, self.weight.bias[0], self.out.bias[0], self.null.bias[0]]
        found = {
            "word": self.word.weight,
            "likeness": self.likeness.weight,
            "span": self.span.weight,
            "span_bias": self.span.bias,
            "weight": self.weight.weight[0],
            "hidden": self.hidden.weight,
            "hidden_bias": self.hidden.bias,
            "out": self.out.weight[0],
            "null": self.null.weight[0],
        }
        arrays = {name: value.detach().numpy().astype(np.float16) for name, value in found.items()}
        return arrays | {"scalars": np.array([float(each) for each in scalars], np.float32)}

    def side(self, side: SpansToScore) -> dict[str, torch.Tensor]:
        vectors = self.drop(torch.tensor(side.vectors))
        begin, end = torch.tensor(side.begin), torch.tensor(side.end)
        lengths = (end - begin).float()
        words = self.word(vectors)
        around = functional.pad(words, (0, 0, 1, 1))
        mean = sums(words, begin, end) / lengths[:, None]
        parts = torch.cat([mean, words[begin], words[end - 1], around[begin], around[end + 1]], 1)
        units = functional.normalize(self.likeness(vectors), dim=1)
        content = torch.tensor(side.content, dtype=torch.float32)
        weights = functional.softplus(self.weight(torch.tanh(3.0 * units)))[:, 0] * content.clamp(min=LEAST_WEIGHT)
        return {
            "spans": functional.normalize(self.span(parts), dim=1), "words": units, "weights": weights,
            "content": content,
            "begin": begin, "end": end, "lengths": lengths, "category": torch.tensor(side.category),
            "is_bar": torch.tensor(side.is_bar, dtype=torch.float32),
            "plausible": [
                torch.tensor(part, dtype=torch.float32) for part in (side.plausible,) if part is not None
            ],
            "middle": (begin + end) / len(side.content),
        }  # fmt: skip

    def forward(self, each: Example) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        one, other = self.side(each.source), self.side(each.target)
        links = torch.tensor(each.links, dtype=torch.float32)
        likeness = one["spans"] @ other["spans"].T
        shared = torch.exp(self.temperature * (one["words"] @ other["words"].T - 1.0))
        forth = self.explained(one, sums(shared.T, other["begin"], other["end"]).T)
        back = self.explained(other, sums(shared, one["begin"], one["end"]).T).T
        own, their = shares(one, other, links), shares(other, one, links.T)
        layers = [
            likeness, *both(forth, back),
            *both(own["inside"] / own["floor"], (their["inside"] / their["floor"]).T),
            *both(own["leaving"] / own["floor"], (their["leaving"] / their["floor"]).T),
            *both(own["leaving"], their["leaving"].T),
            *both(torch.log1p(own["content"])[:, None], torch.log1p(their["content"])[None]),
            (one["lengths"][:, None] / other["lengths"]).log().abs(),
            (one["category"][:, None] == other["category"]).float(),
            *both((one["lengths"] == 1).float()[:, None], (other["lengths"] == 1).float()[None]),
            *both(one["is_bar"][:, None], other["is_bar"][None]), forth * back,
        ]  # fmt: skip
        for left, right in zip(one["plausible"], other["plausible"], strict=True):
            layers += [*both(left[:, None], right[None]), (one["middle"][:, None] - other["middle"]).abs()]
        features = torch.stack([layer.expand_as(likeness) for layer in layers], -1)
        scores = self.scale * likeness + self.out(torch.tanh(self.hidden(features)))[..., 0]
        nulls = [
            torch.stack([torch.log1p(part["content"]), part["share"], side["lengths"].log(), *side["plausible"]], -1)
            for part, side in ((own, one), (their, other))
        ]
        return scores, self.null(nulls[0])[:, 0], self.null(nulls[1])[:, 0]

    def explained(self, side: dict[str, torch.Tensor], shared: torch.Tensor) -> torch.Tensor:
        best = torch.log(shared + 1e-6) / self.temperature + 1.0
        weights = side["weights"][:, None]
        return sums(weights * best, side["begin"], side["end"]) / sums(weights, side["begin"], side["end"])


def sums(rows: torch.Tensor, begin: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    total = functional.pad(rows.cumsum(0), (0, 0, 1, 0))
    return total[end] - total[begin]


def shares(
    side: dict[str, torch.Tensor], other: dict[str, torch.Tensor], links: torch.Tensor
) -> dict[str, torch.Tensor]:
    into = sums(links.T, other["begin"], other["end"]).T.clamp(max=1.0)
    linked = links.sum(1, keepdim=True).clamp(max=1.0)
    weight, place = side["content"][:, None], (side["begin"], side["end"])
    content = sums(weight, *place)[:, 0]
    floor = content.clamp(min=LEAST_CONTENT)[:, None]
    return {
        "inside": sums(weight * into, *place), "leaving": sums(weight * (linked - into).clamp(min=0.0), *place),
        "content": content, "floor": floor, "share": sums(weight * linked, *place)[:, 0] / floor[:, 0],
    }  # fmt: skip


def both(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return one + other, (one - other).abs()


def learn(train: list[Example], dev: list[Example], args: argparse.Namespace) -> SpanModel:
    """A model learned from some pairs; prints what it is worth on others after each pass."""
    torch.manual_seed(0)
    shuffler = random.Random(0)
    model = SpanModel(train[0].source.vectors.shape[1], args.drop, train[0].source.plausible is not None)
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=args.decay)
    for number in range(args.passes):
        model.train()
        shuffler.shuffle(train)
        begun, total, count = time.process_time(), 0.0, 0.0
        for at in range(0, len(train), BATCH):
            progress = (number + at / len(train)) / args.passes
            for group in optimiser.param_groups:
                group["lr"] = args.rate * (0.05 + 0.95 * 0.5 * (1.0 + math.cos(math.pi * progress)))
            optimiser.zero_grad()
            losses = [loss(model, each) for each in train[at : at + BATCH]]
            value, weight = sum(each[0] for each in losses), sum(each[1] for each in losses)
            (value / max(weight, 1.0)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            total, count = total + float(value.detach()), count + weight
        seconds = time.process_time() - begun
        print(
            f"{len(train)} pairs, pass {number + 1}: loss {total / count:.3f}, {judge(model, dev)}, {seconds:.0f} s",
            flush=True,
        )
    return model


def loss(model: SpanModel, each: Example) -> tuple[torch.Tensor, float]:
    """The sum of cross-entropies of one pair, and how many there are."""
    scores, *nulls = model(each)
    total, weight = scores.sum() * 0.0, 0.0
    for number, table in enumerate((scores, scores.T)):
        rows = torch.cat([table, nulls[number][:, None]], 1)
        if each.partners:
            asked = torch.tensor([pair[number] for pair in each.partners])
            answer = torch.tensor([pair[1 - number] for pair in each.partners])
            total, weight = total + functional.cross_entropy(rows[asked], answer, reduction="sum"), weight + len(asked)
        if each.lonely[number]:
            asked = torch.tensor(each.lonely[number])
            answer = torch.full((len(asked),), table.shape[1])
            total = total + NULL_WEIGHT * functional.cross_entropy(rows[asked], answer, reduction="sum")
            weight += NULL_WEIGHT * len(asked)
    return total, weight


def judge(model: SpanModel, examples: list[Example]) -> str:
    """How often the partner of a phrase of several words has the highest score in both directions."""
    model.eval()
    right = asked = 0
    with torch.no_grad():
        for each in examples:
            scores = model(each)[0]
            for one, other in each.partners:
                lengths = (
                    each.source.end[one] - each.source.begin[one],
                    each.target.end[other] - each.target.begin[other],
                )
                if max(lengths) > 1:
                    asked += 1
                    right += int(scores[one].argmax()) == other and int(scores[:, other].argmax()) == one
    return f"dev {right} of {asked} ({100 * right / max(asked, 1):.1f} %)"


if __name__ == "__main__":
    main()
