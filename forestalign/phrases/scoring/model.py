"""The alignment probability Pr (section 5.2): tables that drive the search, and the log-linear model that fills them.

    Pr(τs, τt) = exp(w · F(τs, τt)) / sum over candidates of exp(w · F(τs, ·))

For a source node the candidates are the target nodes and the null phrase; for a null on the target side they are the
source nodes and the null phrase of that target node. Candidates with the same attributes are counted once, by the
best of them, else every projection of one head would split the mass and the null phrase would not. A pair
of categories and a pair of words have the same weight in both orders.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from forestalign.arrays import FloatArray, Int32Array
from forestalign.config import HAND_SET, AlignConfig
from forestalign.errors import GrammarError, UsageError, counted, shown
from forestalign.grammar import grammar_root
from forestalign.inputs import Number, as_record, kept_while_unchanged, read_json, reading
from forestalign.outputs import packed_file
from forestalign.phrases.scoring.pair_features import (
    CATEGORIES,
    CATEGORY_PAIRS,
    DENSE,
    EXTRAS,
    FeatureSet,
    LexicalKey,
    PairFeatures,
    PhraseAttributes,
    lexical_key,
)

VERSION = 2  # 1 had weights of their own for mirrored pairs
SHIPPED = "phrase_model.json.gz"


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """log Pr of all pairs of two forests' nodes, and of every node with the null phrase of the other side."""

    pair: FloatArray  # [source nodes, target nodes]
    source_null: FloatArray  # [source nodes]
    target_null: FloatArray  # [target nodes]

    def __post_init__(self) -> None:
        shape = (len(self.source_null), len(self.target_null))
        if self.pair.shape != shape:
            raise UsageError(f"pair scores have shape {self.pair.shape}; the null scores ask for {shape}")
        for table in (self.pair, self.source_null, self.target_null):
            if not np.isfinite(table).all():
                raise UsageError("log probabilities must be finite numbers")

    def transposed(self) -> PairScores:
        """These scores with source and target swapped."""
        return PairScores(np.ascontiguousarray(self.pair.T), self.target_null, self.source_null)


