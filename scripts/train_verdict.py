"""Learn the weights of the verdict (grammar/verdict.npz), and print how good they are.

    python scripts/train_verdict.py --learn msrp.train.jsonl.gz paws.dev.jsonl.gz:0:4000 stsb.train.jsonl.gz \\
        ssd.dev.tsv made.jsonl annotations/written.jsonl --measure paws.dev.jsonl.gz:4000 stsb.dev.jsonl.gz \\
        --cache verdict/

FILE:begin:end:step takes a part of a file. Files are JSON lines with `source`, `target` and `paraphrase` (0 or 1),
`score` (0 to 5) or `relation`, or the tab-separated lines of the Span Similarity Dataset; made.jsonl is from
`make_changes.py`. The cache holds the aligned pairs of each file and what word vectors they had, so that a change of
the features or of the differences aligns nothing again; empty it after a change of the aligner or its models.
The projection of sentence vectors is that of an earlier file, which stays right as long as the parser is the same (the
script of 0.3.0, commit bacc42d, learned it towards the vectors of all-MiniLM-L6-v2).
Without --learn all weights are of the earlier file but those of reworded pairs, learned from the files of --reworded;
the lines printed about these are of models that have not seen the pairs.
Log odds and likeness are learned together, by gradient descent; some pairs are shown without vectors. Boosted trees
(scikit-learn, extra `tune`) say the other half of the log odds. Printed, for reworded pairs by five folds (pairs of one
base stand in one fold): r of the score, AUC and accuracy of the probability, and the share of right verdicts on pairs
that mean the same and on others.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from scoring.meaning import area_under_curve, read_pairs
from sklearn.ensemble import HistGradientBoostingClassifier

from forestalign import Alignment
from forestalign.aligner import load
from forestalign.arrays import FloatArray
from forestalign.errors import ForestAlignError
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.lexicon.vectors import compared, pooled_vector, projected
from forestalign.mining.verdict_features import AGAINST, alignment_features, is_against, told_features
from forestalign.mining.verdicts import (
    VECTOR_FEATURES,
    joined_score,
    reworded_share,
    scaled,
    sum_trees,
    vector_features,
)
from forestalign.outputs import whole_file
from forestalign.phrases.result.alignment import HIGHEST_SCORE, UNRELATED, Verdict

WEIGHTS = {"ssd": 2.0, "written": 2.0, "made": 1.2, "paws": 1.3, "stsb": 0.5}  # of a pair; 1 for other files
LEAST_SAME, MOST_OTHER = 4.6, 3.4  # scores of pairs that mean the same, and that do not
UNITS, NETS, STEPS, RATE = 24, 2, 300, 0.01
DECAY, DIMENSION_DECAY, SCORE_SHARE = 2e-3, 3e-3, 0.5
TREES, LEAVES, TREE_RATE, TREE_RIDGE, SPLIT_SHARE = 250, 12, 0.05, 2.0, 0.4
ANY_DIFFERENCE = 0.75  # of the log odds, taken away for any difference besides: public sets call such pairs the same
UNSEEN = 0.2  # share of the pairs that are shown without vectors
REWORDED_WEIGHTS, REWORDED_RIDGE, TOLD_RIDGE, IN_FAVOUR = {"msrp": 1.0}, 200.0, 30.0, -0.15
FOLDS = 5
TOGETHER = 64  # pairs that are aligned at once
UNJUDGED = Verdict(UNRELATED, 0.0, 0.0)  # the weights may not fit the features yet
Record = dict[str, Any]


def main() -> None:
    """Align, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", nargs="*", default=[], metavar="FILE", help="learned from")
    parser.add_argument("--reworded", nargs="+", required=True, metavar="FILE", help="of reworded pairs, in folds, too")
    parser.add_argument("--measure", nargs="*", default=[], metavar="FILE", help="measured on alone")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="for aligned pairs and vectors")
    parser.add_argument("--projection", type=Path, default=grammar_root() / "verdict.npz", help="file that has one")
    parser.add_argument("--jobs", type=int, default=1, help="processes that align; 0: take what the cache has")
    parser.add_argument("-o", "--output", type=Path, default=grammar_root() / "verdict.npz")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    learned, reworded, measured = (
        [read_set(each, args) for each in own] for own in (args.learn, args.reworded, args.measure)
    )
    with np.load(args.projection) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file if name != "names"}
    arrays |= fit(learned) if learned else {}
    print_reworded(reworded, arrays)
    arrays["reworded"] = fit_reworded(reworded, arrays)
    kinds = {"projection": np.float16, "tree_features": np.int16, "tree_children": np.int16}
    numbers = {name: array.astype(kinds.get(name, np.float32)) for name, array in arrays.items()}
    with whole_file(args.output) as file:
        np.savez_compressed(file, names=np.array(reworded[0].names), **numbers)
    print(f"{args.output}: {args.output.stat().st_size} bytes", flush=True)
    for each in measured:
        print_set(each, *predict(each, arrays))


