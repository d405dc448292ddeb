"""Features of a source word with a target word, as layers [M, N] (section 3.2 of the token paper, 3.3 of the other).

Families: string, tags, position, context, wordnet, ppdb, vectors, names. The families `distortion` and
`chunks` live in `transitions` and `segments`. Every layer lies between 0 and 1 (distances are turned into
similarities), so that one L2 weight fits all. Departures from the published program, which are meant to mend it:
similarities are normalised, prefix and suffix have one scale, and neighbouring tags, derived forms and word kinds are
used.

Base phrases from tag patterns, so that no parse is needed: NP, VP, ADJP, ADVP, PP, as in chunked corpora.

A pattern is a regular expression over one letter per tag; the longest match from the left wins, and no chunk holds
another. A word outside every pattern is in no chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Hamming, JaroWinkler, Levenshtein, Postfix, Prefix
from rapidfuzz.process import cdist

from forestalign.arrays import BoolArray, Float32Array, IntArray
from forestalign.grammar import stop_words
from forestalign.lexicon import PairList, WordNet, WordVectors
from forestalign.tokens import Sentence
from forestalign.words.similarity import equal_pairs

# Penn tags, then those that newer treebanks add; number 0 stands for "no tag" and for tags not listed here.
# fmt: off
TAGS = (
    "", "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT", "POS",
    "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP",
    "WP$", "WRB", "#", "$", "''", "``", "-LRB-", "-RRB-", ",", ".", ":", "HYPH", "AFX", "NFP", "ADD", "GW",
)
_FUNCTION_TAGS = frozenset({
    "CC", "CD", "MD", "DT", "PDT", "WDT", "IN", "TO", "RP", "PRP", "PRP$", "WP", "WP$", "WRB", "EX", "POS",
})
# fmt: on
_TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS)}
_NAME_TAGS = frozenset({"NNP", "NNPS"})

CONTENT, FUNCTION, PUNCTUATION = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Words:
    """Parallel tuples and arrays, one entry per word."""

    forms: tuple[str, ...]
    lower: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: IntArray
    kinds: IntArray  # CONTENT, FUNCTION or PUNCTUATION
    names: BoolArray

    def __len__(self) -> int:
        return len(self.forms)


def words_of(sentence: Sentence) -> Words:
    """Without tags, kinds come from the list of stop words, and names from capitals inside the sentence."""
    lower = tuple(word.lower() for word in sentence.words)
    lemmas = tuple(token.key for token in sentence.tokens)
    return Words(
        sentence.words,
        lower,
        lemmas,
        np.array([_TAG_NUMBERS.get(tag, 0) for tag in sentence.tags], np.int64),
        np.array([_kind(form, tag) for form, tag in zip(lower, sentence.tags, strict=True)], np.int64),
        np.array([_is_name(token.form, token.tag, i) for i, token in enumerate(sentence.tokens)], np.bool_),
    )


def _kind(form: str, tag: str) -> int:
    if not any(character.isalnum() for character in form):
        return PUNCTUATION
    if tag in _FUNCTION_TAGS or form in stop_words():
        return FUNCTION
    return CONTENT


def _is_name(form: str, tag: str, position: int) -> bool:
    return tag in _NAME_TAGS if tag else position > 0 and form[:1].isupper()


LETTERS = {
    **dict.fromkeys(("DT", "PDT", "WDT", "PRP$", "WP$"), "d"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "j"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "FW", "AFX", "HYPH"), "n"),
    **dict.fromkeys(("PRP", "EX", "WP"), "p"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("IN", "TO"), "i"),
    "CD": "c",
    "MD": "m",
    "POS": "s",
    "RP": "o",
    "VBG": "g",
    "VBN": "e",
    "WRB": "w",
    "$": "$",
    "#": "$",
}
# TO is "i" and also opens an infinitive; a possessive marker opens the noun phrase after it.
PATTERNS = (
    ("NP", re.compile(r"[ds]*(?:r?[jce$]|[ngc$])*n+|p|[ds]+(?:r?[jc])*|\$?c+")),
    ("VP", re.compile(r"(?:m?r*(?:i(?=r*v))?r*)?[vge](?:r*[vge])*o?|m")),
    ("ADJP", re.compile(r"r*j+")),
    ("ADVP", re.compile(r"[rw]+")),
    ("PP", re.compile(r"i+")),
)
CHUNK_TYPES = ("", *(name for name, _ in PATTERNS))


class Chunk(NamedTuple):
    """A shallow phrase of one kind."""

    begin: int
    end: int
    type: str


def chunk(tags: Sequence[str]) -> tuple[Chunk, ...]:
    """Base phrases, left to right. The longest match wins; of equally long ones, the pattern listed first."""
    letters = "".join(LETTERS.get(tag, "-") for tag in tags)
    chunks, begin = [], 0
    while begin < len(letters):
        end, name = max((_match_end(pattern, letters, begin), -rank) for rank, (_, pattern) in enumerate(PATTERNS))
        if end > begin:
            chunks.append(Chunk(begin, end, PATTERNS[-name][0]))
        begin = max(end, begin + 1)
    return tuple(chunks)


def _match_end(pattern: re.Pattern[str], letters: str, begin: int) -> int:
    found = pattern.match(letters, begin)
    return found.end() if found else begin


Layers = dict[str, Float32Array]

WORD_CLASSES = (
    ("article", frozenset({"a", "an", "one"})),
    ("be", frozenset({"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"})),
    ("have", frozenset({"have", "has", "had", "having", "'ve"})),
    ("do", frozenset({"do", "does", "did", "done", "doing"})),
    ("not", frozenset({"not", "n't", "no", "never"})),
)
COSINE_KNOTS = (0.3, 0.5, 0.7)
WINDOW = 3  # words to each side in the wide context features


@dataclass(frozen=True, slots=True)
class Resources:
    """Lexical resources; each may be missing, and its features are then 0."""

    wordnet: WordNet | None = None
    vectors: WordVectors | None = None
    ppdb: PairList | None = None


def _layer(values: npt.ArrayLike) -> Float32Array:
    return np.asarray(values, np.float32)


def _kind_layers(name: str, layer: Float32Array, source: Words, target: Words) -> Layers:
    """The layer, restricted to two content words, two function words, two punctuation marks."""
    same = np.where(source.kinds[:, None] == target.kinds[None], source.kinds[:, None], -1)
    kinds = (("content", CONTENT), ("function", FUNCTION), ("punctuation", PUNCTUATION))
    return {f"{name}_{label}": layer * (same == kind) for label, kind in kinds}


def string_layers(source: Words, target: Words, _: Resources) -> Layers:
    """Features of how two words are spelt."""
    scorers = (
        ("jaro_winkler", JaroWinkler.similarity),
        ("levenshtein", Levenshtein.normalized_similarity),
        ("hamming", Hamming.normalized_similarity),
        ("prefix", Prefix.normalized_similarity),
        ("suffix", Postfix.normalized_similarity),
    )
    layers: Layers = {
        name: cdist(source.lower, target.lower, scorer=scorer, dtype=np.float32) for name, scorer in scorers
    }
    layers["similar"] = _layer(layers["jaro_winkler"] > 0.85)
    for size in (1, 3, 4):
        shared, source_sizes, target_sizes = _shared_grams(source.lower, target.lower, size)
        total = source_sizes[:, None] + target_sizes[None]
        layers[f"dice{size}"] = _layer(2 * shared / np.maximum(total, 1))
        if size == 1:
            layers["jaccard"] = _layer(shared / np.maximum(total - shared, 1))
    layers["identical"] = _layer(equal_pairs(source.forms, target.forms))
    same = _layer(equal_pairs(source.lower, target.lower))
    layers["identical_any_case"] = same
    layers |= _kind_layers("identical", same, source, target)
    for name, members in WORD_CLASSES:
        source_in = _layer([word in members for word in source.lower])
        target_in = _layer([word in members for word in target.lower])
        layers[f"class_{name}"] = source_in[:, None] * target_in[None]
    layers |= _copies(same)
    return layers


def _copies(same: Float32Array) -> Layers:
    """How alone an identical pair is: 1 over the number of its copies on each side."""
    return {
        "alone_source": same / np.maximum(same.sum(axis=0, keepdims=True), 1),
        "alone_target": same / np.maximum(same.sum(axis=1, keepdims=True), 1),
    }


def _shared_grams(
    source: tuple[str, ...], target: tuple[str, ...], size: int
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Counts of different character n-grams: shared by each pair of words, and of each word."""
    numbers: dict[str, int] = {}
    rows = [_grams(word, size, numbers) for word in (*source, *target)]
    table = np.zeros((len(rows), len(numbers) + 1), np.float32)
    for row, grams in zip(table, rows, strict=True):
        row[grams] = 1
    left, right = table[: len(source)], table[len(source) :]
    return left @ right.T, left.sum(axis=1), right.sum(axis=1)