def uniform_scores(source_count: int, target_count: int) -> PairScores:
    """Every phrase and the null phrase equally likely."""
    return PairScores(
        np.full((source_count, target_count), -np.log(target_count + 1)),
        np.full(source_count, -np.log(target_count + 1)),
        np.full(target_count, -np.log(source_count + 1)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PhraseModel:
    """Weights of the features. `lexical` keys and weights run in parallel."""

    features: FeatureSet
    dense: FloatArray  # [len(DENSE)]
    category: FloatArray  # [len(CATEGORY_PAIRS)]
    lexical_keys: tuple[LexicalKey, ...]
    lexical: FloatArray

    @property
    def vocabulary(self) -> dict[LexicalKey, int]:
        """The number of each lexical feature."""
        return {key: k for k, key in enumerate(self.lexical_keys)}

    def potentials(self, pairs: PairFeatures) -> FloatArray:
        """w · F for all pairs, the null phrase last on each side."""
        values: FloatArray = pairs.dense @ self.dense + self.category[pairs.category]
        if len(self.lexical):
            values += np.append(self.lexical, 0.0)[pairs.lexical]
        return values

    def score(self, pairs: PairFeatures, config: AlignConfig) -> PairScores:
        """log Pr of everything, normalised as the settings say."""
        potentials = self.potentials(pairs)
        forward = log_normalisers(potentials, pairs.target)
        backward = log_normalisers(potentials.T, pairs.source)
        pair = potentials[:-1, :-1] - forward[:-1, None]
        if config.direction == "symmetric":
            pair = potentials[:-1, :-1] - (forward[:-1, None] + backward[None, :-1]) / 2.0
        target_null = potentials[-1, :-1] - backward[:-1]
        return PairScores(np.ascontiguousarray(pair), potentials[:-1, -1] - forward[:-1], target_null)


def log_normalisers(potentials: FloatArray, candidates: PhraseAttributes) -> FloatArray:
    """log Z of each row over the candidates in its columns, the null phrase last."""
    groups = group_maxima(potentials[:, :-1], candidates.group)
    return np.asarray(np.logaddexp.reduce(np.concatenate([groups, potentials[:, -1:]], axis=1), axis=1))


def group_maxima(values: FloatArray, group: Int32Array) -> FloatArray:
    """Best value of each group of columns."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.asarray(np.maximum.reduceat(values[:, order], starts, axis=1))


def untrained_model(features: FeatureSet | None = None) -> PhraseModel:
    """The model without EM: hand-set weights, every feature of likeness worth the same."""
    weights = np.zeros(len(DENSE))
    for name in ("surface", "wordnet", "embedding", "preposition", "same_category"):
        weights[DENSE.index(name)] = 1.0
    return PhraseModel(features or FeatureSet(extras=()), weights, np.zeros(len(CATEGORY_PAIRS)), (), np.zeros(0))


def load_model(path: str = "") -> PhraseModel:
    """The shipped model, or the one in a file; "hand-set" is the untrained one."""
    if path == HAND_SET:
        return untrained_model()
    return _read_model(path)


@kept_while_unchanged(2)
def _read_model(path: str) -> PhraseModel:
    file = Path(path) if path else grammar_root() / SHIPPED
    with reading(file, "phrase model", GrammarError):
        return _from_content(file, read_json(file))


class _ModelFile(msgspec.Struct):
    lexical: bool
    extras: tuple[str, ...]
    embedding_threshold: Annotated[float, msgspec.Meta(ge=-1.0, le=1.0)]
    dense: tuple[Number, ...]
    category: tuple[Number, ...]
    lexical_keys: tuple[LexicalKey, ...]
    lexical_weights: tuple[Number, ...]
    card: dict[str, Any] = {}


def _from_content(file: Path, content: object) -> PhraseModel:
    if not isinstance(content, dict) or content.get("version") != VERSION:
        found = shown(content.get("version")) if isinstance(content, dict) else type(content).__name__
        raise GrammarError(file, None, f"has version {found}; a phrase model of version {VERSION} was expected")
    if content.get("dense_names") != list(DENSE) or content.get("categories") != [c.value for c in CATEGORIES]:
        raise GrammarError(file, None, "was trained with other features than this version has")
    own = as_record(content, _ModelFile)
    keys = own.lexical_keys
    if len(set(keys)) < len(keys) or any(key != lexical_key(key[:2], key[2:]) for key in keys):
        raise GrammarError(file, None, "has a pair of words twice, or not in its order")
    for name, count in (("dense", len(DENSE)), ("category", len(CATEGORY_PAIRS)), ("lexical_weights", len(keys))):
        if len(getattr(own, name)) != count:
            raise ValueError(f"{name} has {counted(len(getattr(own, name)), 'value')}; expected {count}")
    if unknown := sorted(set(own.extras) - set(EXTRAS)):
        raise GrammarError(file, None, f"asks for unknown features {unknown}; known are {sorted(EXTRAS)}")
    features = FeatureSet(own.lexical, own.extras, own.embedding_threshold)
    return PhraseModel(
        features, np.array(own.dense), np.array(own.category), keys, np.array(own.lexical_weights, float)
    )


def save_model(model: PhraseModel, path: str | Path, card: dict[str, object]) -> None:
    """Write a model with its card; lexical weights that do nothing are left out."""
    kept = [k for k in range(len(model.lexical)) if abs(model.lexical[k]) >= 0.01]
    content = {
        "version": VERSION,
        "card": card,
        "dense_names": list(DENSE),
        "categories": [category.value for category in CATEGORIES],
        "lexical": model.features.lexical,
        "extras": list(model.features.extras),
        "embedding_threshold": model.features.embedding_threshold,
        "dense": [round(float(weight), 5) for weight in model.dense],
        "category": [round(float(weight), 5) for weight in model.category],
        "lexical_keys": [list(model.lexical_keys[k]) for k in kept],
        "lexical_weights": [round(float(model.lexical[k]), 4) for k in kept],
    }
    with packed_file(path) as stream:
        stream.write(json.dumps(content, ensure_ascii=False).encode("utf-8"))
