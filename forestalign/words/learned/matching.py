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

Which occurrence a word goes with: *the* with its noun, *looked* with its clause, and *sold* with the only *sold*.

Where conjuncts or clauses change places, words that stand twice on both sides are told apart by what they belong to.
Occurrences of one word are matched so that their contexts agree: the content words next to them and above or below them
in the dependency tree, as far as these are linked with each other. The probabilities of those that change places change
with them. A content word that stands once on both sides is its own partner, whatever else stands in its place; and two
words that both have an identical partner are not each other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from forestalign.arrays import BoolArray, Float32Array, FloatArray, Int8Array, IntArray
from forestalign.dependencies import ROOT
from forestalign.errors import GrammarError
from forestalign.grammar import grammar_root, read_rows, stop_words
from forestalign.inputs import number as finite
from forestalign.lexicon.word_classes import meaning_words
from forestalign.machine import assignment_solver
from forestalign.words.alignment import BY_PLACE, MATCHING, WordAlignment, WordLink, is_content
from forestalign.words.analysis import Analysis
from forestalign.words.learned.evidence import BELIEF, CONTEXT, LEXICAL, Evidence, best_others, gather
from forestalign.words.learned.sides import Lexicon
from forestalign.words.similarity import equal_pairs
from forestalign.words.word_vectors import LEARNED

LINKED = 0.55  # least probability of a link that speaks for the words around it
NEXT = (1.0, 0.7, 0.5, 0.3)  # what a neighbour counts, by its distance
RELATED = 1.0  # what a governor, a dependent and an anchor count
AGREEING = 0.3  # least agreement of contexts that decides
MARGIN = 0.4  # by which the contexts of all occurrences of a word agree better than if each went with another
OWN = 0.1  # of a probability, beside the agreement of contexts
FARTHEST = 3  # steps up the tree to an anchor, the next content word
COORDINATORS = frozenset({"CC", ","})  # these stand between conjuncts and belong to none
LIKELY_SAME = 0.25  # least probability of a word with itself that its rivals give way to
SAME_CONTEXT = 0.4  # least agreement of contexts by which a word that stands once on both sides is surely the same
SAME = 0.8  # probability that it has then
TAKEN = 0.6  # least probability of an identical partner that takes a word from others
LEFT = 0.3  # most probability of a pair whose words are both taken
OTHER_PERSON = 0.02  # most probability of two pronouns of persons that both sentences have

Contexts = FloatArray  # [word, word]: what the second counts for the first


def settled_occurrences(probabilities: Float32Array, source: Analysis, target: Analysis) -> Float32Array:
    """The probabilities with those of words that stand elsewhere moved to where they belong."""
    words = (source.sentence.lower_words, target.sentence.lower_words)
    settled = _persons_apart(probabilities, *words)
    unique = _unique(*words)
    for i, j in unique:
        if probabilities[i, j] >= LIKELY_SAME:
            _give(settled, i, j, max(probabilities[i].max(), probabilities[:, j].max()))
    groups, contexts = _repeated(source, target), (_contexts(source, words[0]), _contexts(target, words[1]))
    units = _unit(contexts[0]), _unit(contexts[1])
    if groups:
        alone = tuple(_without(len(side), [group[number] for group in groups]) for number, side in enumerate(words))
        _match(settled, groups, _unit(contexts[0] * alone[0]), _unit(contexts[1] * alone[1]))
        _match(settled, groups, *units)  # occurrences that are settled now tell about others
    agreement = _agreement(settled, *units)
    for i, j in unique:
        if agreement[i, j] >= SAME_CONTEXT:
            settled[i, j] = max(settled[i, j], SAME)
    return _without_taken(settled, *words)


def _persons_apart(probabilities: Float32Array, source: Sequence[str], target: Sequence[str]) -> Float32Array:
    """The probabilities where she and her go together, and not she and he, if both sentences have both persons."""
    person_of, apart = meaning_words().person_of, probabilities.copy()
    left, right = ([person_of.get(word, 0) for word in words] for words in (source, target))
    both = sorted((set(left) & set(right)) - {0})
    if len(both) < 2:
        return apart
    for person in both:
        if left.count(person) == right.count(person) == 1:
            i, j = left.index(person), right.index(person)
            _give(apart, i, j, max(SAME, apart[i].max(), apart[:, j].max()))
    for i, j in product(range(len(left)), range(len(right))):
        if left[i] != right[j] and left[i] in both and right[j] in both:
            apart[i, j] = min(apart[i, j], OTHER_PERSON)
    return apart


