"""What speaks for two spans being each other's partner: one row of numbers for every pair of spans of two sentences.

Word links by their probability, vectors in context and static ones, evidence of the lexicon, categories, lengths, and
what stands around. The chunk aligner and the learned similarity of phrases ask the same questions and weigh the answers
by weights of their own. `SYMMETRIC` features stay as they are when the sentences change places; `DIRECTED` ones change
their sign. Everything is a product of matrices over words, so all pairs of spans cost little more than one.

Two sentences as their spans are judged: what each word counts and is, and what is known about pairs of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestalign.arrays import BoolArray, FloatArray
from forestalign.grammar import negation_words, punctuation_tags, stop_words
from forestalign.lexicon import WordNet, WordVectors
from forestalign.lexicon.wordnet import meeting
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence
from forestalign.tokens import Sentence, Token
from forestalign.words.alignment import WordAlignment
from forestalign.words.word_vectors import centred

LEAST_WEIGHT = 0.05  # of the commonest word that is not punctuation
TRAILING = ".,;:!?\"'"  # that other people's tokens may end in


@dataclass(frozen=True, slots=True, eq=False)
class SpanSide:
    """One sentence, by word: how much it counts, what it is, and its vectors, of unit length."""

    sentence: Sentence
    weight: FloatArray
    content: FloatArray  # the weight of content words, else 0
    keys: tuple[str, ...]  # lemmas in lower case
    contextual: FloatArray
    static: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SpanContext:
    """Two sentences and all that is known about pairs of their words."""

    source: SpanSide
    target: SpanSide
    links: FloatArray
    contextual: FloatArray
    static: FloatArray
    antonyms: FloatArray
    hypernyms: FloatArray  # 1 where the source word is the more general one, -1 the other way round
    evidence: tuple[PhraseEvidence, ...]


@dataclass(frozen=True, slots=True)
class SpanLexicon:
    """What is asked about words outside their sentences."""

    wordnet: WordNet
    vectors: WordVectors


def span_context(
    source: Sentence,
    target: Sentence,
    links: WordAlignment,
    evidence: Sequence[PhraseEvidence],
    lexicon: SpanLexicon,
) -> SpanContext:
    """Everything about two tagged sentences that pairs of their spans are judged by."""
    one, other = _contextual(source, target)
    left, right = _side(source, one, lexicon.vectors), _side(target, other, lexicon.vectors)
    antonyms, hypernyms = _relations(left, right, lexicon.wordnet)
    return SpanContext(
        left,
        right,
        links.matrix(len(source), len(target)),
        left.contextual @ right.contextual.T,
        left.static @ right.static.T,
        antonyms,
        hypernyms,
        tuple(evidence),
    )


def _contextual(source: Sentence, target: Sentence) -> tuple[FloatArray, FloatArray]:
    """Centred vectors in context; nothing where the parser gave none."""
    pair = centred(source, target)
    if pair is None:
        return np.zeros((len(source), 1)), np.zeros((len(target), 1))
    return unit_rows(pair[0].astype(np.float64)), unit_rows(pair[1].astype(np.float64))


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows of length one."""
    unit: FloatArray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return unit


def _side(sentence: Sentence, contextual: FloatArray, vectors: WordVectors) -> SpanSide:
    marks = punctuation_tags()
    weight = np.array(
        [0.0 if token.tag in marks else max(vectors.idf(token.form), LEAST_WEIGHT) for token in sentence.tokens]
    )
    is_content = np.array([_is_content(token) for token in sentence.tokens], np.float64)
    keys = tuple(token.key.rstrip(TRAILING) or token.form for token in sentence.tokens)
    static = vectors.matrix(sentence.words).astype(np.float64)
    return SpanSide(sentence, weight, weight * is_content, keys, contextual, static)


def _is_content(token: Token) -> bool:
    """Nouns, adjectives, adverbs, numbers, and verbs that are not auxiliaries."""
    if token.tag.startswith("VB"):
        return token.form.lower() not in stop_words()
    return token.tag[:2] in ("NN", "JJ", "RB", "CD", "FW")


