"""Word alignment after Sultan, Bethard and Sumner (2014), and the dictionary links of Arase and Tsujii (2017).

The stages stand in `published` (what their program does) and `paper` (what their paper says); `best` is ours.
"""

from __future__ import annotations

from forestalign.word_alignment.aligner import PROFILES, WordAligner
from forestalign.word_alignment.analysis import (
    Analysis,
    Entity,
    analyse_given,
    analyse_parse,
    analyse_spacy,
    find_names,
)
from forestalign.word_alignment.dictionary import dictionary_links, similarity_threshold
from forestalign.word_alignment.matching import CANDIDATE
from forestalign.word_alignment.relations import Arc
from forestalign.word_alignment.sentence_scores import SentenceScores, sentence_scores

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