def _match(
    settled: Float32Array, groups: Sequence[tuple[IntArray, IntArray]], source: Contexts, target: Contexts
) -> None:
    """Give each occurrence the one whose context agrees best, where that is clear."""
    linear_sum_assignment = assignment_solver()
    agreement = _agreement(settled, source, target)
    for rows, columns in groups:
        block, agreed = settled[np.ix_(rows, columns)], agreement[np.ix_(rows, columns)]
        best = linear_sum_assignment(OWN * block + agreed, maximize=True)
        others = block.copy()
        others[best] -= 1.0
        other = linear_sum_assignment(others, maximize=True)
        if agreed[best].sum() < agreed[other].sum() + MARGIN:
            continue
        for i, j in zip(*best, strict=True):
            if agreed[i, j] >= AGREEING:
                _give(settled, rows[i], columns[j], max(block[i].max(), block[:, j].max()))


def _agreement(probabilities: Float32Array, source: Contexts, target: Contexts) -> Contexts:
    """How far the contexts (of length 1) of each two words are linked with each other: 1 if they are the same."""
    agreed: Contexts = source @ np.where(probabilities >= LINKED, probabilities, 0.0) @ target.T
    return agreed


def _give(probabilities: Float32Array, i: int, j: int, best: float) -> None:
    """A pair gets the best that either of its words had; its rivals have at most what the pair had."""
    had = probabilities[i, j]
    if had < best:
        probabilities[i] = np.minimum(probabilities[i], had)
        probabilities[:, j] = np.minimum(probabilities[:, j], had)
        probabilities[i, j] = best


def _without_taken(probabilities: Float32Array, source: Sequence[str], target: Sequence[str]) -> Float32Array:
    """The probabilities without those of two words that both go with the same word elsewhere more likely."""
    own = np.where(equal_pairs(source, target), probabilities, 0.0)
    taken = np.minimum(best_others(own), best_others(own.T).T)
    gives_way = (taken >= TAKEN) & (taken > probabilities)
    return np.where(gives_way, np.minimum(probabilities, LEFT), probabilities)


# ---- words and their contexts ----


def _unique(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Content words that stand once on both sides, in the same form."""
    left, right = Counter(source), Counter(target)
    once = (word for word in sorted(left.keys() & right.keys()) if left[word] == right[word] == 1)
    return [(source.index(word), target.index(word)) for word in once if word.isalpha() and is_content(word)]


def _repeated(source: Analysis, target: Analysis) -> list[tuple[IntArray, IntArray]]:
    """Places of each word that both sentences have, one of them more than once."""
    left, right = _places(source), _places(target)
    return [
        (np.array(left[word]), np.array(right[word]))
        for word in sorted(left.keys() & right.keys())
        if max(len(left[word]), len(right[word])) > 1
    ]


def _places(analysis: Analysis) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, (key, tag) in enumerate(zip(analysis.sentence.keys, analysis.sentence.tags, strict=True)):
        if tag not in COORDINATORS:
            found.setdefault(key, []).append(place)
    return found


def _without(size: int, groups: Sequence[IntArray]) -> BoolArray:
    """Which words stand in none of the groups."""
    found = np.ones(size, dtype=np.bool_)
    found[np.concatenate(groups)] = False
    return found


def _contexts(analysis: Analysis, words: Sequence[str]) -> Contexts:
    """What each content word counts for each word."""
    found, stop = _neighbours(len(words)).copy(), stop_words()
    heads = analysis.dependencies.heads
    for place, head in enumerate(heads):
        if head == ROOT:
            continue
        found[place, head] += RELATED
        found[head, place] += RELATED
        anchor, steps = head, 1
        while anchor != ROOT and steps < FARTHEST and words[anchor] in stop:
            anchor, steps = heads[anchor], steps + 1
        if anchor != ROOT and words[anchor] not in stop:
            found[place, anchor] += RELATED
    found *= [is_content(word) for word in words]
    return found


@lru_cache(maxsize=64)
def _neighbours(size: int) -> Contexts:
    """What words count for each other by their distance alone."""
    found = np.zeros((size, size))
    for distance, weight in enumerate(NEXT, start=1):
        found += weight * (np.eye(size, k=distance) + np.eye(size, k=-distance))
    return found


def _unit(rows: Contexts) -> Contexts:
    """The rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Contexts = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)
    return scaled


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
    return WordAlignment(tuple(sorted(links, key=BY_PLACE)))


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
