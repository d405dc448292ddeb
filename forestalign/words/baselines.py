"""Meteor's matcher (Denkowski and Lavie 2014): the largest set of matches in the fewest chunks.

Matches are found by modules: `exact` (the same lower-case form), `stem` (the same Snowball stem), `synonym` (WordNet),
`paraphrase` (the user's list; phrases may have several words). Chosen is the set in which every
word is covered at most once and which, in this order,

1. covers the most words of both sentences,
2. has the fewest chunks (runs of matches that are contiguous and in the same order in both sentences),
3. has the least sum of distances between the beginnings of the matches.

The search goes through the source once. A state is the target words that are taken and the end of the last match; of
two histories that lead to the same state only the better one is kept, so that the result is exact as long as no more
than BEAM states are alive.

Links from a matrix of similarities, as SimAlign makes them (Jalili Sabet et al. 2020, section 3.2).

`similarity_links` takes the centred cosines of the encoder's vectors, and nothing else.

Words are linked that each have their highest similarity at the other. A second round, and the best one-to-one matching,
gave the same F1 (docs/words.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestalign.arrays import AnyFloatArray
from forestalign.errors import UsageError
from forestalign.lexicon import PairList, PhraseLists, WordNet
from forestalign.lexicon.findings import EQUAL, SIMILAR, take_apart
from forestalign.tokens import Sentence, Span
from forestalign.words.alignment import WordAlignment, WordLink
from forestalign.words.similarity import form
from forestalign.words.word_vectors import centred_cosines

BEAM = 40  # states, as many as Meteor keeps; more change next to nothing
# the weights of Meteor 1.5 for English
MODULE_WEIGHTS = {"exact": 1.0, "stem": 0.6, "synonym": 0.8, "paraphrase": 0.6}


class WordMatch(NamedTuple):
    """Words of the source with words of the target, by a module."""

    source: Span
    target: Span
    module: str


@dataclass(frozen=True, slots=True)
class MeteorSources:
    """What the modules `synonym` and `paraphrase` look into; None: nothing."""

    wordnet: WordNet | None = None
    pairs: PairList | None = None
    phrases: PhraseLists | None = None


def meteor_links(source: Sentence, target: Sentence, sources: MeteorSources) -> WordAlignment:
    """The matches as word links; a match of phrases links each word of one with each of the other."""
    links = [
        WordLink(i, j, MODULE_WEIGHTS[match.module], match.module)
        for match in best_matches(find_matches(source, target, sources), len(source))
        for i in range(*match.source)
        for j in range(*match.target)
    ]
    return WordAlignment(tuple(sorted(links)))


# ---- matches ----


def find_matches(source: Sentence, target: Sentence, sources: MeteorSources) -> list[WordMatch]:
    """All matches, each pair of phrases once, by the first module that has it."""
    found: dict[tuple[Span, Span], str] = {}
    for i, left in enumerate(source.tokens):
        for j, right in enumerate(target.tokens):
            lemmas = (left.key, right.key)
            if module := _module(left.form, right.form, lemmas, sources):
                found[Span(i, i + 1), Span(j, j + 1)] = module
    for spans in _phrase_matches(source, target, sources):
        found.setdefault(spans, "paraphrase")
    return [WordMatch(*spans, module) for spans, module in sorted(found.items())]


def _module(left: str, right: str, lemmas: tuple[str, str], sources: MeteorSources) -> str:
    one, other = form(left), form(right)
    if one.lower == other.lower:
        return "exact"
    if one.is_punctuation or other.is_punctuation:
        return ""
    if one.stem == other.stem:
        return "stem"
    if sources.wordnet is not None and sources.wordnet.are_synonyms(*lemmas):
        return "synonym"
    if sources.pairs is not None and (one.lower, other.lower) in sources.pairs:
        return "paraphrase"
    return ""


def _phrase_matches(source: Sentence, target: Sentence, sources: MeteorSources) -> Iterator[tuple[Span, Span]]:
    if sources.phrases is None:
        return
    for finding in sources.phrases.findings(take_apart(source), take_apart(target)):
        own, other = _contiguous(finding.source), _contiguous(finding.target)
        if own and other and finding.relation in (EQUAL, SIMILAR):
            yield own, other


def _contiguous(tokens: Sequence[int]) -> Span | None:
    span = Span(min(tokens), max(tokens) + 1) if tokens else None
    return span if span and span.size == len(tokens) else None


# ---- the best set ----


class _Value(NamedTuple):
    """Larger is better, field by field."""

    covered: int = 0
    minus_chunks: int = 0
    minus_distance: int = 0

    def plus(self, match: WordMatch, begins_chunk: bool) -> _Value:
        words = match.source.end - match.source.begin + match.target.end - match.target.begin
        distance = abs(match.source.begin - match.target.begin)
        return _Value(self.covered + words, self.minus_chunks - begins_chunk, self.minus_distance - distance)


class _State(NamedTuple):
    taken: int  # bits of the target words that are covered
    source_end: int  # of the last match; where the chunk ended, -1
    target_end: int


class _History(NamedTuple):
    match: WordMatch
    before: _History | None


def best_matches(matches: Sequence[WordMatch], source_length: int, beam: int = BEAM) -> tuple[WordMatch, ...]:
    """The set of matches that Meteor's three rules choose; of equal ones that with the earliest matches."""
    starting: list[list[WordMatch]] = [[] for _ in range(source_length)]
    for match in matches:
        starting[match.source.begin].append(match)
    agenda: list[dict[_State, tuple[_Value, _History | None]]] = [{} for _ in range(source_length + 1)]
    agenda[0][_State(0, -1, -1)] = (_Value(), None)
    for position in range(source_length):
        alive = sorted(agenda[position].items(), key=lambda item: (item[1][0], item[0]), reverse=True)[:beam]
        for state, (value, history) in alive:
            for match in starting[position]:
                bits = ((1 << (match.target.end - match.target.begin)) - 1) << match.target.begin
                if not state.taken & bits:
                    goes_on = (state.source_end, state.target_end) == (match.source.begin, match.target.begin)
                    after = _State(state.taken | bits, match.source.end, match.target.end)
                    _keep(agenda[match.source.end], after, value.plus(match, not goes_on), _History(match, history))
            _keep(agenda[position + 1], _State(state.taken, -1, -1), value, history)
    ends = agenda[source_length].items()
    return _matches_of(max(ends, key=lambda item: (item[1][0], item[0]))[1][1])


