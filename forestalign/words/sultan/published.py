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

Named entities, as the published program links them: full matches, acronyms, partial mentions.

First names are carried over from one sentence to the other: a capitalised word outside all names that is part of a
name there, or its acronym, becomes a name. Then pairs of names are linked: equal ones word by word, an acronym with
every word of its name, and where one name's words are a part of the other's, equal words, and every word of the
shorter with the words of the longer that have no partner. No context is asked for.

Of typed entities only those of people, organisations and places count, as in the program. Partial mentions must have
the same type, so names without one (ours come from tags) have none: joined without a type check, 18 of 100 such
links were right on msr-rte2.dev. One slip of the program is not kept: with the longer name in the source sentence it
tests the wrong word for being free, which makes its result depend on the order of the sentences, or fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.grammar import stop_words
from forestalign.words.alignment import WordAlignment
from forestalign.words.analysis import ANY, ROOT, Analysis, Entity, Equivalences, Orientation
from forestalign.words.similarity import PUNCTUATION
from forestalign.words.sultan.stages import (
    ALL_STAGES,
    Candidate,
    Copies,
    Family,
    Links,
    Pair,
    Stages,
    best_first,
    common_runs,
    compete,
    relative_pairs,
)

FINAL_MARKS = frozenset({".", "!"})


def link_final_punctuation(pair: Pair, links: Links) -> None:
    """The last tokens if both end a sentence or are equal; else one or both sides one token earlier."""
    source, target = pair.source.sentence.words, pair.target.sentence.words
    if not source or not target:
        return
    last_source, last_target = len(source) - 1, len(target) - 1
    if source[-1] == target[-1]:
        links.add(last_source, last_target, "final punctuation")
        return
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        i, j = last_source - i, last_target - j
        if i >= 0 and j >= 0 and source[i] in FINAL_MARKS and target[j] in FINAL_MARKS:
            links.add(i, j, "final punctuation")
            return


def link_sequences(pair: Pair, links: Links) -> None:
    """Common runs of two words or more, of stop words alone too."""
    for i, j, length in common_runs(pair.source.sentence.lower_words, pair.target.sentence.lower_words, smallest=2):
        for step in range(length):
            if links.are_free(i + step, j + step):
                links.add(i + step, j + step, "sequence")


def link_hyphenated_groups(pair: Pair, links: Links) -> None:
    """A hyphenated word with all words of a run of its parts, free or not; first source words, then target words."""
    for i in _hyphenated(pair.source, links.sources):
        for _, j, length in common_runs(_parts(pair.source, i), pair.target.sentence.lower_words, smallest=2):
            for step in range(length):
                links.add(i, j + step, "hyphen")
    for j in _hyphenated(pair.target, links.targets):
        for _, i, length in common_runs(_parts(pair.target, j), pair.source.sentence.lower_words, smallest=2):
            for step in range(length):
                links.add(i + step, j, "hyphen")


def link_leftover_hyphens(pair: Pair, links: Links) -> None:
    """A hyphenated word with single words equal to one of its parts.

    Source words take every free one; target words take the first, even one that has a link already.
    """
    for i in _hyphenated(pair.source, links.sources):
        for _, j, length in common_runs(_parts(pair.source, i), pair.target.sentence.lower_words):
            if length == 1 and j not in links.targets and pair.target.sentence.lemmas[j] not in stop_words():
                links.add(i, j, "hyphen")
    for j in _hyphenated(pair.target, links.targets):
        for _, i, length in common_runs(_parts(pair.target, j), pair.source.sentence.lower_words):
            if length == 1 and j not in links.targets and pair.source.sentence.lemmas[i] not in stop_words():
                links.add(i, j, "hyphen")


def _hyphenated(analysis: Analysis, taken: set[int]) -> list[int]:
    """Free tokens with a hyphen inside."""
    return [n for n, word in enumerate(analysis.sentence.words) if "-" in word and word != "-" and n not in taken]


def _parts(analysis: Analysis, index: int) -> list[str]:
    return analysis.sentence.lower_words[index].split("-")


NAME_TYPES = frozenset({"", "PERSON", "ORGANIZATION", "LOCATION", "PER", "ORG", "LOC", "GPE"})
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """Tokens that a shorter name may take in as well: not linked before this stage, in no name of the other side."""

    sources: frozenset[int]
    targets: frozenset[int]