def _relations(left: SpanSide, right: SpanSide, wordnet: WordNet) -> tuple[FloatArray, FloatArray]:
    antonyms, hypernyms = np.zeros((2, len(left.keys), len(right.keys)))
    rows, columns = np.flatnonzero(left.content).tolist(), np.flatnonzero(right.content).tolist()
    words, others = ([side.keys[k] for k in places] for side, places in ((left, rows), (right, columns)))
    entries, other_entries = list(map(wordnet.entry, words)), list(map(wordnet.entry, others))
    synsets, other_synsets = [each.synsets for each in entries], [each.synsets for each in other_entries]
    for a, b in meeting([each.antonyms for each in entries], [{other.lower()} for other in others]):
        antonyms[rows[a], columns[b]] = words[a] != others[b]
    for a, b in meeting(synsets, [each.hypernyms for each in other_entries]):
        hypernyms[rows[a], columns[b]] += 1.0
    for a, b in meeting([each.hypernyms for each in entries], other_synsets):
        hypernyms[rows[a], columns[b]] -= 1.0
    for a, b in meeting(synsets, other_synsets):  # the same word, or synonyms
        hypernyms[rows[a], columns[b]] = 0.0
    return antonyms, hypernyms


Words = Sequence[int]  # sorted numbers of the words of a span; a few spans have gaps
SYMMETRIC = (
    "links, lesser side", "links, greater side", "best link", "links leaving, lesser", "links leaving, greater",
    "context", "context of words", "context margin, lesser", "context margin, greater",
    "static", "static of words", "static margin, lesser", "static margin, greater",
    "head link", "head context", "head static",
    "equal", "similar", "related", "opposite", "different value", "antonyms",
    "same words", "same content", "shared content", "one inside the other",
    "same category", "both noun", "both verb", "both preposition", "noun and preposition", "noun and verb",
    "verb and preposition", "same preposition", "no word", "no word at all", "no content", "no content at all",
    "length ratio", "length", "place", "before", "after", "both first", "both last", "negation differs",
    "numbers differ", "both numbers", "both names", "extra content, lesser", "extra content, greater",
    "one side has extra words", "both have extra words", "no extra words", "one cut off", "both cut off",
)  # fmt: skip
DIRECTED = (
    "links", "more words", "extra content", "more general", "hypernyms", "extra words", "negation", "names",
    "alone has extra words",
)  # fmt: skip
NAMES = SYMMETRIC + DIRECTED
SYMMETRIC_PART, DIRECTED_PART = slice(0, len(SYMMETRIC)), slice(len(SYMMETRIC), len(NAMES))
MOST_CELLS = 1 << 20  # words by spans by words that are looked at together: what bounds the memory of long sentences
LIKELY_LINK = 0.5  # a link above this is one
OPENERS = frozenset({"DT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS"})  # tags of words that nouns come after
NOUN, VERB, PREPOSITION, OTHER, MARK = range(5)
RELATED = {"more specific": 1.0, "more general": -1.0}  # of the target; the feature is said of the source


def span_features(context: SpanContext, source: Sequence[Words], target: Sequence[Words]) -> FloatArray:
    """The features `NAMES` of all pairs of spans: [source spans, target spans, features]."""
    left, right = _Spans(context.source, source), _Spans(context.target, target)
    layers = {
        **_link_layers(context, left, right),
        **_vector_layers("context", left, right, context.contextual, left.contextual, right.contextual),
        **_vector_layers("static", left, right, context.static, left.static, right.static),
        **_head_layers(context, left, right),
        **_evidence_layers(context, left, right),
        **_word_layers(left, right),
        **_shape_layers(left, right),
        **_place_layers(context, left, right),
        **_extra_layers(context, left, right),
    }
    features = np.empty((len(source), len(target), len(NAMES)))
    for number, name in enumerate(NAMES):
        features[..., number] = layers[name]
    return features


