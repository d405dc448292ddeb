"""Words that stand in another word's place and do not mean the same: *tea* and *coffee*, *Anna* and *Maria*.

A word stands in another's place if its neighbours are the same on both sides; a name also if the links lead to another
name. Whether the two say the same is what lexicon and links know: links of such words are sure if they are as good as
synonyms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from forestalign.lexicon import WordNet
from forestalign.lexicon.numbers import word_value
from forestalign.meaning.differences import NAME, NUMBER, OTHER, Difference, describe
from forestalign.meaning.readings import Reading

SURE, SURE_NAME = 0.72, 0.93  # links of words, and of names, that stand for one thing
_KINDS = ("NN", "VB", "JJ")
_EDGE = ""
_SHARED = 3  # letters at the beginning of two forms of one name: Austria, Austrian


def find_substitutions(
    source: Reading,
    target: Reading,
    links: Mapping[tuple[int, int], float],
    partner: Mapping[int, int],
    wordnet: WordNet,
    explained: tuple[Collection[int], Collection[int]],
) -> Iterator[Difference]:
    """Content words in each other's place that are neither the same nor linked for sure."""
    back = {j: i for i, j in partner.items()}
    linked_names = (pair for pair in links if all(_are_names(source, target, pair)))
    for i, j in sorted({*_in_one_place(source, target), *linked_names}):
        if (
            partner.get(i, j) != j
            or back.get(j, i) != i
            or i in explained[0]
            or j in explained[1]
            or _are_related(source, target, i, j, wordnet)
        ):
            continue
        names, link = _are_names(source, target, (i, j)), links.get((i, j), 0.0)
        if _has_word(target, i, source) or _has_word(source, j, target):
            continue
        if names[0] != names[1] or not _have_one_head(source, target, i, j, partner):
            continue
        if any(any(map(str.isdigit, side.sentence.words[word])) for side, word in ((source, i), (target, j))):
            kind = NUMBER if _have_figures(source, target, i, j) else ""
        else:
            kind = "" if link >= (SURE_NAME if any(names) else SURE) else NAME if all(names) else OTHER
        if kind:
            yield describe(kind, (i,), (j,), source.sentence, target.sentence)


def _in_one_place(source: Reading, target: Reading) -> Iterator[tuple[int, int]]:
    """Words of one kind between the same neighbours, where each side has this place once."""
    places: dict[tuple[str, str], list[int]] = {}
    for j, place in enumerate(_contexts(target)):
        places.setdefault(place, []).append(j)
    own = _contexts(source)
    for i, place in enumerate(own):
        found = places.get(place, ())
        if len(found) == 1 and own.count(place) == 1:
            tags = source.sentence.tags[i], target.sentence.tags[found[0]]
            if tags[0][:2] == tags[1][:2] and tags[0].startswith(_KINDS):
                yield i, found[0]


def _contexts(frames: Reading) -> list[tuple[str, str]]:
    words = [_EDGE, *(word.lower() for word in frames.sentence.words), _EDGE]
    return [(words[k], words[k + 2]) for k in range(len(words) - 2)]


def _have_one_head(source: Reading, target: Reading, i: int, j: int, partner: Mapping[int, int]) -> bool:
    """Whether what governs two words is one word, or they govern their sentences and most of what they govern is."""
    relations = source.dependencies.relations[i], target.dependencies.relations[j]
    if relations[0] != relations[1] or relations[0] == "compound":
        return source.sentence.tags[i][:3] == "NNP" and relations[0] != relations[1]
    heads = source.dependencies.heads[i], target.dependencies.heads[j]
    if min(heads) >= 0:
        return partner.get(heads[0]) == heads[1] and source.lemmas[heads[0]] == target.lemmas[heads[1]]
    below = [word for word, _ in source.arguments[i]]
    held = {word for word, _ in target.arguments[j]}
    shared = sum(partner.get(word) in held for word in below)
    return max(heads) < 0 and 2 * shared > max(len(below), len(held))


def _are_names(source: Reading, target: Reading, pair: tuple[int, int]) -> tuple[bool, bool]:
    return source.sentence.tags[pair[0]][:3] == "NNP", target.sentence.tags[pair[1]][:3] == "NNP"


def _has_word(frames: Reading, word: int, owner: Reading) -> bool:
    """Whether a sentence has a word of the other one anywhere, in any form."""
    return owner.lemmas[word] in {frames.lemmas[each] for each in range(len(frames.sentence.words))}


def _are_related(source: Reading, target: Reading, i: int, j: int, wordnet: WordNet) -> bool:
    """Whether two words are one, forms or shortenings of one, synonyms, or one is above the other."""
    words = source.sentence.words[i].lower(), target.sentence.words[j].lower()
    lemmas = source.lemmas[i], target.lemmas[j]
    if lemmas[0] == lemmas[1] or words[0] == words[1]:
        return True
    if any(map(str.isdigit, "".join(words))):
        return False
    if words[0][:_SHARED] == words[1][:_SHARED] or "." in "".join(words):
        return True
    if wordnet.are_synonyms(*lemmas) or wordnet.are_derivations(*lemmas):
        return True
    return wordnet.is_hypernym(*lemmas) or wordnet.is_hypernym(lemmas[1], lemmas[0])


def _have_figures(source: Reading, target: Reading, i: int, j: int) -> bool:
    """Whether both are names with figures, as *W10* and *W20*; figures by themselves are values."""
    words = source.sentence.words[i], target.sentence.words[j]
    return all(any(map(str.isdigit, word)) and word_value(word.lower()) is None for word in words)
