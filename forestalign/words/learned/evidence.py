"""Profile `best`, first half: the evidence of all stages as one array, a value for each pair of words.

The stages of the paper ask in turn whether two words are alike and whether their surroundings are. Here every such
question is a layer of an array [layer, source token, target token], and one model (`matching`) weighs them together.
All layers are symmetric: exchanging the sentences transposes them. Four groups:

    lexical     the two words alone: form, lemma, stem, spelling, lexicon relations, vectors, tags
    context     the similarity of what surrounds them: sequences, neighbours, parents and children, and whether the
                published pipeline links them
    learned     how well their vectors fit each other, by a learned metric (`word_vectors`)
    belief      the same surroundings once more, with the model's own first guess in place of similarity
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from forestalign.arrays import BoolArray, Float32Array, FloatArray, GenericArray, Int8Array
from forestalign.lexicon import PairList
from forestalign.lexicon.wordnet import UNKNOWN, Entry, meeting
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import Analysis, load_equivalences
from forestalign.words.learned.sides import (
    CONTENT,
    WINDOW,
    Lexicon,
    WordSide,
    pair_kinds,
    prepare,
)
from forestalign.words.similarity import PPDB_SIM, equal_pairs, form, same_stems
from forestalign.words.sultan.published import align_published
from forestalign.words.sultan.stages import WEIGHT, Pair
from forestalign.words.word_vectors import LEARNED, centred_cosines, learned_layers

# ---- what surrounds the two words: by similarity (CONTEXT), or by the belief of the model (BELIEF) ----


STOP_WEIGHT = 0.3  # of similar stop words as neighbours
LONGEST_RUN = 6
# sums above these count as much as these
MOST_AROUND, MOST_IN_WINDOW, MOST_CHILDREN, MOST_CROSSED, MOST_REST = 4.0, 4.0, 3.0, 2.0, 2.0
CREDIBLE = 0.1  # a pair of less belief is nobody's rival for the support from the region
LEAST_SUPPORT = 1e-3

SURROUNDINGS = ("left", "right", "left and right", "around", "window", "near", "region")
RELATIVES = ("parents", "parents related", "children", "children related", "crossed")
RIVALS = ("strong rival", "weak rival", "more rest", "less rest")
RUNS = ("length", "weight")
CONTEXT = (
    "distance", "both first", "both last", "run", "content run", "long run", *SURROUNDINGS, *RELATIVES, "both roots",
    "pipeline",
)  # fmt: skip
BELIEF = ("belief", *SURROUNDINGS, *RELATIVES, *RIVALS, "coverage", "best of shorter", "better placed")


def context_layers(
    left: WordSide, right: WordSide, same_form: Float32Array, similarity: Float32Array, pipeline: Float32Array
) -> Float32Array:
    """The layers of CONTEXT, in its order; `pipeline` marks the links of the published pipeline."""
    places = [(np.arange(len(side)) + 0.5) / len(side) for side in (left, right)]
    first, last = np.zeros_like(similarity), np.zeros_like(similarity)
    first[0, 0] = last[-1, -1] = 1.0
    are_content = np.logical_and.outer(left.kinds == CONTENT, right.kinds == CONTENT).astype(np.float32)
    run, content = run_lengths(same_form, same_form * are_content)
    weight = np.where(are_content > 0, 1.0, STOP_WEIGHT).astype(np.float32)
    near, related = surroundings(left, right, similarity * weight), relatives(left, right, similarity)
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
            pipeline,
        ]
    )


def run_lengths(same: Float32Array, weight: Float32Array) -> Float32Array:
    """Length of the common run through each pair along its diagonal, and the weight inside that run."""
    totals = np.zeros((2, *same.shape), dtype=np.float32)
    rows, columns = same.nonzero()
    place = {pair: number for number, pair in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))}
    weights = weight[rows, columns].tolist()
    values = np.zeros((2, len(place)), dtype=np.float32)
    for (i, j), begin in place.items():
        if (i - 1, j - 1) in place:
            continue  # inside a run that began earlier
        run, end = [begin], 1
        while (following := place.get((i + end, j + end))) is not None:
            run.append(following)
            end += 1
        values[:, run] = [[end], [sum([weights[number] for number in run])]]
    totals[:, rows, columns] = values
    return totals


def surroundings(left: WordSide, right: WordSide, values: Float32Array) -> list[Float32Array]:
    """Neighbours on the left and on the right (sentence ends count 1), near ones in step, and content words near by."""
    padded = np.zeros(np.add(values.shape, 2 * WINDOW), dtype=np.float32)
    padded[WINDOW:-WINDOW, WINDOW:-WINDOW] = values
    padded[WINDOW - 1, WINDOW - 1] = padded[-WINDOW, -WINDOW] = 1.0
    rows, columns = values.shape

    def shifted(step: int) -> Float32Array:
        return padded[WINDOW + step : WINDOW + step + rows, WINDOW + step : WINDOW + step + columns]

    around = sum((shifted(step) for step in (-3, -2, 2, 3)), np.zeros_like(values)) / MOST_AROUND
    window, *falling = [_carried(*each) for each in zip(left.around, repeat(values), [m.T for m in right.around])]
    before, behind = shifted(-1), shifted(1)
    return [before, behind, before * behind, around, _capped(window, MOST_IN_WINDOW), *map(np.log1p, falling)]


def relatives(left: WordSide, right: WordSide, values: Float32Array) -> list[Float32Array]:
    """Parents, children, and a parent on one side with a child on the other; "related": in the same relation."""
    in_relation = equal_pairs(left.relations, right.relations).astype(np.float32)
    parents = _carried(left.parent, values, right.parent.T)
    children = _capped(_carried(left.parent.T, values, right.parent), MOST_CHILDREN)
    children_related = _capped(_carried(left.parent.T, values * in_relation, right.parent), MOST_CHILDREN)
    upward, downward = _carried(left.parent, values, right.parent), _carried(left.parent.T, values, right.parent.T)
    return [parents, parents * in_relation, children, children_related, _capped(upward + downward, MOST_CROSSED)]


def _carried(left: Float32Array, values: Float32Array, right: Float32Array) -> Float32Array:
    """Values of pairs of words carried over to the pairs that the two matrices join with them."""
    result: Float32Array = (left @ values @ right).astype(np.float32, copy=False)
    return result


def _capped(values: Float32Array, top: float) -> Float32Array:
    """Values from 0 to 1: `top` and more count 1."""
    result: Float32Array = (np.minimum(values, top) / top).astype(np.float32, copy=False)
    return result


def rivals(belief: Float32Array) -> Float32Array:
    """The largest belief in another partner of either word, and what the others have besides it, from 0 to 2."""
    row_rival, column_rival = best_others(belief), best_others(belief.T).T
    rest = [belief.sum(axis, keepdims=True) - belief - rival for axis, rival in ((1, row_rival), (0, column_rival))]
    both = [np.minimum(np.maximum(value, 0.0), MOST_REST) for value in rest]
    strong, weak = np.maximum(row_rival, column_rival), np.minimum(row_rival, column_rival)
    return np.stack([strong, weak, np.maximum(*both), np.minimum(*both)])


def best_others(belief: Float32Array) -> Float32Array:
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


# ---- the model's own belief ----


def belief_layers(left: WordSide, right: WordSide, belief: Float32Array) -> Float32Array:
    """The layers of BELIEF, in its order; rivals are other partners of either word."""
    near, related = surroundings(left, right, belief), relatives(left, right, belief)
    alone = [
        np.full_like(belief, _coverage(left, right, belief)),
        _best_of_shorter(belief),
        _better_placed(belief, near[-1]),
    ]
    return np.concatenate([belief[None], near, related, rivals(belief), np.stack(alone)])


def _coverage(left: WordSide, right: WordSide, belief: Float32Array) -> float:
    """How much of the content of the better covered sentence has a partner."""
    shares = []
    for side, best in ((left, belief.max(1)), (right, belief.max(0))):
        covered = best[side.is_content]
        shares.append(float(covered.mean()) if len(covered) else 0.0)
    return max(shares)


def _best_of_shorter(belief: Float32Array) -> Float32Array:
    """1 where a pair is the best one of its word in the shorter sentence (half a point per side in equal ones)."""
    rows, columns = belief.shape
    by_row, by_column = belief >= belief.max(1, keepdims=True), belief >= belief.max(0, keepdims=True)
    row_share = 1.0 if rows < columns else 0.5 if rows == columns else 0.0
    result: Float32Array = (row_share * by_row + (1.0 - row_share) * by_column).astype(np.float32)
    return result


def _better_placed(belief: Float32Array, region: Float32Array) -> Float32Array:
    """How the support from the region compares with that of the rivals: at least as good 1, else the ratio."""
    weighted = np.where(belief > CREDIBLE, region, 0.0) + LEAST_SUPPORT
    best = np.maximum(weighted.max(0, keepdims=True), weighted.max(1, keepdims=True))
    result: Float32Array = np.minimum((region + LEAST_SUPPORT) / best, 1.0).astype(np.float32)
    return result


# ---- what the two words are to each other (LEXICAL) ----


RELATIONS = (
    "synonyms", "derivations", "hypernyms", "similar adjectives", "antonyms", "listed", "listed lemmas",
)  # fmt: skip
SHARPNESS = 12.0  # of the softmax over contextual cosines
ALIKE = 0.75  # from here on words count as written alike
ACRONYM_LENGTHS = range(2, 7)

LEXICAL = (
    "same form", "same lemma", "same stem", "same tag", "same category", "spelling", "same start", "part of hyphenated",
    "acronym", *RELATIONS, "cosine", "squared cosine", "best cosine", "different digits", "both numbers", "both names",
    "unique form", "one form", "context cosine", "context softmax", "context best", "middle cosine",
    "squared middle cosine", "middle over rival", "middle over weak rival", "middle best", "middle best of different",
)  # fmt: skip


def lexical_layers(
    source: Analysis,
    target: Analysis,
    left: WordSide,
    right: WordSide,
    lexicon: Lexicon,
) -> Float32Array:
    """The layers of LEXICAL, in its order."""
    layers: dict[str, GenericArray] = {}
    are_contextual = left.contextual is not None and right.contextual is not None
    middle = centred_cosines(source.sentence, target.sentence, lexicon.centre) if are_contextual else None
    source_forms, target_forms = ([form(word) for word in side.sentence.words] for side in (source, target))
    same_form = equal_pairs(left.words, right.words) | equal_pairs(
        [f.canonical or f.lower for f in source_forms], [f.canonical or f.lower for f in target_forms]
    )
    same_lemma = equal_pairs(left.lemmas, right.lemmas)
    same_stem = same_stems(left.words, right.words)
    same = same_form | same_lemma | same_stem
    are_content = (left.kinds[:, None] == CONTENT) & (right.kinds[None, :] == CONTENT)
    layers["same form"] = same_form
    layers["same lemma"] = same_lemma & ~same_form
    layers["same stem"] = same_stem & ~same_form & ~same_lemma
    once = same_form.sum(1, keepdims=True) == 1, same_form.sum(0, keepdims=True) == 1
    layers["unique form"] = same_form & once[0] & once[1]
    layers["one form"] = same_form & (once[0] ^ once[1])
    _tag_layers(layers, source.sentence.tags, target.sentence.tags, same_form)
    _spelling_layers(layers, source, target, left, right, ~same & are_content)
    layers.update({name: marks & ~same for name, marks in _relation_marks(left, right, lexicon.pairs).items()})
    _vector_layers(layers, left, right, same & are_content, are_content)
    _middle_layers(layers, middle, same)
    is_digits = [f.is_digits for f in source_forms], [f.is_digits for f in target_forms]
    layers["different digits"] = np.logical_and.outer(*is_digits) & ~same_form
    result = np.empty((len(LEXICAL), len(left), len(right)), dtype=np.float32)
    for number, name in enumerate(LEXICAL):
        result[number] = layers[name]
    return result


def _tag_layers(
    layers: dict[str, GenericArray],
    source_tags: Sequence[str],
    target_tags: Sequence[str],
    same_form: BoolArray,
) -> None:
    layers["same tag"] = equal_pairs(source_tags, target_tags)
    layers["same category"] = equal_pairs([tag[:2] for tag in source_tags], [tag[:2] for tag in target_tags])
    names = [[tag.startswith("NNP") for tag in tags] for tags in (source_tags, target_tags)]
    layers["both names"] = np.logical_and.outer(*names)
    numbers = [[tag == "CD" for tag in tags] for tags in (source_tags, target_tags)]
    layers["both numbers"] = np.logical_and.outer(*numbers) & ~same_form


def _spelling_layers(
    layers: dict[str, GenericArray],
    source: Analysis,
    target: Analysis,
    left: WordSide,
    right: WordSide,
    are_open: BoolArray,
) -> None:
    """How alike unequal content words are spelled; two words that WordNet knows are not misspellings of each other."""
    likeness = cdist(left.words, right.words, scorer=JaroWinkler.similarity, dtype=np.float32)
    are_known = np.logical_and.outer(*([entry is not UNKNOWN for entry in side.entries] for side in (left, right)))
    layers["spelling"] = np.clip((likeness - ALIKE) / (1.0 - ALIKE), 0.0, 1.0) * (are_open & ~are_known)
    start = equal_pairs([w[:4].ljust(4) for w in left.words], [w[:4].ljust(4) for w in right.words])
    layers["same start"] = start & are_open
    layers["acronym"], parts = _spelling_marks(source, target, left, right)
    layers["part of hyphenated"] = parts & are_open


def _vector_layers(
    layers: dict[str, GenericArray],
    left: WordSide,
    right: WordSide,
    same: BoolArray,
    are_content: BoolArray,
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


def _middle_layers(layers: dict[str, GenericArray], cosines: Float32Array | None, same: BoolArray) -> None:
    """Cosines by the middle layers of the encoder, and their lead over the best other partner of either word."""
    cosine = np.zeros(same.shape, dtype=np.float32) if cosines is None else np.maximum(cosines, 0.0)
    rival, weak_rival = rivals(cosine)[:2]
    best = _is_best(cosine) & (cosine > 0)
    layers["middle cosine"] = cosine
    layers["squared middle cosine"] = cosine**2
    layers["middle over rival"] = cosine - rival
    layers["middle over weak rival"] = cosine - weak_rival
    layers["middle best"] = best
    layers["middle best of different"] = best & ~same


def _is_best(values: Float32Array) -> BoolArray:
    """Largest in its row and in its column."""
    result: BoolArray = (values >= values.max(0, keepdims=True)) & (values >= values.max(1, keepdims=True))
    return result


def similarity_of(lexical: Float32Array) -> Float32Array:
    """One similarity for the surroundings: 1 for the same word, 0.9 for related ones, else the cosine over 0.5."""
    layer = dict(zip(LEXICAL, lexical, strict=True))
    same = layer["same form"] + layer["same lemma"] + layer["same stem"]
    related = layer["synonyms"] + layer["derivations"] + layer["listed"] + layer["listed lemmas"]
    soft = np.where(layer["cosine"] > 0.5, layer["cosine"], 0.0)
    result: Float32Array = np.maximum(np.maximum(np.minimum(same, 1.0), 0.9 * np.minimum(related, 1.0)), soft)
    return result


def pipeline_similarity(lexical: Float32Array) -> FloatArray:
    """The levels of section 3.1 from the lexical layers: 1, ppdbSim, 0."""
    layer = dict(zip(LEXICAL, lexical, strict=True))
    same = layer["same form"] + layer["same lemma"] + layer["same stem"]
    related = layer["synonyms"] + layer["derivations"] + layer["listed"] + layer["listed lemmas"]
    return np.where(same > 0, 1.0, np.where(related > 0, PPDB_SIM, 0.0))


def _spelling_marks(source: Analysis, target: Analysis, left: WordSide, right: WordSide) -> tuple[BoolArray, BoolArray]:
    """Acronyms with the words that they stand for, and parts of hyphenated words with these."""
    acronyms, parts = np.zeros((2, len(left), len(right)), dtype=bool)
    _mark_acronyms(acronyms, source.sentence.words, target.sentence.words)
    _mark_acronyms(acronyms.T, target.sentence.words, source.sentence.words)
    _mark_parts(parts, left.words, right.words)
    _mark_parts(parts.T, right.words, left.words)
    return acronyms, parts


def _mark_acronyms(marks: BoolArray, shorts: Sequence[str], words: Sequence[str]) -> None:
    """Upper-case words with the words whose initials they are; small words may be skipped in no way."""
    initials = [word[:1] for word in words]
    for i, short in enumerate(shorts):
        if not short.isupper():
            continue
        letters = list(short.replace(".", ""))
        if len(letters) in ACRONYM_LENGTHS:
            for begin in range(len(words) - len(letters) + 1):
                if initials[begin : begin + len(letters)] == letters:
                    marks[i, begin : begin + len(letters)] = True


def _mark_parts(marks: BoolArray, compounds: Sequence[str], words: Sequence[str]) -> None:
    """Hyphenated words with the words that are one of their parts."""
    for i, compound in enumerate(compounds):
        if "-" in compound and "-" in compound[1:-1]:
            parts = compound.split("-")
            for j, word in enumerate(words):
                if word in parts:
                    marks[i, j] = True


def _relation_marks(left: WordSide, right: WordSide, pairs: PairList | None) -> dict[str, BoolArray]:
    """WordNet relations of content words, in either direction, and the user's list for all words.

    They are looked up through what two entries have in common, since most pairs of words have nothing.
    """
    marks = dict(zip(RELATIONS, np.zeros((len(RELATIONS), len(left), len(right)), dtype=bool), strict=True))
    (rows, ours), (columns, theirs) = _known(left), _known(right)
    words = [{right.lemmas[j]} for j in columns]
    synsets, others = [entry.synsets for entry in ours], [entry.synsets for entry in theirs]
    roots = [entry.derivations | word for entry, word in zip(theirs, words, strict=True)]
    for name, one, other in (
        ("synonyms", synsets, others),
        ("derivations", [entry.derivations for entry in ours], roots),
        ("hypernyms", [entry.hypernyms for entry in ours], others),
        ("hypernyms", synsets, [entry.hypernyms for entry in theirs]),
        ("similar adjectives", [entry.similar for entry in ours], words),
        ("antonyms", [entry.antonyms for entry in ours], words),
    ):
        for a, b in meeting(one, other):
            marks[name][rows[a], columns[b]] = True
    if pairs is not None:
        for i, j in np.argwhere(left.kinds[:, None] == right.kinds[None, :]).tolist():
            marks["listed"][i, j] = (left.words[i], right.words[j]) in pairs
            marks["listed lemmas"][i, j] = (left.lemmas[i], right.lemmas[j]) in pairs
    return marks


def _known(side: WordSide) -> tuple[list[int], list[Entry]]:
    """The words that WordNet knows, and what it knows."""
    places = [place for place, entry in enumerate(side.entries) if entry is not UNKNOWN]
    return places, [side.entries[place] for place in places]


# ---- all evidence ----


# where each group stands among the layers of the first pass
LEXICAL_PART = slice(0, len(LEXICAL))
CONTEXT_PART = slice(LEXICAL_PART.stop, LEXICAL_PART.stop + len(CONTEXT))
LEARNED_PART = slice(CONTEXT_PART.stop, CONTEXT_PART.stop + len(LEARNED))
SAME_FORM = LEXICAL.index("same form")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is asked about one pair of sentences before the model."""

    left: WordSide
    right: WordSide
    kinds: Int8Array
    layers: Float32Array  # lexical, context, learned
    pipeline: WordAlignment  # links of the published pipeline

    @property
    def lexical(self) -> Float32Array:
        """What the words are to each other: the layers of LEXICAL."""
        return self.layers[LEXICAL_PART]

    @property
    def is_contextual(self) -> bool:
        """Whether the sentences had contextual vectors."""
        return self.left.contextual is not None and self.right.contextual is not None

    def with_belief(self, belief: Float32Array) -> Float32Array:
        """The layers of the second pass, which sees the belief of the first."""
        return np.concatenate([self.layers, belief_layers(self.left, self.right, belief)])


def gather(source: Analysis, target: Analysis, lexicon: Lexicon) -> Evidence:
    """Lexical layers, the published pipeline on their similarities, context layers."""
    left, right = prepare(source, lexicon), prepare(target, lexicon)
    lexical = lexical_layers(source, target, left, right, lexicon)
    similarity = pipeline_similarity(lexical)
    pair = Pair(source, target, similarity, WEIGHT, PPDB_SIM)
    pipeline = align_published(pair, similarity, load_equivalences("published"))
    marks = np.zeros(similarity.shape, dtype=np.float32)
    for link in pipeline:
        marks[link.source, link.target] = 1.0
    context = context_layers(left, right, lexical[SAME_FORM], similarity_of(lexical), marks)
    if left.projected is None or right.projected is None:
        learned = np.zeros((len(LEARNED), *similarity.shape), dtype=np.float32)
    else:
        learned = learned_layers(left.projected, right.projected)
    return Evidence(left, right, pair_kinds(left, right), np.concatenate([lexical, context, learned]), pipeline)