# ---- pairs ----


def read_set(spec: str, args: argparse.Namespace) -> Shown:
    """The pairs of FILE:begin:end:step that could be aligned, now or earlier, with features as they are now."""
    path, *bounds = spec.split(":")
    base = args.cache / Path(spec).name.replace(":", "_")
    if args.jobs:
        records = read_pairs(Path(path))[slice(*(int(each) if each else None for each in bounds or [""]))]
        align_missing(records, base, args.jobs)
    features, pooled, told, kept, vectors = [], [], [], [], load_vectors()
    for record, alignment in read_aligned(base):
        features.append(alignment_features(alignment, vectors))
        pooled.append([pooled_vector(each, vectors) for each in (alignment.source, alignment.target)])
        told.append(told_features(alignment))
        kept.append(record)
    with np.load(args.projection) as file:
        projection, offset = file["projection"].astype(np.float64), file["offset"].astype(np.float64)
    both = np.array(pooled, np.float64)
    left, right = (projected(both[:, side], projection, offset) for side in (0, 1))
    return Shown.of(Path(path).name.split(".")[0], kept, features, np.array(told, float), left, right)


def align_missing(records: Sequence[Record], base: Path, jobs: int) -> None:
    """Write what is not aligned yet, some pairs to a file: lines of results, and the vectors of their words."""
    base.mkdir(exist_ok=True)
    for begin in range(0, len(records), TOGETHER):
        path, some = base / f"{begin:06}.npz", records[begin : begin + TOGETHER]
        if path.is_file():
            continue
        pairs = [(record["source"], record["target"]) for record in some]
        lines, vectors = [], []
        for record, result in zip(some, load().pipe(pairs, jobs=jobs, errors="yield"), strict=True):
            if not isinstance(result, ForestAlignError):
                lines.append(
                    json.dumps(
                        {"row": record, "result": replace(result, judged=UNJUDGED).to_json()}, ensure_ascii=False
                    )
                )
                for each in (result.source, result.target):
                    vectors.append(np.hstack([np.asarray(each.context_vectors), np.asarray(each.vectors)]))
        with whole_file(path) as file:
            np.savez(file, lines=np.array("\n".join(lines)), vectors=np.vstack(vectors).astype(np.float16))


def read_aligned(base: Path) -> Iterator[tuple[Record, Alignment]]:
    """The aligned pairs of a file with their vectors."""
    for path in sorted(base.glob("*.npz")):
        with np.load(path) as file:
            lines, rows, begin = str(file["lines"]).split("\n"), file["vectors"].astype(np.float32), 0
        width = rows.shape[1] // 2
        for line in map(json.loads, lines):
            alignment, sides = Alignment.from_json(line["result"]), []
            for each in (alignment.source, alignment.target):
                own = rows[begin : begin + len(each)]
                sides.append(replace(each, context_vectors=own[:, :width], vectors=own[:, width:]))
                begin += len(each)
            yield line["row"], replace(alignment, source=sides[0], target=sides[1], judged=None)