def _keep(
    states: dict[_State, tuple[_Value, _History | None]], state: _State, value: _Value, history: _History | None
) -> None:
    if state not in states or value > states[state][0]:
        states[state] = (value, history)


def _matches_of(history: _History | None) -> tuple[WordMatch, ...]:
    found: list[WordMatch] = []
    while history is not None:
        found.append(history.match)
        history = history.before
    return tuple(reversed(found))


Links = tuple[tuple[int, int], ...]
THRESHOLD = 0.6  # cosines below are not links; of 0.3 to 0.7 the best on parts of msr-rte2.dev and edinburgh.train


def argmax_links(similarity: AnyFloatArray) -> Links:
    """The links on which both directions agree; of equal similarities the first counts."""
    if not similarity.size:
        return ()
    forward, back = similarity.argmax(1), similarity.argmax(0)
    return tuple((i, int(j)) for i, j in enumerate(forward) if back[j] == i and similarity[i, j] > 0.0)


def similarity_links(source: Sentence, target: Sentence, threshold: float = THRESHOLD) -> WordAlignment:
    """The links on which both directions agree, over the cosines that reach the threshold."""
    cosines = centred_cosines(source, target)
    if cosines is None:
        raise UsageError("the method similarity needs word vectors, which only parsers with an encoder give")
    links = argmax_links(np.where(cosines >= threshold, cosines, 0.0))
    return WordAlignment(tuple(WordLink(i, j, float(cosines[i, j]), "argmax") for i, j in links))