class _Spans:
    """Spans of one sentence as masks over its words, and what each of them is."""

    def __init__(self, side: SpanSide, spans: Sequence[Words]):
        self.side, self.spans = side, spans
        size = len(side.sentence)
        self.mask = np.zeros((len(spans), size))
        for k, words in enumerate(spans):
            self.mask[k, list(words)] = 1.0
        self.weight = _shares(self.mask * side.weight)
        self.content_sum = self.mask @ side.content
        self.content = _shares(self.mask * side.content)
        self.words = self.mask @ (side.weight > 0)
        self.contextual = unit_rows(self.weight @ side.contextual)
        self.static = unit_rows(self.weight @ side.static)
        self.category = np.array([self._category(words) for words in spans], np.int64)
        self.head = np.array([self._head(k) for k in range(len(spans))], np.int64)
        self.begin = np.array([words[0] for words in spans], np.int64)
        self.end = np.array([words[-1] + 1 for words in spans], np.int64)
        self.is_cut = np.array([self._is_cut(k) for k in range(len(spans))], np.bool_)
        self.place = (self.begin + self.end) / (2.0 * size)

    def _category(self, words: Words) -> int:
        tags = [tag for tag in (self.side.sentence.tags[i] for i in words) if tag not in punctuation_tags()]
        if not tags:
            return MARK
        if tags[0] in ("IN", "TO") and len(tags) > 1 and not tags[1].startswith("VB"):
            return PREPOSITION
        if any(tag.startswith("NN") or tag in ("PRP", "CD") for tag in tags):
            return NOUN
        return VERB if any(tag.startswith("VB") or tag == "MD" for tag in tags) else OTHER

    def _head(self, k: int) -> int:
        """The last noun of a nominal, the last verb of a verbal span, else the last word."""
        words = self.spans[k]
        wanted = {NOUN: "NN", PREPOSITION: "NN", VERB: "VB"}.get(int(self.category[k]), "")
        places = [i for i in words if self.side.weight[i] > 0]
        right_kind = [i for i in places if wanted and self.side.sentence.tags[i].startswith(wanted)]
        return (right_kind or places or words)[-1]

    def _is_cut(self, k: int) -> bool:
        """Whether a nominal lacks what belongs to it: an article, a number or an adjective stands before it."""
        begin = self.begin[k]
        return self.category[k] == NOUN and begin > 0 and self.side.sentence.tags[begin - 1] in OPENERS

    def texts(self, content: bool) -> list[str]:
        """The words of each span, without punctuation, or its content lemmas in order."""
        side = self.side
        if content:
            return [" ".join(side.keys[i] for i in words if side.content[i] > 0) for words in self.spans]
        lowered = [word.lower().rstrip(TRAILING) for word in side.sentence.words]
        return [" ".join(lowered[i] for i in words if side.weight[i] > 0) for words in self.spans]

    def has(self, flags: Sequence[bool]) -> FloatArray:
        """Whether a span holds a word with the flag."""
        held: FloatArray = (self.mask @ np.array(flags, np.float64) > 0).astype(np.float64)
        return held


def _shares(weights: FloatArray) -> FloatArray:
    """Weights that sum to 1 in each row; equal ones never, since nothing then counts."""
    shares: FloatArray = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    return shares


def _best(table: FloatArray, left: _Spans, right: _Spans) -> tuple[FloatArray, FloatArray]:
    """For each source word the best value inside each target span, [words, target spans], and the other way round."""
    return _largest(table, right.mask > 0, -1.0), _largest(table.T, left.mask > 0, -1.0)