class Shown(NamedTuple):
    """One set as the model sees it."""

    name: str
    names: tuple[str, ...]
    rows: FloatArray  # features and VECTOR_FEATURES, as they are
    against: FloatArray
    dimensions: FloatArray
    told: FloatArray
    same: FloatArray  # 1, 0, or nan where nobody said it
    scores: FloatArray
    bases: list[str]

    @classmethod
    def of(
        cls, name: str, records: list[Record], found: list[dict[str, float]], words: FloatArray, left: Any, right: Any
    ) -> Shown:
        """The features with those of sentence vectors, and what people said."""
        own = [each for each in found[0] if not is_against(each)]
        cosines = (left * right).sum(axis=1)
        more = [vector_features(float(c), each["aligned"]) for c, each in zip(cosines, found, strict=True)]
        rows = np.hstack([[[each[key] for key in own] for each in found], more])
        against = np.array([[value for key, value in each.items() if is_against(key)] for each in found])
        scores, told = (
            np.array([record.get(key, np.nan) for record in records], float) for key in ("score", "paraphrase")
        )
        same = np.where(scores >= LEAST_SAME, 1.0, np.where(scores <= MOST_OTHER, 0.0, told))
        bases = [str(record.get("base", f"{name}-{k}")) for k, record in enumerate(records)]
        return cls(name, (*own, *VECTOR_FEATURES), rows, against, compared(left, right), words, same, scores, bases)

    def part(self, chosen: FloatArray) -> Shown:
        """Some of the pairs."""
        numbers = np.flatnonzero(chosen)
        kept: Any = [array[numbers] for array in self[2:8]] + [[own[k] for k in numbers] for own in self[8:]]
        return Shown(self.name, self.names, *kept)


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
    rows, against, dimensions, _, same, scores = (np.concatenate([each[k] for each in sets]) for k in range(2, 8))
    weights = np.concatenate([np.full(len(each.rows), WEIGHTS.get(each.name, 1.0)) for each in sets])
    centre, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    nets = [
        fit_net(seed, scaled_rows(rows, centre, scale, sets[0].names, seed), against, dimensions, same, scores, weights)
        for seed in range(NETS)
    ]
    states = [{name: value.detach().double().numpy() for name, value in net.named_parameters()} for net in nets]

    def mean(name: str) -> FloatArray:
        return np.asarray(np.mean([state[name] for state in states], axis=0))

    losses = [np.logaddexp(0, state["against"]) for state in states]
    seen = scaled_rows(rows, centre, scale, sets[0].names, NETS)
    base, trees = fit_trees(seen, against, same, weights)
    halves = np.array([0.5, 1.0])  # of the log odds the trees say the other half
    taken = halves[:, None] * np.mean(losses, axis=0)
    taken[0, len(AGAINST)] += ANY_DIFFERENCE
    return trees | {
        "centre": centre,
        "scale": scale,
        "hidden": np.concatenate([state["hidden.weight"] for state in states]),
        "hidden_bias": np.concatenate([state["hidden.bias"] for state in states]),
        "linear": halves[:, None] * mean("linear.weight"),
        "out": halves[:, None] * np.concatenate([state["out.weight"] / NETS for state in states], axis=1),
        "bias": halves * mean("out.bias") + [base, 0.0],
        "against": taken,
        "dimensions": mean("dimensions.weight")[0],
    }


def fit_trees(
    rows: FloatArray, against: FloatArray, same: FloatArray, weights: FloatArray
) -> tuple[float, dict[str, Any]]:
    """Half the log odds by boosted trees: what all pairs begin with, and trees that never rise with a difference."""
    told = np.isin(same, (0, 1))
    signs = np.repeat([0, -1], [rows.shape[1], against.shape[1]])
    model = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=TREE_RATE,
        max_leaf_nodes=LEAVES,
        l2_regularization=TREE_RIDGE,
        monotonic_cst=signs,
        max_features=SPLIT_SHARE,
        early_stopping=False,
        random_state=0,
    ).fit(np.hstack([rows, against])[told], same[told] > 0.5, sample_weight=weights[told])
    size = 2 * LEAVES - 1
    features, thresholds, values = np.zeros((TREES, size), np.int64), np.zeros((TREES, size)), np.zeros((TREES, size))
    children = np.tile(np.arange(size)[:, None], (TREES, 1, 2))
    for k, (tree,) in enumerate(model._predictors):
        nodes = tree.nodes
        inner, count = nodes["is_leaf"] == 0, len(nodes)
        values[k, :count] = np.where(inner, 0.0, nodes["value"] / 2)
        features[k, :count] = np.where(inner, nodes["feature_idx"], 0)
        thresholds[k, :count] = np.where(inner, nodes["num_threshold"], 0.0)
        children[k, :count][inner] = np.stack([nodes["left"], nodes["right"]], axis=1)[inner]
    found: dict[str, Any] = {"features": features, "thresholds": thresholds, "children": children, "values": values}
    return float(model._baseline_prediction.ravel()[0]) / 2, {f"tree_{name}": each for name, each in found.items()}


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
    rows, found = predict_any(shown, arrays)
    if "reworded" in arrays:
        share = reworded_share(shown.rows[:, shown.names.index("shared words")])
        found[:, 0] += share * (reworded_rows(shown, rows, found[:, 0]) @ arrays["reworded"] - found[:, 0])
    found = 1 / (1 + np.exp(-found))
    return found[:, 0], HIGHEST_SCORE * found[:, 1]