def _grams(word: str, size: int, numbers: dict[str, int]) -> list[int]:
    marked = word if size == 1 else f"^{word}$"
    grams = {marked[k : k + size] for k in range(len(marked) - size + 1)}
    return [numbers.setdefault(gram, len(numbers)) for gram in sorted(grams)]


def tag_layers(source: Words, target: Words, _: Resources) -> Layers:
    """Tag agreement; the tag pair itself is an indicator of its own, kept as a number and not as a layer."""
    known = (source.tags[:, None] > 0) & (target.tags[None] > 0)
    return {
        "same_tag": _layer(known & (source.tags[:, None] == target.tags[None])),
        "same_kind": _layer(source.kinds[:, None] == target.kinds[None]),
    }


def position_layers(source: Words, target: Words, _: Resources) -> Layers:
    """Features of where two words stand."""
    source_places, target_places = np.arange(len(source)) / len(source), np.arange(len(target)) / len(target)
    apart = _layer(np.abs(source_places[:, None] - target_places[None]))
    function = (source.kinds[:, None] != CONTENT) | (target.kinds[None] != CONTENT)
    ends = np.zeros_like(apart)
    ends[0, 0] = ends[-1, -1] = 1
    return {"apart": apart, "apart_function": apart * function, "both_at_edge": ends}


