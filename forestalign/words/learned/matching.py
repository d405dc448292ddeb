"""Profile `best`, second half: a log-linear model weighs the evidence, twice.

    first pass     belief(i, j) = logistic(weights[kind] . (lexical, context, learned) + bias[kind])
    second pass    p(i, j)      = logistic(weights[kind] . (lexical, context, learned, belief) + bias[kind])

`kind` says whether both words are content words, both stop words, both punctuation, or neither, and whether one
sentence is far longer than the other (+0.5 F1 on msr-rte2.dev against weights shared by both). In the second pass
the belief in neighbours, relatives and rivals takes the place of the pipeline's "links so far": what the stages of
the paper decide one after the other, high precision first, is decided at once. That the published pipeline links a
pair is one more layer (+0.3 to +0.5 F1 on msr-rte2.dev, +0.1 to +0.2 on edinburgh.train). Pairs with p over a
threshold are linked; nothing else forbids several partners, but rivals count against each other in the second pass.

The weights (grammar/word_model.tsv) were fitted by scripts/train_words.py, and there are four sets of them: with and
without a pair list of the user's, with and without contextual vectors, as analyses from elsewhere have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from forestalign.arrays import BoolArray, Float32Array, Int8Array
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows
from forestalign.inputs import number as finite
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.analysis import Analysis
from forestalign.words.learned.context_layers import BELIEF, CONTEXT
from forestalign.words.learned.lexical_layers import LEXICAL
from forestalign.words.learned.metric import LEARNED
from forestalign.words.learned.occurrences import settled_occurrences
from forestalign.words.learned.sides import Lexicon
from forestalign.words.learned.word_evidence import Evidence, gather
from forestalign.words.sentence_scores import MATCHING

ALIKE = 0.6  # "spelling" of two forms of one word; different names reach 0.3
EQUAL_KINDS = ("content", "stop", "punctuation", "mixed")
KINDS = EQUAL_KINDS + tuple(f"{kind} in unequal" for kind in EQUAL_KINDS)
BIAS = "bias"
CANDIDATE = "candidate"  # the stage of a link that is less likely than THRESHOLD
THRESHOLD = 0.55  # best held-out F1 of links that the encoder was not trained on; it is too sure of those that it was
FIRST_WORDS, BARELY = "first words", 0.6  # stage and score of a link that stands against the model
FIRST = (
    *(f"lexical {name}" for name in LEXICAL),
    *(f"context {name}" for name in CONTEXT),
    *(f"learned {name}" for name in LEARNED),
)
SECOND = (*FIRST, *(f"belief {name}" for name in BELIEF))
PASSES = (FIRST, SECOND)
VARIANTS = ("plain", "listed", "contextual", "contextual listed")


@dataclass(frozen=True, slots=True)
class MatchingModel:
    """Weights of each pass, [kind, layer]; the last layer is the bias."""

    passes: tuple[Float32Array, ...]

    def probabilities(self, number: int, layers: Float32Array, kinds: Int8Array) -> Float32Array:
        """p(i, j) of one pass."""
        lowest = int(kinds.min())  # one pair of sentences has half of the kinds at most
        weights = self.passes[number][lowest : int(kinds.max()) + 1]
        flat = layers.reshape(len(layers), -1)
        scores = weights[:, :-1] @ flat + weights[:, -1:]
        chosen = scores[kinds.ravel().astype(np.int64) - lowest, np.arange(kinds.size)]
        result: Float32Array = 1.0 / (1.0 + np.exp(-np.clip(chosen, -30.0, 30.0)))
        return result.reshape(kinds.shape)


def match(evidence: Evidence, model: MatchingModel) -> Float32Array:
    """Both passes: p(i, j)."""
    belief = model.probabilities(0, evidence.layers, evidence.kinds)
    result = model.probabilities(1, evidence.with_belief(belief), evidence.kinds)
    result[_unknowable(evidence)] = 0.0
    return result


def _unknowable(evidence: Evidence) -> BoolArray:
    """Words of a foreign script that are not forms of one word, by their spelling.

    What stands around them is no reason to link them, and the encoder has one and the same piece for all of them, so
    that to it they are identical.
    """
    same, alike = (evidence.layers[FIRST.index(f"lexical {name}")] for name in ("same form", "spelling"))
    are_foreign = np.logical_and.outer(evidence.left.is_foreign, evidence.right.is_foreign)
    result: BoolArray = are_foreign & (same == 0) & (alike < ALIKE)
    return result


def align_best(
    source: Analysis,
    target: Analysis,
    lexicon: Lexicon,
    threshold: float = THRESHOLD,
    models: tuple[MatchingModel, ...] | None = None,
) -> WordAlignment:
    """Links of the pairs over the threshold, and of the first words if they are the same and would have no link.

    People link "He ..." with "He ..." in sentences of any length, and the model has seen few short ones.
    A link that the pipeline has too keeps its stage, others have "matching". The sentences are put in an order of
    their own first: the pipeline and sums of floats depend on it, and the result must not. `models` takes the place of
    the shipped weights.
    """
    if not len(source) or not len(target):
        return WordAlignment(())
    is_swapped = _order(target) < _order(source)
    first, second = (target, source) if is_swapped else (source, target)
    evidence = gather(first, second, lexicon)
    variant = 2 * evidence.is_contextual + (lexicon.pairs is not None)
    probabilities = match(evidence, (models or load_matching())[variant])
    probabilities = settled_occurrences(probabilities, first, second)
    stages = {(link.source, link.target): link.stage for link in evidence.pipeline}
    if _are_first_words_alone(evidence, probabilities):
        probabilities[0, 0], stages[0, 0] = BARELY, FIRST_WORDS
    links = []
    for i, j in np.argwhere(probabilities > threshold).tolist():
        pair = (j, i) if is_swapped else (i, j)
        probability = float(probabilities[i, j])
        stage = stages.get((i, j), MATCHING) if probability > THRESHOLD else CANDIDATE
        links.append(WordLink(*pair, probability, stage))
    return WordAlignment(tuple(sorted(links, key=lambda link: (link.source, link.target))))


def _are_first_words_alone(evidence: Evidence, probabilities: Float32Array) -> bool:
    """Whether both sentences begin with one word, which stands once in each and has no link."""
    is_same = evidence.layers[FIRST.index("lexical unique form"), 0, 0] > 0
    return bool(is_same and probabilities[0].max() <= THRESHOLD and probabilities[:, 0].max() <= THRESHOLD)


def _order(analysis: Analysis) -> tuple[object, ...]:
    sentence = analysis.sentence
    return sentence.words, sentence.tags, analysis.dependencies.heads, analysis.dependencies.relations


# ---- the weights ----


@cache
def load_matching() -> tuple[MatchingModel, ...]:
    """The shipped weights, in the order of VARIANTS."""
    return read_matching(grammar_root() / "word_model.tsv")


def read_matching(path: Path) -> tuple[MatchingModel, ...]:
    """Rows PASS, KIND, LAYER, and one weight for each of VARIANTS."""
    weights = [[np.zeros((len(KINDS), len(layers) + 1), dtype=np.float32) for layers in PASSES] for _ in VARIANTS]
    missing = {(number, kind, layer) for number in range(2) for kind in KINDS for layer in (*PASSES[number], BIAS)}
    for line, (number, kind, layer, *values) in read_rows(path, 3 + len(VARIANTS)):
        try:
            key = (int(number) - 1, kind, layer)
            missing.remove(key)
            place = ((*PASSES[key[0]], BIAS).index(layer), KINDS.index(kind))
            for variant, value in zip(weights, values, strict=True):
                variant[key[0]][place[1], place[0]] = finite("weight", float(value))
        except (ValueError, KeyError) as error:
            raise GrammarError(
                path, line, f"{number} {kind} {layer}: expected each pass, kind and layer once"
            ) from error
    if missing:
        raise GrammarError(path, None, f"no weights for {sorted(missing)[0]}")
    return tuple(MatchingModel(tuple(variant)) for variant in weights)


def format_matching(models: tuple[MatchingModel, ...]) -> str:
    """The rows that `read_matching` reads."""
    rows = ["# Weights of the word matching model: PASS, KIND, LAYER, then " + ", ".join(VARIANTS) + "."]
    for number, layers in enumerate(PASSES):
        for kind_number, kind in enumerate(KINDS):
            for layer_number, layer in enumerate((*layers, BIAS)):
                values = (f"{model.passes[number][kind_number, layer_number]:.4f}" for model in models)
                rows.append("\t".join((str(number + 1), kind, layer, *values)))
    return "\n".join(rows) + "\n"