def link_names(source: Analysis, target: Analysis, links: Links) -> None:
    """Carry names over, source first, then link them."""
    source_words, target_words = source.sentence.words, target.sentence.words
    source_names = carry_over(source_words, _names(source), target_words, _names(target))
    target_names = carry_over(target_words, _names(target), source_words, source_names)
    outside = Outside(
        frozenset(set(range(len(source_words))) - links.sources - _shared(source_words, target_words, target_names)),
        frozenset(set(range(len(target_words))) - links.targets - _shared(target_words, source_words, source_names)),
    )
    matched: set[tuple[Entity, Entity]] = set()
    pairs = [(left, right) for left in source_names for right in target_names]
    for left, right in pairs:
        if _are_equal(left, source_words, right, target_words):
            matched.add((left, right))
            for step in range(left.end - left.begin):
                links.add(left.begin + step, right.begin + step, "name")
    for left, right in pairs:
        left_text, right_text = _text(left, source_words), _text(right, target_words)
        if is_acronym(left_text, right_text) or is_acronym(right_text, left_text):
            _link_all(left, right, links)
    full = {left for left, _ in matched}, {right for _, right in matched}
    for left, right in pairs:
        if left not in full[0] and right not in full[1] and _fit(left.type, right.type):
            _link_partial(left, right, source_words, target_words, outside, links)


def _names(analysis: Analysis) -> list[Entity]:
    return [entity for entity in analysis.entities if entity.type in NAME_TYPES]


def carry_over(
    words: Sequence[str], names: list[Entity], other_words: Sequence[str], other_names: list[Entity]
) -> list[Entity]:
    """The names of a sentence, and its capitalised words that the other sentence says are names."""
    result = list(names)
    for index, word in enumerate(words):
        if not word[:1].isupper() or any(name.begin <= index < name.end for name in result):
            continue
        for other in other_names:
            text = _text(other, other_words)
            if word in text or is_acronym((word,), text):
                _extend(result, index, other.type)
                break
    return result


def _extend(names: list[Entity], index: int, type: str) -> None:
    """Every name that ends just before the word grows by it; if there is none, the word becomes a name."""
    grown = [number for number, name in enumerate(names) if name.end == index]
    for number in grown:
        names[number] = Entity(names[number].begin, index + 1, names[number].type)
    if not grown:
        names.append(Entity(index, index + 1, type))


def _text(name: Entity, words: Sequence[str]) -> Words:
    return tuple(words[name.begin : name.end])


def _are_equal(left: Entity, source: Sequence[str], right: Entity, target: Sequence[str]) -> bool:
    """Whether two names are the same words but for hyphens, and stand once in each sentence."""
    left_text, right_text = _text(left, source), _text(right, target)
    if [word.replace("-", "") for word in left_text] != [word.replace("-", "") for word in right_text]:
        return False
    return _count(left_text, source) == 1 and _count(right_text, target) == 1


def _count(text: Words, words: Sequence[str]) -> int:
    return sum(tuple(words[begin : begin + len(text)]) == text for begin in range(len(words) - len(text) + 1))


def is_acronym(short: Words, name: Words) -> bool:
    """One upper-case word whose letters are the initials of the name; full stops do not count."""
    if len(short) != 1:
        return False
    letters = short[0].replace(".", "")
    if not letters.isupper() or letters in {"A", "I"} or len(letters) != len(name):
        return False
    return len(name) > 1 and all(word[:1] == letter for word, letter in zip(name, letters, strict=True))


def _link_all(left: Entity, right: Entity, links: Links) -> None:
    for i in range(left.begin, left.end):
        for j in range(right.begin, right.end):
            links.add(i, j, "acronym")


def _fit(left_type: str, right_type: str) -> bool:
    return bool(left_type) and left_type == right_type


def _shared(words: Sequence[str], other_words: Sequence[str], other_names: list[Entity]) -> set[int]:
    """Tokens whose word stands in a name of the other sentence."""
    in_names = {word for name in other_names for word in _text(name, other_words)}
    return {index for index, word in enumerate(words) if word in in_names}


def _link_partial(
    left: Entity, right: Entity, source: Sequence[str], target: Sequence[str], outside: Outside, links: Links
) -> None:
    """One name's words are a part of the other's, each name once in its sentence."""
    left_text, right_text = _text(left, source), _text(right, target)
    if not (set(left_text) <= set(right_text) or set(right_text) <= set(left_text)):
        return
    if _count(left_text, source) != 1 or _count(right_text, target) != 1:
        return
    everything = [(i, j) for i in range(left.begin, left.end) for j in range(right.begin, right.end)]
    equal = [(i, j) for i, j in everything if source[i] == target[j]]
    for i, j in equal:
        links.add(i, j, "name")
    is_left_longer = len(left_text) > len(right_text)
    for i, j in everything:
        is_open = i in outside.sources if is_left_longer else j in outside.targets
        if is_open and source[i] not in PUNCTUATION and target[j] not in PUNCTUATION:
            links.add(i, j, "partial name")


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
