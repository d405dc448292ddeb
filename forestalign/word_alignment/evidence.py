"""Profile `best`, first half: the evidence of all stages as one array, a value for each pair of words.

The stages of the paper ask in turn whether two words are alike and whether their surroundings are. Here every such
question is a layer of an array [layer, source token, target token], and one model (`matching`) weighs them together.
All layers are symmetric: exchanging the sentences transposes them. Three groups:

    lexical     the two words alone: form, lemma, stem, spelling, lexicon relations, vectors, tags
    context     the similarity of what surrounds them: sequences, neighbours, parents and children
    belief      the same surroundings once more, with the model's own first guess in place of similarity
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from forestalign.grammar import stop_words
from forestalign.lexicon import PairList, WordNet, WordVectors
from forestalign.lexicon.wordnet import UNKNOWN, Entry
from forestalign.word_alignment.analysis import Analysis
from forestalign.word_alignment.relations import ROOT, canonical_label
from forestalign.word_alignment.similarity import form

Array = npt.NDArray[np.float32]
CONTENT, STOP, PUNCTUATION, MIXED = range(4)
UNEQUAL = 4  # added to the kind of a pair
LENGTH_RATIO = 0.6  # below it, as in text and hypothesis, the shorter sentence is a part of the longer one
CLITICS = frozenset({"'s", "'d", "'ll", "'re", "'ve", "'m", "n't"})
SHARPNESS = 12.0  # of the softmax over contextual cosines
WINDOW = 3  # Algorithm 2
STOP_WEIGHT = 0.3  # of similar stop words as neighbours
NEAR, REGION = 1.5, 6.0  # tokens over which support falls by a factor of e
LONGEST_RUN = 6
ACRONYM_LENGTHS = range(2, 7)

LEXICAL = (
    "same form", "same lemma", "same stem", "same tag", "same category", "spelling", "same start", "part of hyphenated",
    "acronym", "synonyms", "derivations", "hypernyms", "similar adjectives", "antonyms", "listed", "listed lemmas",
    "cosine", "squared cosine", "best cosine", "different digits", "both numbers", "both names", "unique form",
    "one form", "context cosine", "context softmax", "context best",
)  # fmt: skip
CONTEXT = (
    "distance", "both first", "both last", "run", "content run", "long run", "left", "right", "left and right",
    "around", "window", "near", "region", "parents", "parents related", "children", "children related", "crossed",
    "both roots",
)  # fmt: skip
BELIEF = (
    "belief", "left", "right", "left and right", "around", "window", "near", "region", "parents", "parents related",
    "children", "children related", "crossed", "strong rival", "weak rival", "more rest", "less rest", "coverage",
    "best of shorter", "better placed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is asked about pairs of words."""

    wordnet: WordNet
    vectors: WordVectors
    pairs: PairList | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One sentence, prepared: plain lists for look-ups, arrays for everything else."""

    words: list[str]
    lemmas: list[str]
    kinds: npt.NDArray[np.int8]
    entries: list[Entry]
    static: Array
    contextual: Array | None
    window: Array  # 1 where k is a content word within three tokens of i
    near: Array  # falls with the distance of k from i, 0 for i itself
    region: Array  # the same, falling more slowly
    parent: Array  # 1 where k is the parent of i
    relations: list[str]
    is_root: Array

    def __len__(self) -> int:
        return len(self.words)


def prepare(analysis: Analysis, lexicon: Lexicon) -> Side:
    sentence, count = analysis.sentence, len(analysis)
    words = [word.lower() for word in sentence.words]
    kinds = np.array([kind_of(word) for word in words], dtype=np.int8)
    lemmas = [token.lemma or token.surface.lower() for token in sentence.tokens]
    entries = [
        lexicon.wordnet.entry(lemma) if kind == CONTENT else UNKNOWN for lemma, kind in zip(lemmas, kinds, strict=True)
    ]
    parent = np.zeros((count, count), dtype=np.float32)
    heads = np.array(analysis.dependencies.heads, dtype=np.int64)
    inner = np.flatnonzero(heads != ROOT)
    parent[inner, heads[inner]] = 1.0
    window, near, region = _distances(count)
    return Side(
        words,
        lemmas,
        kinds,
        entries,
        lexicon.vectors.matrix(words),
        _unit_rows(sentence.vectors),
        window * (kinds == CONTENT),
        near,
        region,
        parent,
        [canonical_label(relation) for relation in analysis.dependencies.relations],
        (heads == ROOT).astype(np.float32),
    )


@lru_cache(maxsize=64)
def _distances(count: int) -> tuple[Array, Array, Array]:
    """Within the window or not, and two falling functions of the distance of two tokens."""
    distance = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.float32)
    apart = distance > 0
    near, region = (np.exp(-distance / np.float32(scale)) * apart for scale in (NEAR, REGION))
    return ((distance <= WINDOW) & apart).astype(np.float32), near, region


@lru_cache(maxsize=1 << 14)
def kind_of(word: str) -> int:
    """Content word, stop word or punctuation, by its lower-case form."""
    if word in CLITICS or word in stop_words():
        return STOP
    return CONTENT if any(character.isalnum() for character in word) or word in {"%", "$"} else PUNCTUATION


def pair_kinds(source: Side, target: Side) -> npt.NDArray[np.int8]:
    """The kind of both words where it is the same, else MIXED; UNEQUAL is added where one sentence is far longer."""
    same = source.kinds[:, None] == target.kinds[None, :]
    shorter, longer = sorted((len(source), len(target)))
    unequal = UNEQUAL if shorter < LENGTH_RATIO * longer else 0
    return (np.where(same, source.kinds[:, None], MIXED) + unequal).astype(np.int8)


def _unit_rows(vectors: npt.NDArray[np.float32] | None) -> Array | None:
    if vectors is None:
        return None
    unit: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return unit


# ---- lexical layers ----


def lexical_layers(source: Analysis, target: Analysis, left: Side, right: Side, lexicon: Lexicon) -> Array:
    """The layers of LEXICAL, in its order."""
    layers: dict[str, npt.NDArray[np.generic]] = {}
    source_forms = [form(word) for word in source.sentence.words]
    target_forms = [form(word) for word in target.sentence.words]
    same_form = _equal(left.words, right.words) | _equal(
        [f.canonical or f.lower for f in source_forms], [f.canonical or f.lower for f in target_forms]
    )
    same_lemma = _equal(left.lemmas, right.lemmas)
    same_stem = _equal([f.stem for f in source_forms], [f.stem for f in target_forms])
    same = same_form | same_lemma | same_stem
    are_content = (left.kinds[:, None] == CONTENT) & (right.kinds[None, :] == CONTENT)
    layers["same form"] = same_form
    layers["same lemma"] = same_lemma & ~same_form
    layers["same stem"] = same_stem & ~same_form & ~same_lemma
    layers["unique form"] = same_form & _unique(same_form)
    layers["one form"] = same_form & np.logical_xor(
        same_form.sum(1, keepdims=True) == 1, same_form.sum(0, keepdims=True) == 1
    )
    _tag_layers(layers, source.sentence.tags, target.sentence.tags, same_form)
    _spelling_layers(layers, source, target, left, right, ~same & are_content)
    _relation_layers(layers, left, right, lexicon.pairs, same, are_content)
    _vector_layers(layers, left, right, same & are_content, are_content)
    is_digits = [f.is_digits for f in source_forms], [f.is_digits for f in target_forms]
    layers["different digits"] = np.logical_and.outer(*is_digits) & ~same_form
    return np.stack([layers[name].astype(np.float32) for name in LEXICAL])


def _equal(left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which strings are equal, compared as numbers."""
    numbers: dict[str, int] = {}
    rows = np.array([numbers.setdefault(text, len(numbers)) for text in left])
    columns = np.array([numbers.setdefault(text, len(numbers)) for text in right])
    result: npt.NDArray[np.bool_] = rows[:, None] == columns[None, :]
    return result