def wordnet_layers(source: Words, target: Words, resources: Resources) -> Layers:
    """Features of how WordNet relates two words."""
    lemma = equal_pairs(source.lemmas, target.lemmas)
    same = equal_pairs(source.lower, target.lower)
    names = ("synonym", "derivation", "hypernym", "hyponym", "similar_sense", "antonym")
    layers: Layers = {name: np.zeros(lemma.shape, np.float32) for name in names}
    layers["lemma"] = _layer(lemma)
    layers["lemma_only"] = _layer(lemma & ~same)
    if resources.wordnet is not None:
        _fill_relations(layers, source, target, resources.wordnet)
    return layers


def _fill_relations(layers: Layers, source: Words, target: Words, wordnet: WordNet) -> None:
    """Only content words are looked up: WordNet has next to nothing on the others."""
    columns = [j for j in range(len(target)) if target.kinds[j] == CONTENT]
    entries = [(j, target.lemmas[j], wordnet.entry(target.lemmas[j])) for j in columns]
    for i in np.flatnonzero(source.kinds == CONTENT):
        lemma = source.lemmas[i]
        entry = wordnet.entry(lemma)
        for j, other, other_entry in entries:
            if lemma == other:
                continue
            if not entry.synsets.isdisjoint(other_entry.synsets):
                layers["synonym"][i, j] = 1
            if other in entry.derivations or not entry.derivations.isdisjoint(other_entry.derivations):
                layers["derivation"][i, j] = 1
            if not other_entry.hypernyms.isdisjoint(entry.synsets):
                layers["hypernym"][i, j] = 1
            if not entry.hypernyms.isdisjoint(other_entry.synsets):
                layers["hyponym"][i, j] = 1
            if other in entry.similar:
                layers["similar_sense"][i, j] = 1
            if other in entry.antonyms:
                layers["antonym"][i, j] = 1


def ppdb_layers(source: Words, target: Words, resources: Resources) -> Layers:
    """Pairs of different words that the user's list holds."""
    layer = np.zeros((len(source), len(target)), np.float32)
    if resources.ppdb is not None:
        for i, left in enumerate(source.lower):
            for j, right in enumerate(target.lower):
                layer[i, j] = left != right and (left, right) in resources.ppdb
    return {"ppdb": layer}


def vector_layers(source: Words, target: Words, resources: Resources) -> Layers:
    """Cosine of static vectors, bent at the knots, and how it stands against the best of its row and column."""
    if resources.vectors is None:
        cosine = np.zeros((len(source), len(target)), np.float32)
    else:
        cosine = np.clip(resources.vectors.matrix(source.lower) @ resources.vectors.matrix(target.lower).T, 0, 1)
    different = cosine * ~equal_pairs(source.lower, target.lower)
    content = (source.kinds[:, None] == CONTENT) & (target.kinds[None] == CONTENT)
    layers: Layers = {"cosine": cosine, "cosine_content": cosine * content}
    for knot in COSINE_KNOTS:
        layers[f"cosine_above_{knot}"] = _layer(np.maximum(different - knot, 0))
    layers["cosine_behind_source"] = cosine.max(axis=0, keepdims=True) - cosine
    layers["cosine_behind_target"] = cosine.max(axis=1, keepdims=True) - cosine
    return layers


