"""Profile `published`: what the published program of Sultan, Bethard and Sumner (2014) does, quirks included.

Stages, each seeing the links of those before: final punctuation, identical sequences, hyphenated groups (`identity`),
named entities (`names`), content words by dependencies (verbs, nouns, adjectives, adverbs in turn) and by text,
leftover hyphens, stop words by dependencies and by text.

Quirks kept on purpose:
 - runs of stop words alone count as identical sequences;
 - any relative counts as dependency evidence, whatever its tag, and two roots are a pair of parents worth 1;
 - in the text stages words wear out (`candidates.compete`): a pair of dissimilar words in rich context can block both;
 - stop words linked by dependencies may get several partners, and the relation is ignored;
 - evidence from the neighbours of stop words is frozen at the start of that stage.

Not kept: the program joins tokens and tokenizes them anew, so that indices shift; tokens stay as they are here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.grammar import stop_words
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import Analysis
from forestalign.words.dependency_arcs import ANY, ROOT, Equivalences, Orientation
from forestalign.words.similarity import PUNCTUATION
from forestalign.words.sultan.candidates import ALL_STAGES, Candidate, Copies, Pair, Stages, best_first, compete
from forestalign.words.sultan.families import Family, relative_pairs
from forestalign.words.sultan.growing_links import Links
from forestalign.words.sultan.identity import (
    link_final_punctuation,
    link_hyphenated_groups,
    link_leftover_hyphens,
    link_sequences,
)
from forestalign.words.sultan.name_links import link_names

CLITICS = frozenset({"'s", "'d", "'ll"})
WINDOW = 3
CATEGORIES = "vnjr"
RELATIVE_ORDER = (Orientation.PARENTS, Orientation.CHILDREN, Orientation.PARENT_CHILD, Orientation.CHILD_PARENT)
STOP_WORD_RELATIVES = (Orientation.PARENTS, Orientation.CHILDREN)
VERB_RELATIVE_ORDER = (Orientation.CHILDREN, Orientation.PARENTS, Orientation.PARENT_CHILD, Orientation.CHILD_PARENT)


def align_published(
    pair: Pair, lemma_similarity: FloatArray, equivalences: Equivalences, stages: Stages = ALL_STAGES
) -> WordAlignment:
    """All stages in the order of the program."""
    links = Links()
    families = Family.of(pair.source), Family.of(pair.target)
    link_final_punctuation(pair, links)
    if stages.text:
        link_sequences(pair, links)
    link_hyphenated_groups(pair, links)
    link_names(pair.source, pair.target, links)
    if stages.dependencies:
        for category in CATEGORIES:
            link_by_dependencies(pair, category, families, equivalences, links)
    link_by_text(pair, lemma_similarity, links, stages)
    link_leftover_hyphens(pair, links)
    if stages.stop_words and stages.dependencies:
        link_stop_words_by_dependencies(pair, lemma_similarity, families, links)
    if stages.stop_words:
        link_stop_words_by_text(pair, lemma_similarity, links, stages)
    return links.alignment()


# ---- content words ----


def link_by_dependencies(
    pair: Pair, category: str, families: tuple[Family, Family], equivalences: Equivalences, links: Links
) -> None:
    """One category: link the best pair with evidence, then the relatives that gave it, until no pair is left."""
    candidates: list[Candidate] = []
    relatives: dict[tuple[int, int], list[tuple[int, int]]] = {}
    targets = _content(pair.target, category, links.targets)
    for i in _content(pair.source, category, links.sources):
        for j in targets:
            similarity = float(pair.similarity[i, j])
            if similarity >= pair.level:
                evidence, relatives[i, j] = _dependency_evidence(pair, category, i, j, families, equivalences)
                candidates.append(pair.candidate(i, j, similarity, evidence, evidence > 0))
    for candidate in best_first(candidates):
        i, j = candidate.source, candidate.target
        if candidate.linkable and links.are_free(i, j):
            links.add(i, j, "content dependency", candidate.score)
            for k, l in relatives[i, j]:
                if links.are_free(k, l):
                    links.add(k, l, "dependency relative", float(pair.similarity[k, l]))


def _content(analysis: Analysis, category: str, taken: set[int]) -> list[int]:
    """Free words of a category whose lemma is not a stop word; particles (RP) count as adverbs."""
    places = _content_places(analysis.sentence.tags, analysis.sentence.lemmas)
    return [index for index in places.get(category, ()) if index not in taken]


@lru_cache(maxsize=8)
def _content_places(tags: tuple[str, ...], lemmas: tuple[str, ...]) -> dict[str, list[int]]:
    """Words whose lemma is not a stop word by the first letter of their tag, in small letters."""
    stop, places = stop_words(), dict[str, list[int]]()
    for index, (tag, lemma) in enumerate(zip(tags, lemmas, strict=True)):
        if lemma not in stop:
            places.setdefault(tag[:1].lower(), []).append(index)
    return places


def _dependency_evidence(
    pair: Pair, category: str, i: int, j: int, families: tuple[Family, Family], equivalences: Equivalences
) -> tuple[float, list[tuple[int, int]]]:
    """Sum of the similarities of relatives in equivalent relations, and those relatives. Two roots count 1."""
    evidence, found = 0.0, []
    for orientation in VERB_RELATIVE_ORDER if category == "v" else RELATIVE_ORDER:
        for left, right in relative_pairs(*families, i, j, orientation):
            if left.word == ROOT or right.word == ROOT:
                evidence += float(left == right)
                continue
            similarity = float(pair.similarity[left.word, right.word])
            if similarity >= pair.level and (
                left.relation == right.relation
                or equivalences.has(orientation, category, ANY, left.relation, right.relation)
            ):
                evidence += similarity
                found.append((left.word, right.word))
    return evidence, found


def link_by_text(pair: Pair, lemma_similarity: FloatArray, links: Links, stages: Stages) -> None:
    """Content words, dissimilar ones too, by what stands within three tokens of them."""
    sources = [i for i in _open_tokens(pair.source) if i not in links.sources]
    targets = [j for j in _open_tokens(pair.target) if j not in links.targets]
    if not sources or not targets:
        return
    evidence = _text_evidence(pair, lemma_similarity) if stages.text else np.zeros_like(lemma_similarity)
    scores = pair.weight * pair.similarity + (1 - pair.weight) * evidence
    is_asked = np.zeros(scores.shape, np.bool_)
    is_asked[np.ix_(sources, targets)] = True
    candidates = [
        Candidate(i, j, float(scores[i, j]), bool(pair.similarity[i, j] >= pair.level))
        for i, j in np.argwhere(is_asked & (scores > 0.0)).tolist()
    ]
    for candidate in compete(candidates, exclusive=True, copies_left=Copies.of_all(sources, targets)):
        links.add(candidate.source, candidate.target, "content text", candidate.score)


def _open_tokens(analysis: Analysis) -> list[int]:
    """Tokens that the text stage takes for content: quotation marks and dashes are among them."""
    closed = _closed_lemmas()
    return [index for index, lemma in enumerate(analysis.sentence.lemmas) if lemma not in closed]


@cache
def _closed_lemmas() -> frozenset[str]:
    return stop_words() | PUNCTUATION | CLITICS


def _text_evidence(pair: Pair, lemma_similarity: FloatArray) -> FloatArray:
    """Sum of lemma similarities over the content words within three tokens of i and of j, themselves left out."""
    known = np.where(lemma_similarity >= pair.level, lemma_similarity, 0.0)
    near: FloatArray = _window(pair.source) @ known @ _window(pair.target).T
    return near


def _window(analysis: Analysis) -> FloatArray:
    """1 where token k is a content word within three tokens of i; stop words are taken out after counting."""
    is_open = np.zeros(len(analysis))
    is_open[_open_tokens(analysis)] = 1.0
    result: FloatArray = _within(len(analysis)) * is_open
    return result


@lru_cache(maxsize=64)
def _within(count: int) -> FloatArray:
    """1 where two different tokens are within the window."""
    distance = np.abs(np.arange(count)[:, None] - np.arange(count)[None, :])
    result: FloatArray = ((distance <= WINDOW) & (distance > 0)).astype(np.float64)
    return result


# ---- stop words ----


def link_stop_words_by_dependencies(
    pair: Pair, lemma_similarity: FloatArray, families: tuple[Family, Family], links: Links
) -> None:
    """Free stop words whose parents or children are linked, whatever the relations; several partners may come of it."""
    candidates = []
    for i, j in _stop_pairs(pair, lemma_similarity, stop_words(), links):
        evidence = sum(
            (left.word, right.word) in links
            for orientation in STOP_WORD_RELATIVES
            for left, right in relative_pairs(*families, i, j, orientation)
        )
        candidates.append(pair.candidate(i, j, float(lemma_similarity[i, j]), evidence, evidence > 0))
    for candidate in list(compete(candidates, exclusive=False)):
        links.add(candidate.source, candidate.target, "stop dependency", candidate.score)


def link_stop_words_by_text(pair: Pair, lemma_similarity: FloatArray, links: Links, stages: Stages) -> None:
    """Free stop words, punctuation and clitics whose left or right neighbours are linked."""
    candidates = []
    for i, j in _stop_pairs(pair, lemma_similarity, _closed_lemmas(), links):
        evidence = ((i - 1, j - 1) in links) + ((i + 1, j + 1) in links)
        candidates.append(
            pair.candidate(i, j, float(lemma_similarity[i, j]), evidence, evidence > 0 or not stages.text)
        )
    for candidate in list(compete(candidates, exclusive=True)):
        links.add(candidate.source, candidate.target, "stop text", candidate.score)


def _stop_pairs(
    pair: Pair, lemma_similarity: FloatArray, closed: frozenset[str], links: Links
) -> Iterator[tuple[int, int]]:
    """Free pairs of closed-class words with similar lemmas."""
    sources, targets = pair.source.sentence.lemmas, pair.target.sentence.lemmas
    free_targets = [j for j, lemma in enumerate(targets) if lemma in closed and j not in links.targets]
    for i, lemma in enumerate(sources):
        if lemma in closed and i not in links.sources:
            is_similar = (lemma_similarity[i] >= pair.level).tolist()
            yield from ((i, j) for j in free_targets if is_similar[j])
