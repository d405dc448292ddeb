"""A phrase model, or phrase scores learned from gold, in words: the card and the strongest features."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from forestalign.arrays import FloatArray
from forestalign.config import HAND_SET
from forestalign.errors import GrammarError, UsageError
from forestalign.grammar import grammar_root
from forestalign.inputs import as_record, read_json, reading
from forestalign.phrases.scoring.model import SHIPPED, PhraseModel, load_model
from forestalign.phrases.scoring.pair_features import CATEGORY_PAIRS, DENSE
from forestalign.phrases.scoring.schema import GROUPS, SLICE
from forestalign.phrases.scoring.score_model import CONFIDENCE, KINDS, ScoreModel, load_score_model, score_model_text
from forestalign.phrases.scoring.score_model import KIND as SCORES

MEANINGS = {
    "surface": "heads equal, or one in the other",
    "wordnet": "heads are synonyms or derivations in WordNet",
    "embedding": "cosine of the heads over the threshold",
    "preposition": "both heads are prepositions",
    "same_category": "the same category",
    "coverage": "share of word links inside both phrases, by probability",
    "cosine": "cosine of the mean word vectors",
    "length": "shorter length divided by longer",
    "null_linked": "how likely the words of a phrase left null are linked",
    "link": "how likely the two heads are linked",
}


GROUP_MEANINGS = {
    "pair": "every aligned pair",
    "word": "a pair of linked words",
    "phrase": "phrases that no word link carries, by the strength of each kind of evidence",
    "null": "a phrase without a partner, and each of its words",
    "step": "how a pair came about",
    "category": "how it came about, by the category of either phrase",
    "parse": "the two chosen trees",
}


def is_scores_file(path: str) -> bool:
    """Whether a file holds phrase scores, plain or gzipped, and not a phrase model."""
    return bool(path) and _content(path).get("kind") == SCORES


def _content(path: str) -> dict[str, Any]:
    """The object of JSON in a file of either kind."""
    with reading(path, "phrase model or file of phrase scores", GrammarError):
        return as_record(read_json(path), dict[str, Any])


def read_model_content(path: str = "") -> dict[str, Any]:
    """What a model file holds, its card included; it is checked first. Empty: the shipped model."""
    if path == HAND_SET:
        raise UsageError("the hand-set model has no file and no card; name a model file, or none for the shipped one")
    if is_scores_file(path):
        scores: dict[str, Any] = json.loads(score_model_text(load_score_model(path)))
        return scores
    load_model(path)
    content = _content(str(_file(path)))
    return {"card": {}} | content


def describe_model(path: str = "", top: int = 15) -> str:
    """The card, the weights of the features, then the `top` strongest pairs of categories and of words."""
    if is_scores_file(path):
        return "\n".join([Path(path).name, *_score_lines(load_score_model(path), top)])
    content, model = read_model_content(path), load_model(path)
    return "\n".join([_file(path).name, *_card_lines(content["card"], model), *_weight_lines(model, top)])


def _file(path: str) -> Path:
    return Path(path) if path else grammar_root() / SHIPPED


def _card_lines(fields: Mapping[str, object], model: PhraseModel) -> Iterator[str]:
    for field, value in fields.items():
        yield f"  {field}: {value}"
    yield f"  embedding threshold: {model.features.embedding_threshold}"


def _weight_lines(model: PhraseModel, top: int) -> Iterator[str]:
    yield "features:"
    for k in _strongest(model.dense, len(DENSE)):
        yield f"  {model.dense[k]:+8.3f}  {DENSE[k]:<14} {MEANINGS[DENSE[k]]}"
    yield "category pairs:"
    for k in _strongest(model.category, top):
        yield f"  {model.category[k]:+8.3f}  {' ~ '.join(CATEGORY_PAIRS[k])}"
    yield f"word pairs ({len(model.lexical)}):"
    for k in _strongest(model.lexical, top):
        lemma, category, other, other_category = model.lexical_keys[k]
        yield f"  {model.lexical[k]:+8.3f}  {lemma} ({category}) ~ {other} ({other_category})"


def _score_lines(model: ScoreModel, top: int) -> Iterator[str]:
    """The card, the parts of each group by weight, and what posteriors mean."""
    for field, value in model.card.items():
        yield f"  {field}: {value}"
    for group, names in GROUPS:
        weights = model.weights[SLICE[group]]
        yield f"{group}: {GROUP_MEANINGS[group]}"
        for k in _strongest(weights, min(top, len(names))):
            if weights[k]:
                yield f"  {weights[k]:+8.3f}  {names[k]}"
    if model.confidence is not None:
        yield "confidence: how likely a pair is right"
        for kind, weighting in zip(KINDS, model.confidence.weightings, strict=True):
            strongest = _strongest(weighting.weights, min(top, len(CONFIDENCE)))
            yield f"  {kind}: " + ", ".join(f"{CONFIDENCE[k]} {weighting.weights[k]:+.2f}" for k in strongest)
    curve = ", ".join(f"{raw:.2f} is {right:.2f}" for raw, right in model.calibration)
    yield f"calibration, what the search or the confidence gives and the probability: {curve}"


def _strongest(weights: FloatArray, count: int) -> Sequence[int]:
    return sorted(range(len(weights)), key=lambda k: (-abs(weights[k]), k))[:count]