def name_layers(source: Words, target: Words, _: Resources) -> Layers:
    """Two names: how alike they are spelled, whether one abbreviates the other, and names with words that are none."""
    both = source.names[:, None] & target.names[None]
    one = source.names[:, None] ^ target.names[None]
    spelled = cdist(source.forms, target.forms, scorer=JaroWinkler.similarity, dtype=np.float32)
    short = np.zeros(both.shape, np.float32)
    for i, j in zip(*np.nonzero(both), strict=True):
        short[i, j] = _abbreviates(source.lower[i], target.lower[j]) or _abbreviates(target.lower[j], source.lower[i])
    return {
        "names_alike": spelled * both,
        "names_near": _layer((spelled > 0.8) & both),
        "name_short": short,
        "name_with_other": _layer(one),
    }


def _abbreviates(short: str, full: str) -> bool:
    """J. - John, Sept. - September, US - U.S."""
    letters, bare = short.replace(".", ""), full.replace(".", "")
    return short != full and 0 < len(letters) <= len(bare) and bare.startswith(letters)


def context_layers(source: Words, target: Words, _: Resources) -> Layers:
    """Neighbours: the left and the right one alone, along the diagonal, and in any order within a window."""
    lemma = _layer(equal_pairs(source.lemmas, target.lemmas))
    alike = _layer(cdist(source.lower, target.lower, scorer=JaroWinkler.similarity, dtype=np.float32) > 0.7)
    tags = _layer((source.tags[:, None] == target.tags[None]) & (source.tags[:, None] > 0))
    function = _layer((source.kinds[:, None] != CONTENT) & (target.kinds[None] != CONTENT))
    layers: Layers = {}
    for name, shift in (("left", -1), ("right", 1)):
        layers[f"{name}_same"] = _shift(lemma, shift, edge=1.0)
        layers[f"{name}_alike"] = _shift(alike, shift, edge=1.0)
        layers[f"{name}_tag"] = _shift(tags, shift, edge=1.0)
        layers[f"{name}_same_function"] = layers[f"{name}_same"] * function
    layers["both_same"] = layers["left_same"] * layers["right_same"]
    layers["neither_same"] = (1 - layers["left_same"]) * (1 - layers["right_same"])
    layers["neither_same_function"] = layers["neither_same"] * function
    shifts = [shift for shift in range(-WINDOW, WINDOW + 1) if shift]
    layers["diagonal"] = _layer(sum(_shift(lemma, shift, edge=0.0) for shift in shifts) / len(shifts))
    layers["diagonal_function"] = layers["diagonal"] * function
    layers |= _window_layers(lemma, source, target, function)
    return layers


def _shift(layer: Float32Array, shift: int, edge: float) -> Float32Array:
    """layer[i + shift, j + shift]; `edge` where both leave their sentence at once, 0 where one does."""
    moved = np.zeros_like(layer)
    rows, columns = layer.shape
    if shift < 0:
        moved[-shift:, -shift:] = layer[:shift, :shift]
        moved[:-shift, :-shift] = edge
    else:
        moved[:-shift, :-shift] = layer[shift:, shift:]
        moved[max(rows - shift, 0) :, max(columns - shift, 0) :] = edge
    return moved


def _window_layers(lemma: Float32Array, source: Words, target: Words, function: Float32Array) -> Layers:
    """Share of the content words around i that also stand around j."""
    content = lemma * (source.kinds[:, None] == CONTENT) * (target.kinds[None] == CONTENT)
    bands = [
        _layer(np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= WINDOW) - np.eye(n, dtype=np.float32)
        for n in lemma.shape
    ]
    window = np.minimum(bands[0] @ content @ bands[1], WINDOW) / WINDOW
    best_row, best_column = window.max(axis=1, keepdims=True), window.max(axis=0, keepdims=True)
    return {
        "window": window,
        "window_function": window * function,
        "window_behind_target": best_row - window,
        "window_behind_source": best_column - window,
    }


LayerFunction = Callable[[Words, Words, Resources], Layers]
CELL_FAMILIES: dict[str, LayerFunction] = {
    "string": string_layers,
    "tags": tag_layers,
    "position": position_layers,
    "context": context_layers,
    "wordnet": wordnet_layers,
    "ppdb": ppdb_layers,
    "vectors": vector_layers,
    "names": name_layers,
}
# Layers that trade places when source and target do.
MIRRORED = (
    ("alone_source", "alone_target"),
    ("hypernym", "hyponym"),
    ("cosine_behind_source", "cosine_behind_target"),
    ("window_behind_source", "window_behind_target"),
)