def _largest(table: FloatArray, mask: BoolArray, least: float) -> FloatArray:
    """The largest value of each row inside each mask, at least `least`: [rows, masks]; some masks at a time."""
    found = np.empty((len(table), len(mask)))
    step = max(1, MOST_CELLS // max(table.size, 1))
    for first in range(0, len(mask), step):
        part = slice(first, first + step)
        found[:, part] = np.where(mask[None, part], table[:, None, :], least).max(axis=2, initial=least)
    return found


def _both(forth: FloatArray, back: FloatArray, name: str) -> dict[str, FloatArray]:
    return {f"{name}, lesser": np.minimum(forth, back), f"{name}, greater": np.maximum(forth, back)}


def _link_layers(context: SpanContext, left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    inside, other = (np.maximum(part, 0.0) for part in _best(context.links, left, right))
    forth, back = left.weight @ inside, (right.weight @ other).T
    outside, beside = _outside(context.links, right), _outside(context.links.T, left)
    leaving = left.weight @ outside, (right.weight @ beside).T
    best = _largest(inside.T, left.mask > 0, 0.0).T
    return {
        "links, lesser side": np.minimum(forth, back),
        "links, greater side": np.maximum(forth, back),
        "links": forth - back,
        "best link": best,
        **_both(*leaving, "links leaving"),
    }


def _outside(links: FloatArray, spans: _Spans) -> FloatArray:
    """For each word the best link that goes past each span of the other sentence."""
    return _largest(links, spans.mask == 0, 0.0)


def _vector_layers(
    name: str, left: _Spans, right: _Spans, table: FloatArray, one: FloatArray, other: FloatArray
) -> dict[str, FloatArray]:
    whole = one @ other.T
    inside, beside = _best(table, left, right)
    words = (left.weight @ inside + (right.weight @ beside).T) / 2.0
    return {name: whole, f"{name} of words": words, **_both(_margin(whole), _margin(whole.T).T, f"{name} margin")}


def _margin(table: FloatArray) -> FloatArray:
    """How far each cell is above the best other one of its row."""
    if table.shape[1] < 2:
        return np.zeros_like(table)
    ordered = np.sort(table, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    margin: FloatArray = table - np.where(table >= best, second, best)
    return margin


def _head_layers(context: SpanContext, left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    cells = np.ix_(left.head, right.head)
    return {
        "head link": context.links[cells],
        "head context": context.contextual[cells],
        "head static": context.static[cells],
    }


def _evidence_layers(context: SpanContext, left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    """The strongest evidence inside a pair, by how much of the two spans it covers; against it, as it is."""
    names = ("equal", "similar", "related", "opposite", "different value", "more general")
    found = {name: np.zeros((len(left.spans), len(right.spans))) for name in names}
    for row in context.evidence:
        rows = np.flatnonzero(left.mask[:, list(row.source)].all(axis=1))
        columns = np.flatnonzero(right.mask[:, list(row.target)].all(axis=1))
        if not len(rows) or not len(columns):
            continue
        cells = np.ix_(rows, columns)
        covered = np.minimum.outer(
            left.weight[rows][:, list(row.source)].sum(axis=1), right.weight[columns][:, list(row.target)].sum(axis=1)
        )
        name = "related" if row.relation in RELATED else row.relation
        value = row.strength * (np.ones_like(covered) if name in ("opposite", "different value") else covered)
        found[name][cells] = np.maximum(found[name][cells], value)
        if row.relation in RELATED:
            found["more general"][cells] += RELATED[row.relation] * value
    found["antonyms"] = (left.mask @ context.antonyms @ right.mask.T > 0).astype(np.float64)
    found["hypernyms"] = np.clip(left.content @ context.hypernyms @ right.mask.T, -1.0, 1.0)
    return found


def _word_layers(left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    words, others = left.texts(False), right.texts(False)
    contents, other_contents = left.texts(True), right.texts(True)
    same = np.array([[bool(a) and a == b for b in others] for a in words], np.float64)
    same_content = np.array([[bool(a) and a == b for b in other_contents] for a in contents], np.float64)
    keys = np.array([[a == b for b in right.side.keys] for a in left.side.keys], np.float64)
    held, held_back = _best(keys, left, right)
    forth, back = left.content @ np.maximum(held, 0.0), (right.content @ np.maximum(held_back, 0.0)).T
    return {
        "same words": same,
        "same content": same_content,
        "shared content": (forth + back) / 2.0,
        "one inside the other": (np.maximum(forth, back) > 0.999).astype(np.float64),
    }


def _shape_layers(left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    one, other = left.category[:, None], right.category[None, :]
    either = [(one == a) & (other == b) | (one == b) & (other == a) for a, b in _MIXED.values()]
    lengths, others = left.words[:, None], right.words[None, :]
    first = [[side.side.keys[words[0]] for words in side.spans] for side in (left, right)]
    prepositions = (one == PREPOSITION) & (other == PREPOSITION)
    return {
        "same category": one == other,
        "both noun": (one == NOUN) & (other == NOUN),
        "both verb": (one == VERB) & (other == VERB),
        "both preposition": prepositions,
        **dict(zip(_MIXED, either, strict=True)),
        "same preposition": prepositions & (np.array(first[0])[:, None] == np.array(first[1])[None, :]),
        "no word": (one == MARK) | (other == MARK),
        "no word at all": (one == MARK) & (other == MARK),
        "no content": (left.content_sum[:, None] == 0) | (right.content_sum[None, :] == 0),
        "no content at all": (left.content_sum[:, None] == 0) & (right.content_sum[None, :] == 0),
        "length ratio": np.minimum(lengths, others) / np.maximum(np.maximum(lengths, others), 1.0),
        "length": np.log1p(lengths) + np.log1p(others),
        "more words": np.log1p(lengths) - np.log1p(others),
    }


_MIXED = {
    "noun and preposition": (NOUN, PREPOSITION),
    "noun and verb": (NOUN, VERB),
    "verb and preposition": (VERB, PREPOSITION),
}


def _place_layers(context: SpanContext, left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    """Where the spans stand, and whether the words before and after them are linked to each other."""
    size, other = context.links.shape
    padded = np.zeros((size + 2, other + 2))
    padded[1:-1, 1:-1] = context.links
    begins, ends, other_begins, other_ends = left.begin, left.end, right.begin, right.end
    return {
        "place": np.abs(left.place[:, None] - right.place[None, :]),
        "before": padded[np.ix_(begins, other_begins)],
        "after": padded[np.ix_(ends + 1, other_ends + 1)],
        "both first": (begins[:, None] == 0) & (other_begins[None, :] == 0),
        "one cut off": left.is_cut[:, None] != right.is_cut[None, :],
        "both cut off": left.is_cut[:, None] & right.is_cut[None, :],
        "both last": (ends[:, None] == size) & (other_ends[None, :] == other),
    }


def _extra_layers(context: SpanContext, left: _Spans, right: _Spans) -> dict[str, FloatArray]:
    """Content of one span that finds no partner in the other; negations, numbers and names."""
    inside, other = (np.maximum(part, 0.0) for part in _best(context.links, left, right))
    forth = left.mask @ (context.source.content[:, None] * (1.0 - inside))
    back = (right.mask @ (context.target.content[:, None] * (1.0 - other))).T
    more = left.mask @ ((context.source.content[:, None] > 0) & (inside < LIKELY_LINK)) > 0
    less = (right.mask @ ((context.target.content[:, None] > 0) & (other < LIKELY_LINK)) > 0).T
    flags = [_flags(side) for side in (left, right)]
    negated, numbers, names = ([flags[side][k] for side in (0, 1)] for k in range(3))
    key_sets = [_number_keys(side) for side in (left, right)]
    differ = np.array([[bool(a) and bool(b) and a != b for b in key_sets[1]] for a in key_sets[0]], np.float64)
    return {
        **_both(forth, back, "extra content"),
        "extra content": forth - back,
        "one side has extra words": more != less,
        "both have extra words": more & less,
        "no extra words": ~(more | less),
        "alone has extra words": more.astype(np.float64) - less,
        "extra words": np.tanh(left.words[:, None] - right.words[None, :]),
        "negation differs": negated[0][:, None] != negated[1][None, :],
        "negation": negated[0][:, None] - negated[1][None, :],
        "numbers differ": differ,
        "both numbers": numbers[0][:, None] * numbers[1][None, :],
        "both names": names[0][:, None] * names[1][None, :],
        "names": names[0][:, None] - names[1][None, :],
    }


def _flags(side: _Spans) -> tuple[FloatArray, FloatArray, FloatArray]:
    tokens = side.side.sentence.tokens
    negated = side.has([token.form.lower() in negation_words() for token in tokens])
    numbers = side.has([token.tag == "CD" for token in tokens])
    return negated, numbers, side.has([token.tag.startswith("NNP") for token in tokens])


def _number_keys(side: _Spans) -> list[frozenset[str]]:
    tokens = side.side.sentence.tokens
    return [frozenset(side.side.keys[i] for i in words if tokens[i].tag == "CD") for words in side.spans]
