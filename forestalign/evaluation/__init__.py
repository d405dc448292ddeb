"""Scores: words, phrases, parses, sentence-level tasks, phrase gold from word links, and significance tests.

Every score comes as an `Evaluation`, which keeps the counts of each sentence pair, so that `compare` and `bootstrap`
work on all of them.

- `scores`: what all scores share, and significance
- `word_scores`, `phrase_scores`, `parse_scores`, `chunk_scores`, `sentence_scores`: metrics
- `projection`: phrase pairs from word links
- `answer_files`: gold and answers from files
- `annotated_pairs`, `annotation_checks`, `annotation_sheets`, `annotation_store`: annotated sets
- `written_pairs`: pairs whose phrases were marked inline while they were written
- `development`: a development set, and aligning it again and again
- `reports`: the tables that are printed
"""

from __future__ import annotations

from forestalign.evaluation.parse_scores import (
    Attachments,
    KindChange,
    attachment_kinds,
    compare_attachments,
    score_attachments,
    score_brackets,
    score_parses,
)
from forestalign.evaluation.phrase_scores import (
    Match,
    NodePair,
    PhraseAnswer,
    PhraseNode,
    PhraseSet,
    noncompositional_pairs,
    phrase_set,
    score_humans,
    score_phrases,
)
from forestalign.evaluation.projection import (
    GoldKind,
    Matching,
    ProjectedGold,
    core_pairs,
    gold_from_links,
    gold_of,
    is_consistent,
    one_to_one,
    project,
    project_spans,
    score_annotators,
    score_projected,
)
from forestalign.evaluation.scores import Comparison, Evaluation, Interval, Score, bootstrap, combine, compare
from forestalign.evaluation.sentence_scores import (
    Ranked,
    score_paraphrases,
    score_ranking,
    score_similarity,
    tune_threshold,
)
from forestalign.evaluation.word_scores import GoldLinks, score_words

__all__ = [
    "Attachments",
    "Comparison",
    "Evaluation",
    "GoldKind",
    "GoldLinks",
    "Interval",
    "KindChange",
    "Match",
    "Matching",
    "NodePair",
    "PhraseAnswer",
    "PhraseNode",
    "PhraseSet",
    "ProjectedGold",
    "Ranked",
    "Score",
    "attachment_kinds",
    "bootstrap",
    "combine",
    "compare",
    "compare_attachments",
    "core_pairs",
    "gold_from_links",
    "gold_of",
    "is_consistent",
    "noncompositional_pairs",
    "one_to_one",
    "phrase_set",
    "project",
    "project_spans",
    "score_annotators",
    "score_attachments",
    "score_brackets",
    "score_humans",
    "score_paraphrases",
    "score_parses",
    "score_phrases",
    "score_projected",
    "score_ranking",
    "score_similarity",
    "score_words",
    "tune_threshold",
]
