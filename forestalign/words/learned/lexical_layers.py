"""Profile `best`: what the two words of a pair are to each other, whatever surrounds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from forestalign.arrays import BoolArray, ByteArray, Float32Array, FloatArray, GenericArray
from forestalign.compiled import core
from forestalign.lexicon import PairList
from forestalign.lexicon.wordnet import UNKNOWN, Entry, meeting
from forestalign.words.analysis import Analysis
from forestalign.words.centred_vectors import centred_cosines
from forestalign.words.learned.context_layers import rivals
from forestalign.words.learned.sides import CONTENT, Lexicon, WordSide, equal_pairs
from forestalign.words.similarity import PPDB_SIM, Form, form

RELATIONS = (
    "synonyms", "derivations", "hypernyms", "similar adjectives", "antonyms", "listed", "listed lemmas",
)  # fmt: skip
TEXTS = ("word", "canonical", "lemma", "stem", "tag", "category", "start")  # what is compared about words
FLAGS = ("content", "known", "digits", "name", "number")  # what both words of a pair must be
MARKS = ("acronym", "part of hyphenated", *RELATIONS)  # of pairs
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
    source: Analysis, target: Analysis, left: WordSide, right: WordSide, lexicon: Lexicon, plain: bool = False
) -> Float32Array:
    """The layers of LEXICAL, in its order."""
    compiled = core("words.learned._lexical_layers", plain)
    are_contextual = left.contextual is not None and right.contextual is not None
    middle = centred_cosines(source.sentence, target.sentence, lexicon.centre) if are_contextual else None
    forms = [form(word) for word in source.sentence.words], [form(word) for word in target.sentence.words]
    if compiled is None:
        return _lexical_layers(source, target, left, right, lexicon, forms, middle)
    sides = zip((source, target), (left, right), forms, strict=True)
    codes, flags = zip(*(_texts_and_flags(*side) for side in sides), strict=True)
    layers: Float32Array = compiled.lexical_layers(
        compiled.joint_codes(*codes),
        flags,
        _marks(source, target, left, right, lexicon),
        cdist(left.words, right.words, scorer=JaroWinkler.similarity, dtype=np.float32),
        left.static @ right.static.T,
        _softmax(left, right),
        None if middle is None else np.maximum(middle, 0.0),
    )
    return layers


def _texts_and_flags(
    analysis: Analysis, side: WordSide, forms: Sequence[Form]
) -> tuple[tuple[Sequence[str], ...], ByteArray]:
    """The rows of TEXTS and of FLAGS."""
    tags = analysis.sentence.tags
    texts: dict[str, Sequence[str]] = {
        "word": side.words,
        "canonical": [each.canonical or each.lower for each in forms],
        "lemma": side.lemmas,
        "stem": [each.stem for each in forms],
        "tag": tags,
        "category": [tag[:2] for tag in tags],
        "start": [word[:4].ljust(4) for word in side.words],
    }
    flags = {
        "content": side.is_content,
        "known": [entry is not UNKNOWN for entry in side.entries],
        "digits": [each.is_digits for each in forms],
        "name": [tag.startswith("NNP") for tag in tags],
        "number": [tag == "CD" for tag in tags],
    }
    return tuple(texts[name] for name in TEXTS), np.array([flags[name] for name in FLAGS], np.uint8)


def _marks(source: Analysis, target: Analysis, left: WordSide, right: WordSide, lexicon: Lexicon) -> BoolArray:
    """The rows of MARKS."""
    marks = _relation_marks(left, right, lexicon.pairs)
    marks["acronym"], marks["part of hyphenated"] = _spelling_marks(source, target, left, right)
    return np.stack([marks[name] for name in MARKS])


def _softmax(left: WordSide, right: WordSide) -> tuple[Float32Array, ...] | None:
    """Contextual cosines, the weights of their softmax, and the sums of these by column and by row."""
    if left.contextual is None or right.contextual is None:
        return None
    contextual = left.contextual @ right.contextual.T
    weights = np.exp(SHARPNESS * (contextual - 1.0))
    return contextual, weights, weights.sum(0), weights.sum(1)


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


# ---- the plain twin of `_lexical_layers.pyx` ----


def _lexical_layers(
    source: Analysis,
    target: Analysis,
    left: WordSide,
    right: WordSide,
    lexicon: Lexicon,
    forms: tuple[Sequence[Form], Sequence[Form]],
    middle: Float32Array | None,
) -> Float32Array:
    layers: dict[str, GenericArray] = {}
    source_forms, target_forms = forms
    same_form = equal_pairs(left.words, right.words) | equal_pairs(
        [f.canonical or f.lower for f in source_forms], [f.canonical or f.lower for f in target_forms]
    )
    same_lemma = equal_pairs(left.lemmas, right.lemmas)
    same_stem = equal_pairs([f.stem for f in source_forms], [f.stem for f in target_forms])
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
