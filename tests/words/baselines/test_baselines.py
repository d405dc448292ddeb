"""Other ways to align words: hand-made pairs, and enumeration where something is the best of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestalign.errors import UsageError
from forestalign.lexicon import load_wordnet
from forestalign.lexicon.pair_lists import ListedPair, PhraseLists
from forestalign.tokens import Sentence, Span
from forestalign.words.baselines import (
    MeteorSources,
    WordMatch,
    argmax_links,
    best_matches,
    meteor_links,
    similarity_links,
)


def count_chunks(matches: Sequence[WordMatch]) -> int:
    """Runs of matches, given in the order of the source, that are contiguous in both sentences."""
    ends = [(match.source.end, match.target.end) for match in matches]
    begins = [(match.source.begin, match.target.begin) for match in matches]
    return len(matches) - sum(end == begin for end, begin in zip(ends, begins[1:], strict=False))


def sentence(text: str, lemmas: str = "") -> Sentence:
    words = text.split()
    return Sentence.from_words(words).with_analysis(["NN"] * len(words), (lemmas or text.lower()).split())


# ---- Meteor ----

BARE = MeteorSources()


def stages(source: str, target: str, sources: MeteorSources = BARE) -> list[tuple[int, int, str]]:
    return [
        (link.source, link.target, link.stage) for link in meteor_links(sentence(source), sentence(target), sources)
    ]


def test_modules_are_tried_in_their_order() -> None:
    known = MeteorSources(wordnet=load_wordnet())
    assert stages("The big dogs , buy", "the large dog . purchase", known) == [
        (0, 0, "exact"),
        (1, 1, "synonym"),
        (2, 2, "stem"),
        (4, 4, "synonym"),
    ]
    assert stages("big", "large") == []


def test_phrases_of_a_list_match_as_blocks() -> None:
    listed = MeteorSources(phrases=PhraseLists([ListedPair("passed away", "died")]))
    assert stages("he passed away", "he died", listed) == [(0, 0, "exact"), (1, 1, "paraphrase"), (2, 1, "paraphrase")]
    assert stages("he passed by", "he died", listed) == [(0, 0, "exact")]


def test_repeated_words_are_matched_in_the_fewest_chunks() -> None:
    # each "the" could go with either; only in this way both phrases are whole
    assert [link[:2] for link in stages("the dog saw the cat", "the cat saw the dog")] == [
        (0, 3), (1, 4), (2, 2), (3, 0), (4, 1),
    ]  # fmt: skip


def every_set(matches: Sequence[WordMatch]) -> Iterator[tuple[WordMatch, ...]]:
    """All sets of matches that cover no word twice, by trying every subset."""
    for size in range(len(matches) + 1):
        for chosen in combinations(sorted(matches), size):
            sources = [word for match in chosen for word in range(*match.source)]
            targets = [word for match in chosen for word in range(*match.target)]
            if len(set(sources)) == len(sources) and len(set(targets)) == len(targets):
                yield chosen


def quality(matches: Sequence[WordMatch]) -> tuple[int, int, int]:
    covered = sum(len(range(*match.source)) + len(range(*match.target)) for match in matches)
    distance = sum(abs(match.source.begin - match.target.begin) for match in matches)
    return covered, -count_chunks(matches), -distance


@settings(max_examples=150, deadline=None)
@given(
    st.sets(
        st.tuples(st.integers(0, 4), st.integers(1, 2), st.integers(0, 4), st.integers(1, 2)), min_size=0, max_size=8
    )
)
def test_no_other_set_of_matches_is_better(raw: set[tuple[int, int, int, int]]) -> None:
    matches = [WordMatch(Span(i, i + n), Span(j, j + m), "exact") for i, n, j, m in sorted(raw)]
    found = best_matches(matches, 6, beam=10_000)
    assert found in set(every_set(matches))
    assert quality(found) == max(map(quality, every_set(matches)))


# ---- matchings ----


matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.integers(0, 9), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
        lambda values: np.array(values, dtype=float).reshape(shape) / 10
    )
)


@settings(max_examples=100, deadline=None)
@given(matrices)
def test_links_of_similarity_are_highest_in_row_and_column(similarity: np.ndarray) -> None:
    found = argmax_links(similarity)
    assert all(similarity[i, j] == similarity[i].max() == similarity[:, j].max() > 0 for i, j in found)


def test_sentences_without_vectors_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="needs word vectors"):
        similarity_links(sentence("a b"), sentence("a c"))