def _unique(same: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    result: npt.NDArray[np.bool_] = (same.sum(1, keepdims=True) == 1) & (same.sum(0, keepdims=True) == 1)
    return result


def _tag_layers(
    layers: dict[str, npt.NDArray[np.generic]],
    source_tags: Sequence[str],
    target_tags: Sequence[str],
    same_form: npt.NDArray[np.bool_],
) -> None:
    layers["same tag"] = _equal(source_tags, target_tags)
    layers["same category"] = _equal([tag[:2] for tag in source_tags], [tag[:2] for tag in target_tags])
    names = [[tag.startswith("NNP") for tag in tags] for tags in (source_tags, target_tags)]
    layers["both names"] = np.logical_and.outer(*names)
    numbers = [[tag == "CD" for tag in tags] for tags in (source_tags, target_tags)]
    layers["both numbers"] = np.logical_and.outer(*numbers) & ~same_form


def _spelling_layers(
    layers: dict[str, npt.NDArray[np.generic]],
    source: Analysis,
    target: Analysis,
    left: Side,
    right: Side,
    are_open: npt.NDArray[np.bool_],
) -> None:
    """How alike different content words are written."""
    likeness = cdist(left.words, right.words, scorer=JaroWinkler.similarity, dtype=np.float32)
    layers["spelling"] = np.clip((likeness - 0.75) * 4.0, 0.0, 1.0) * are_open
    start = _equal([f"{w[:4]:<4}" for w in left.words], [f"{w[:4]:<4}" for w in right.words])
    layers["same start"] = start & are_open
    acronyms = np.zeros((len(left), len(right)), dtype=bool)
    _mark_acronyms(acronyms, source.sentence.words, target.sentence.words)
    _mark_acronyms(acronyms.T, target.sentence.words, source.sentence.words)
    layers["acronym"] = acronyms
    parts = np.zeros_like(acronyms)
    _mark_parts(parts, left.words, right.words)
    _mark_parts(parts.T, right.words, left.words)
    layers["part of hyphenated"] = parts & are_open


def _mark_acronyms(marks: npt.NDArray[np.bool_], shorts: Sequence[str], words: Sequence[str]) -> None:
    """Upper-case words with the words whose initials they are; small words may be skipped in no way."""
    initials = [word[:1] for word in words]
    for i, short in enumerate(shorts):
        letters = list(short.replace(".", ""))
        if len(letters) in ACRONYM_LENGTHS and short.isupper():
            for begin in range(len(words) - len(letters) + 1):
                if initials[begin : begin + len(letters)] == letters:
                    marks[i, begin : begin + len(letters)] = True


def _mark_parts(marks: npt.NDArray[np.bool_], compounds: Sequence[str], words: Sequence[str]) -> None:
    """Hyphenated words with the words that are one of their parts."""
    for i, compound in enumerate(compounds):
        if "-" in compound[1:-1]:
            parts = compound.split("-")
            for j, word in enumerate(words):
                if word in parts:
                    marks[i, j] = True


def _relation_layers(
    layers: dict[str, npt.NDArray[np.generic]],
    left: Side,
    right: Side,
    pairs: PairList | None,
    same: npt.NDArray[np.bool_],
    are_content: npt.NDArray[np.bool_],
) -> None:
    """WordNet relations of content words, and the user's list for all words."""
    names = ("synonyms", "derivations", "hypernyms", "similar adjectives", "antonyms", "listed", "listed lemmas")
    marks = {name: np.zeros(same.shape, dtype=bool) for name in names}
    known = np.logical_and.outer(*([entry is not UNKNOWN for entry in side.entries] for side in (left, right)))
    for i, j in np.argwhere(known & are_content & ~same).tolist():
        for name in _relations(left.lemmas[i], left.entries[i], right.lemmas[j], right.entries[j]):
            marks[name][i, j] = True
    if pairs is not None:
        for i, j in np.argwhere(~same & (left.kinds[:, None] == right.kinds[None, :])).tolist():
            marks["listed"][i, j] = (left.words[i], right.words[j]) in pairs
            marks["listed lemmas"][i, j] = (left.lemmas[i], right.lemmas[j]) in pairs
    layers.update(marks)


def _relations(left: str, left_entry: Entry, right: str, right_entry: Entry) -> tuple[str, ...]:
    """WordNet relations of two lemmas, in either direction; most pairs have none."""
    found = []
    if not left_entry.synsets.isdisjoint(right_entry.synsets):
        found.append("synonyms")
    if right in left_entry.derivations or not left_entry.derivations.isdisjoint(right_entry.derivations):
        found.append("derivations")
    if not (
        left_entry.hypernyms.isdisjoint(right_entry.synsets) and right_entry.hypernyms.isdisjoint(left_entry.synsets)
    ):
        found.append("hypernyms")
    if right in left_entry.similar:
        found.append("similar adjectives")
    if right in left_entry.antonyms:
        found.append("antonyms")
    return tuple(found)


def _vector_layers(
    layers: dict[str, npt.NDArray[np.generic]],
    left: Side,
    right: Side,
    same: npt.NDArray[np.bool_],
    are_content: npt.NDArray[np.bool_],
) -> None:
    """Static cosines of different words; contextual cosines of all, also seen against their rivals."""
    cosine = np.maximum(left.static @ right.static.T, 0.0)
    cosine[same] = 0.0
    layers["cosine"] = cosine
    layers["squared cosine"] = cosine**2
    layers["best cosine"] = cosine * _is_best(np.where(are_content, cosine, 0.0))
    if left.contextual is None or right.contextual is None:
        nothing = np.zeros_like(cosine)
        layers.update({"context cosine": nothing, "context softmax": nothing, "context best": nothing})
        return
    contextual = left.contextual @ right.contextual.T
    layers["context cosine"] = contextual
    weights = np.exp(SHARPNESS * (contextual - 1.0))
    layers["context softmax"] = np.sqrt(
        weights / weights.sum(0, keepdims=True) * weights / weights.sum(1, keepdims=True)
    )
    layers["context best"] = _is_best(contextual)


def _is_best(values: Array) -> npt.NDArray[np.bool_]:
    """Largest in its row and in its column."""
    result: npt.NDArray[np.bool_] = (values >= values.max(0, keepdims=True)) & (values >= values.max(1, keepdims=True))
    return result


def similarity_of(lexical: Array) -> Array:
    """One similarity for the surroundings: 1 for the same word, 0.9 for related ones, else the cosine over 0.5."""
    layer = dict(zip(LEXICAL, lexical, strict=True))
    same = layer["same form"] + layer["same lemma"] + layer["same stem"]
    related = layer["synonyms"] + layer["derivations"] + layer["listed"] + layer["listed lemmas"]
    soft = np.where(layer["cosine"] > 0.5, layer["cosine"], 0.0)
    result: Array = np.maximum(np.maximum(np.minimum(same, 1.0), 0.9 * np.minimum(related, 1.0)), soft)
    return result


# ---- layers of the surroundings ----


def context_layers(left: Side, right: Side, same_form: Array, similarity: Array) -> Array:
    """The layers of CONTEXT, in its order."""
    places = [(np.arange(len(side)) + 0.5) / len(side) for side in (left, right)]
    first, last = np.zeros_like(similarity), np.zeros_like(similarity)
    first[0, 0] = last[-1, -1] = 1.0
    are_content = np.logical_and.outer(left.kinds == CONTENT, right.kinds == CONTENT).astype(np.float32)
    run, content = run_lengths(same_form, same_form * are_content)
    weight = np.where(are_content > 0, 1.0, STOP_WEIGHT).astype(np.float32)
    near, related = _surroundings(left, right, similarity * weight), _relatives(left, right, similarity)
    return np.stack(
        [
            np.abs(np.subtract.outer(*places)).astype(np.float32),
            first,
            last,
            (run >= 2).astype(np.float32),
            ((run >= 2) & (content >= 1)).astype(np.float32),
            np.minimum(run, LONGEST_RUN) / LONGEST_RUN,
            *near,
            *related,
            np.multiply.outer(left.is_root, right.is_root),
        ]
    )


def run_lengths(same: Array, weight: Array) -> tuple[Array, Array]:
    """Length of the common run through each pair along its diagonal, and the weight inside that run."""
    totals = np.zeros((2, *same.shape), dtype=np.float32)
    places = {(i, j) for i, j in np.argwhere(same).tolist()}
    for i, j in places:
        if (i - 1, j - 1) in places:
            continue  # inside a run that began earlier
        end = 1
        while (i + end, j + end) in places:
            end += 1
        steps = np.arange(end)
        totals[0, i + steps, j + steps] = end
        totals[1, i + steps, j + steps] = weight[i + steps, j + steps].sum()
    return totals[0], totals[1]


def _surroundings(left: Side, right: Side, values: Array) -> list[Array]:
    """Neighbours on the left and on the right (sentence ends count 1), near ones in step, and content words near by."""
    padded = np.zeros(np.add(values.shape, 2 * WINDOW), dtype=np.float32)
    padded[WINDOW:-WINDOW, WINDOW:-WINDOW] = values
    padded[WINDOW - 1, WINDOW - 1] = padded[-WINDOW, -WINDOW] = 1.0
    rows, columns = values.shape

    def shifted(step: int) -> Array:
        return padded[WINDOW + step : WINDOW + step + rows, WINDOW + step : WINDOW + step + columns]

    around = sum((shifted(step) for step in (-3, -2, 2, 3)), np.zeros_like(values)) / 4.0
    window = np.minimum(left.window @ values @ right.window.T, 4.0) / 4.0
    near, region = (np.log1p(a @ values @ b.T) for a, b in ((left.near, right.near), (left.region, right.region)))
    return [shifted(-1), shifted(1), shifted(-1) * shifted(1), around, window, near, region]


def _relatives(left: Side, right: Side, values: Array) -> list[Array]:
    """Parents, children, and a parent on one side with a child on the other; "related": in the same relation."""
    in_relation = _equal(left.relations, right.relations).astype(np.float32)
    parents = left.parent @ values @ right.parent.T
    children = np.minimum(left.parent.T @ values @ right.parent, 3.0) / 3.0
    children_related = np.minimum(left.parent.T @ (values * in_relation) @ right.parent, 3.0) / 3.0
    crossed = np.minimum(left.parent @ values @ right.parent + left.parent.T @ values @ right.parent.T, 2.0) / 2.0
    return [parents, parents * in_relation, children, children_related, crossed]


def belief_layers(left: Side, right: Side, belief: Array) -> Array:
    """The layers of BELIEF, in its order; rivals are other partners of either word."""
    row_rival, column_rival = _rival(belief), _rival(belief.T).T
    rest = [belief.sum(axis, keepdims=True) - belief - rival for axis, rival in ((1, row_rival), (0, column_rival))]
    both = [np.minimum(np.maximum(value, 0.0), 2.0) for value in rest]
    near, related = _surroundings(left, right, belief), _relatives(left, right, belief)
    rivals = [np.maximum(row_rival, column_rival), np.minimum(row_rival, column_rival)]
    rests = [np.maximum(*both), np.minimum(*both)]
    coverage = np.full_like(belief, _coverage(left, right, belief))
    return np.stack(
        [belief, *near, *related, *rivals, *rests, coverage, _best_of_shorter(belief), _better_placed(belief, near[-1])]
    )


def _coverage(left: Side, right: Side, belief: Array) -> float:
    """How much of the content of the better covered sentence has a partner."""
    shares = []
    for side, best in ((left, belief.max(1)), (right, belief.max(0))):
        is_content = side.kinds == CONTENT
        shares.append(float(best[is_content].mean()) if is_content.any() else 0.0)
    return max(shares)


def _best_of_shorter(belief: Array) -> Array:
    """1 where a pair is the best one of its word in the shorter sentence (half a point a side in equal ones)."""
    rows, columns = belief.shape
    by_row, by_column = belief >= belief.max(1, keepdims=True), belief >= belief.max(0, keepdims=True)
    row_share = 1.0 if rows < columns else 0.5 if rows == columns else 0.0
    result: Array = (row_share * by_row + (1.0 - row_share) * by_column).astype(np.float32)
    return result


def _better_placed(belief: Array, region: Array) -> Array:
    """How the support from the region compares with that of the rivals: at least as good 1, else the ratio."""
    weighted = np.where(belief > 0.1, region, 0.0) + 1e-3
    best = np.maximum(weighted.max(0, keepdims=True), weighted.max(1, keepdims=True))
    result: Array = np.minimum((region + 1e-3) / best, 1.0).astype(np.float32)
    return result


def _rival(belief: Array) -> Array:
    """The largest value in the row of each pair but for its own."""
    if belief.shape[1] == 1:
        return np.zeros_like(belief)
    top = np.argmax(belief, axis=1)
    rows = np.arange(len(belief))
    largest = belief[rows, top]
    others = belief.copy()
    others[rows, top] = -1.0
    result = np.repeat(largest[:, None], belief.shape[1], axis=1)
    result[rows, top] = others.max(axis=1)
    return result
