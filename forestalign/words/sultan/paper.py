"""Profile `paper`: the pipeline of Algorithm 5 of Sultan, Bethard and Sumner (2014) as its text says.

    wsAlign        identical sequences of two words or more with a content word in them (3.3.1)
    neAlign        named entities: full and partial mentions, acronyms, ranked with the context of their heads (3.3.2)
    cwDepAlign     content words by dependencies, one ranking over all categories (Algorithms 1 and 3, Table 1)
    cwTextAlign    content words by their neighbours (Algorithms 2 and 4)
    swDepAlign     stop words whose relatives in the same relation are linked (3.3.4)
    swTextAlign    stop words whose left or right neighbours are linked (3.3.4)

Each stage is one-to-one and leaves words alone that have a link. Left open by the text and settled here: punctuation
counts as stop words; the category of a word is the initial of its tag; partial mentions must have the same, known
type (see `names`); before the first and after the last words stand neighbours that are linked; ties go to the smaller
indices.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.grammar import stop_words
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import CROSSED, ROOT, Analysis, Entity, Equivalences, Orientation
from forestalign.words.sultan.published import is_acronym
from forestalign.words.sultan.stages import (
    ALL_STAGES,
    Candidate,
    Family,
    Links,
    Pair,
    Stages,
    best_first,
    common_runs,
    relative_pairs,
)

WINDOW = 3  # Algorithm 2
CATEGORIES = frozenset("vnjr")
Families = tuple[Family, Family]


def align_paper(pair: Pair, equivalences: Equivalences, stages: Stages = ALL_STAGES) -> WordAlignment:
    """Algorithm 5."""
    links = Links()
    families = Family.of(pair.source), Family.of(pair.target)
    if stages.text:
        link_sequences(pair, links)
    link_names(pair, families, equivalences, links)
    if stages.dependencies:
        link_content_by_dependencies(pair, families, equivalences, links)
    link_content_by_text(pair, links, stages)
    if stages.stop_words and stages.dependencies:
        link_stop_words_by_dependencies(pair, families, links)
    if stages.stop_words:
        link_stop_words_by_text(pair, links, stages)
    return links.alignment()


def is_stop(analysis: Analysis) -> list[bool]:
    """Stop words by surface or lemma, and tokens without a letter or digit."""
    return [
        token.form.lower() in stop_words()
        or token.lemma in stop_words()
        or not any(character.isalnum() for character in token.form)
        for token in analysis.sentence.tokens
    ]


def link_sequences(pair: Pair, links: Links) -> None:
    """wsAlign: links identical sequences."""
    source, target = ([word.lower() for word in side.sentence.words] for side in (pair.source, pair.target))
    stops = is_stop(pair.source)
    for i, j, length in common_runs(source, target, smallest=2):
        if all(stops[i : i + length]):
            continue
        for step in range(length):
            if links.are_free(i + step, j + step):
                links.add(i + step, j + step, "sequence")


# ---- names ----


def link_names(pair: Pair, families: Families, equivalences: Equivalences, links: Links) -> None:
    """neAlign: pairs of names, best first, each name once; the words of a pair that are still free are linked."""
    candidates = []
    for a, left in enumerate(pair.source.entities):
        for b, right in enumerate(pair.target.entities):
            similarity = _name_similarity(pair, left, right)
            if similarity > 0:
                heads = _head(pair.source, left), _head(pair.target, right)
                context = dependency_context(pair, *heads, families, equivalences)
                candidates.append(
                    pair.candidate(a, b, similarity, sum(pair.similarity[k, l] for k, l in context), True)
                )
    for candidate in _one_to_one(candidates):
        left, right = pair.source.entities[candidate.source], pair.target.entities[candidate.target]
        for i, j in _name_links(pair, left, right):
            if i not in links.sources or j not in links.targets:
                links.add(i, j, "name", candidate.score)


def _name_similarity(pair: Pair, left: Entity, right: Entity) -> float:
    """1 for the same words, level for a part of them or an acronym."""
    left_words, right_words = _words(pair.source, left), _words(pair.target, right)
    if left_words == right_words:
        return 1.0
    is_part = set(left_words) <= set(right_words) or set(right_words) <= set(left_words)
    if (
        (is_part and left.type and left.type == right.type)
        or is_acronym(left_words, right_words)
        or is_acronym(right_words, left_words)
    ):
        return pair.level
    return 0.0


def _words(analysis: Analysis, name: Entity) -> tuple[str, ...]:
    return analysis.sentence.words[name.begin : name.end]


def _head(analysis: Analysis, name: Entity) -> int:
    """The word of the name whose head lies outside it; the last word where there are several."""
    heads = analysis.dependencies.heads
    outside = [index for index in range(name.begin, name.end) if not name.begin <= heads[index] < name.end]
    return outside[-1] if outside else name.end - 1


def _name_links(pair: Pair, left: Entity, right: Entity) -> Iterator[tuple[int, int]]:
    """Equal words; then every word without an equal with all words of the other name."""
    left_words, right_words = _words(pair.source, left), _words(pair.target, right)
    if left_words == right_words:
        yield from zip(range(left.begin, left.end), range(right.begin, right.end), strict=True)
        return
    for a, left_word in enumerate(left_words):
        for b, right_word in enumerate(right_words):
            if left_word == right_word or left_word not in right_words or right_word not in left_words:
                yield left.begin + a, right.begin + b


# ---- content words ----


def dependency_context(
    pair: Pair, i: int, j: int, families: Families, equivalences: Equivalences
) -> list[tuple[int, int]]:
    """Algorithm 1: pairs of similar relatives of one category in equal or equivalent relations."""
    source_tags, target_tags = pair.source.sentence.tags, pair.target.sentence.tags
    category = source_tags[i][:1].lower()
    if category != target_tags[j][:1].lower() or category not in CATEGORIES:
        return []
    context = []
    for orientation in Orientation:
        for left, right in relative_pairs(*families, i, j, orientation):
            if ROOT in (left.word, right.word) or pair.similarity[left.word, right.word] <= 0:
                continue
            relative_category = source_tags[left.word][:1].lower()
            if relative_category != target_tags[right.word][:1].lower():
                continue
            is_equal = left.relation == right.relation and orientation not in CROSSED
            row = (orientation, category, relative_category, left.relation, right.relation)
            if is_equal or equivalences.has(*row):
                context.append((left.word, right.word))
    return context


def link_content_by_dependencies(pair: Pair, families: Families, equivalences: Equivalences, links: Links) -> None:
    """Algorithm 3: pairs with evidence, best first, each followed by the pairs that gave the evidence."""
    candidates, contexts = [], {}
    for i, j in _free_content_pairs(pair, links):
        context = dependency_context(pair, i, j, families, equivalences)
        if context:
            contexts[i, j] = context
            evidence = float(sum(pair.similarity[k, l] for k, l in context))
            candidates.append(pair.candidate(i, j, float(pair.similarity[i, j]), evidence, True))
    for candidate in best_first(candidates):
        i, j = candidate.source, candidate.target
        if links.are_free(i, j):
            links.add(i, j, "content dependency", candidate.score)
            for k, l in contexts[i, j]:
                if links.are_free(k, l):
                    links.add(k, l, "dependency relative", float(pair.similarity[k, l]))


def _free_content_pairs(pair: Pair, links: Links) -> Iterator[tuple[int, int]]:
    """Similar pairs of content words without links."""
    source_stops, target_stops = is_stop(pair.source), is_stop(pair.target)
    for i, j in np.argwhere(pair.similarity > 0):
        if links.are_free(int(i), int(j)) and not source_stops[i] and not target_stops[j]:
            yield int(i), int(j)


def link_content_by_text(pair: Pair, links: Links, stages: Stages) -> None:
    """Algorithm 4, with the context of Algorithm 2; no evidence is needed where nothing competes."""
    evidence = text_context(pair) if stages.text else np.zeros_like(pair.similarity)
    candidates = [
        pair.candidate(i, j, float(pair.similarity[i, j]), float(evidence[i, j]), True)
        for i, j in _free_content_pairs(pair, links)
    ]
    for candidate in _one_to_one(candidates):
        links.add(candidate.source, candidate.target, "content text", candidate.score)


def text_context(pair: Pair) -> FloatArray:
    """Algorithm 2, summed: similarities of the content words within three tokens of i and of j."""
    result: FloatArray = _window(pair.source) @ pair.similarity @ _window(pair.target).T
    return result


def _window(analysis: Analysis) -> FloatArray:
    distance = np.abs(np.subtract.outer(np.arange(len(analysis)), np.arange(len(analysis))))
    return ((distance <= WINDOW) & (distance > 0)) * (1.0 - np.array(is_stop(analysis), dtype=np.float64))


def _one_to_one(candidates: list[Candidate]) -> Iterator[Candidate]:
    sources: set[int] = set()
    targets: set[int] = set()
    for candidate in best_first(candidates):
        if candidate.source not in sources and candidate.target not in targets:
            sources.add(candidate.source)
            targets.add(candidate.target)
            yield candidate


# ---- stop words ----


def link_stop_words_by_dependencies(pair: Pair, families: Families, links: Links) -> None:
    """swDepAlign: evidence are linked relatives in exactly the same relation."""
    candidates = []
    for i, j in _free_stop_pairs(pair, links):
        evidence = sum(
            (left.word, right.word) in links and left.relation == right.relation
            for orientation in (Orientation.PARENTS, Orientation.CHILDREN)
            for left, right in relative_pairs(*families, i, j, orientation)
        )
        if evidence:
            candidates.append(pair.candidate(i, j, float(pair.similarity[i, j]), evidence, True))
    for candidate in _one_to_one(candidates):
        links.add(candidate.source, candidate.target, "stop dependency", candidate.score)


def link_stop_words_by_text(pair: Pair, links: Links, stages: Stages) -> None:
    """swTextAlign: evidence are linked left neighbours, and linked right neighbours."""
    candidates = []
    for i, j in _free_stop_pairs(pair, links):
        evidence = _is_linked(pair, links, i - 1, j - 1) + _is_linked(pair, links, i + 1, j + 1)
        if evidence or not stages.text:
            candidates.append(pair.candidate(i, j, float(pair.similarity[i, j]), evidence, True))
    for candidate in _one_to_one(candidates):
        links.add(candidate.source, candidate.target, "stop text", candidate.score)


def _is_linked(pair: Pair, links: Links, i: int, j: int) -> bool:
    """Whether two neighbours are linked; the two beginnings are, and the two ends."""
    return (i, j) in links or i == j == -1 or (i == len(pair.source) and j == len(pair.target))


def _free_stop_pairs(pair: Pair, links: Links) -> Iterator[tuple[int, int]]:
    """Similar pairs without links in which both are stop words."""
    source_stops, target_stops = is_stop(pair.source), is_stop(pair.target)
    for i, j in np.argwhere(pair.similarity > 0):
        if links.are_free(int(i), int(j)) and source_stops[i] and target_stops[j]:
            yield int(i), int(j)