def predict_any(shown: Shown, arrays: dict[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """The scaled features, and log odds and likeness before the sigmoid, without what is learned of reworded pairs."""
    rows = scaled(shown.rows, arrays["centre"], arrays["scale"], shown.names, has_vectors=True)
    units = np.tanh(rows @ arrays["hidden"].T + arrays["hidden_bias"])
    found = rows @ arrays["linear"].T + units @ arrays["out"].T + arrays["bias"] - shown.against @ arrays["against"].T
    found[:, 1] += shown.dimensions @ arrays["dimensions"]
    trees: Any = (arrays[f"tree_{each}"] for each in ("features", "thresholds", "children", "values"))
    found[:, 0] += sum_trees(np.hstack([rows, shown.against]), *trees)
    return rows, found


# ---- reworded pairs ----


def reworded_rows(shown: Shown, rows: FloatArray, log_odds: FloatArray) -> FloatArray:
    """What the weights of reworded pairs are multiplied by."""
    return np.column_stack([log_odds, rows, shown.told, -shown.against, np.ones(len(rows))])


def fit_reworded(sets: Sequence[Shown], arrays: dict[str, FloatArray]) -> FloatArray:
    """The weights of reworded pairs: a logistic model that is drawn towards the log odds that there are."""
    parts = [(each, *predict_any(each, arrays)) for each in sets]
    x = np.vstack([reworded_rows(each, rows, found[:, 0]) for each, rows, found in parts])
    share = reworded_share(np.concatenate([each.rows[:, each.names.index("shared words")] for each in sets]))
    told, signs = slice(1 + len(sets[0].names), -1 - sets[0].against.shape[1]), np.concatenate([e.same for e in sets])
    signs = np.where(np.isnan(signs), 0, 2 * signs - 1)
    weights = np.concatenate([np.full(len(each.rows), REWORDED_WEIGHTS.get(each.name, 1.0)) for each in sets])
    prior, ridge = np.eye(x.shape[1])[0], np.full(x.shape[1], REWORDED_RIDGE)
    ridge[told] = TOLD_RIDGE
    ridge[[0, -1]] = 0.1 * REWORDED_RIDGE, 0.0
    bounds = [(0 if k == 0 or told.stop <= k < x.shape[1] - 1 else None, None) for k in range(x.shape[1])]

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (x[:, 0] + share * (x @ w - x[:, 0]))
        slopes = -weights * signs * share / (1 + np.exp(np.minimum(margins, 50)))
        costs = weights * (signs != 0) * np.logaddexp(0, -margins)
        return costs.sum() + (ridge * (w - prior) ** 2).sum() / 2, x.T @ slopes + ridge * (w - prior)

    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300}).x
    found[-1] += IN_FAVOUR
    return np.asarray(found)


def print_reworded(sets: Sequence[Shown], arrays: dict[str, FloatArray]) -> None:
    """The figures of reworded pairs, each by what was learned from the other pairs: in folds, and by files."""
    places = [np.array([zlib.crc32(base.encode()) % FOLDS for base in each.bases]) for each in sets]
    found = [np.zeros((2, len(each.rows))) for each in sets]
    for fold in range(FOLDS):
        parts = [each.part(place != fold) for each, place in zip(sets, places, strict=True)]
        own = arrays | {"reworded": fit_reworded(parts, arrays)}
        for each, place, values in zip(sets, places, found, strict=True):
            values[:, place == fold] = predict(each.part(place == fold), own)
    for each, values in zip(sets, found, strict=True):
        print_set(each, *values)
        print("without the file: ", end="")
        others = [other for other in sets if other is not each]
        print_set(each, *predict(each, arrays | {"reworded": fit_reworded(others, arrays)}))


# ---- figures ----


def print_set(shown: Shown, probability: FloatArray, likeness: FloatArray) -> None:
    """One line about a set, and one about its twins."""
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
    by_base: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for k in np.flatnonzero(told):
        by_base[shown.bases[k]][int(shown.same[k])].append(scores[k])
    pairs = [low <= high for lows, highs in by_base.values() for low in lows for high in highs]
    if pairs:
        print(f"  of {len(pairs)} twins, {100 * np.mean(pairs):.1f} % score the changed pair no higher")


if __name__ == "__main__":
    main()
