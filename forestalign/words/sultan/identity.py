"""Links by identity, as the published program makes them: final punctuation, word sequences, hyphenated words."""

from __future__ import annotations

from forestalign.grammar import stop_words
from forestalign.words.analysis import Analysis
from forestalign.words.sultan.candidates import Pair
from forestalign.words.sultan.growing_links import Links, common_runs

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
    for i, j, length in common_runs(_lower(pair.source), _lower(pair.target), smallest=2):
        for step in range(length):
            if links.are_free(i + step, j + step):
                links.add(i + step, j + step, "sequence")


def link_hyphenated_groups(pair: Pair, links: Links) -> None:
    """A hyphenated word with all words of a run of its parts, free or not; first source words, then target words."""
    for i in _hyphenated(pair.source, links.sources):
        for _, j, length in common_runs(_parts(pair.source, i), _lower(pair.target), smallest=2):
            for step in range(length):
                links.add(i, j + step, "hyphen")
    for j in _hyphenated(pair.target, links.targets):
        for _, i, length in common_runs(_parts(pair.target, j), _lower(pair.source), smallest=2):
            for step in range(length):
                links.add(i + step, j, "hyphen")


def link_leftover_hyphens(pair: Pair, links: Links) -> None:
    """A hyphenated word with single words equal to one of its parts.

    Source words take every free one; target words take the first, even one that has a link already.
    """
    for i in _hyphenated(pair.source, links.sources):
        for _, j, length in common_runs(_parts(pair.source, i), _lower(pair.target)):
            if length == 1 and j not in links.targets and pair.target.sentence.lemmas[j] not in stop_words():
                links.add(i, j, "hyphen")
    for j in _hyphenated(pair.target, links.targets):
        for _, i, length in common_runs(_parts(pair.target, j), _lower(pair.source)):
            if length == 1 and j not in links.targets and pair.source.sentence.lemmas[i] not in stop_words():
                links.add(i, j, "hyphen")


def _lower(analysis: Analysis) -> list[str]:
    return [word.lower() for word in analysis.sentence.words]


def _hyphenated(analysis: Analysis, taken: set[int]) -> list[int]:
    """Free tokens with a hyphen inside."""
    return [n for n, word in enumerate(analysis.sentence.words) if "-" in word and word != "-" and n not in taken]


def _parts(analysis: Analysis, index: int) -> list[str]:
    return analysis.sentence.words[index].lower().split("-")
