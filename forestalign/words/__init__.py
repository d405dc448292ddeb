"""Word alignment after Sultan, Bethard and Sumner (2014), and the dictionary links of Arase and Tsujii (2017).

The stages stand in `published` (what their program does) and `paper` (what their paper says); our own profile, `best`,
stands in `learned`.

- `alignment`, `analysis`: word links, and what is known about a sentence
- `similarity`, `dependency_arcs`, `centred_vectors`: how alike words and their surroundings are
- `packed_vectors`: vectors of words as text, for files
- `sultan`, `learned`, `crf`, `baselines`: folders of methods
- `dictionary`: the links of section 6.1 of the forest paper
- `word_aligner`: one door to the profiles of `sultan` and `learned`
- `linking`: one door to all methods
- `sentence_scores`: how much of two sentences is aligned

The folder can be called: `forestalign.words(source, target)` gives the links of one pair by the default settings.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from forestalign.words.analysis import (
    Analysis,
    Entity,
    analyse_given,
    analyse_parse,
    analyse_spacy,
    find_names,
)
from forestalign.words.dependency_arcs import Arc
from forestalign.words.dictionary import dictionary_links, similarity_threshold
from forestalign.words.learned.matching import CANDIDATE
from forestalign.words.sentence_scores import SentenceScores, sentence_scores
from forestalign.words.word_aligner import PROFILES, WordAligner

__all__ = [
    "CANDIDATE",
    "PROFILES",
    "Analysis",
    "Arc",
    "Entity",
    "SentenceScores",
    "WordAligner",
    "analyse_given",
    "analyse_parse",
    "analyse_spacy",
    "dictionary_links",
    "find_names",
    "sentence_scores",
    "similarity_threshold",
]

if TYPE_CHECKING:
    from forestalign.aligner import Text
    from forestalign.words.linking import LinkedPair


class _WordsModule(ModuleType):
    """This folder, which can be called as well: `forestalign.words(source, target)` stands beside `align`."""

    def __call__(self, source: Text, target: Text) -> LinkedPair:
        """The word links of one pair, by the default settings."""
        from forestalign.one_pair import words  # when called, since it needs all that follows

        return words(source, target)


sys.modules[__name__].__class__ = _WordsModule
