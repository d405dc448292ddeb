"""Evidence from the paraphrase grammar: the words of two expressions of one line correspond.

A correspondence is a link between two sets of words, adjacent or not. Inside any pair of phrases that holds both sets
these words are explained: each word of the one is linked to all words of the other (`block_links`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import Forest, tree_of, viterbi
from forestalign.lexicon.findings import AGAINST, EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE
from forestalign.meaning.matcher import Correspondence, find_correspondences
from forestalign.meaning.readings import Reading
from forestalign.meaning.rules import load_rules
from forestalign.phrases.evidence.phrase_evidence import RULE, PhraseEvidence
from forestalign.words.alignment import WordAlignment

STRONG, WEAK = 0.9, 0.5  # with a content word on both sides, or of function words alone
MOST_LINK = 1.0 - 1e-4
_DIRECTIONS = {1: MORE_SPECIFIC, 0: EQUAL, -1: MORE_GENERAL}


def read_forest(forest: Forest) -> Reading:
    """A sentence with the dependencies of its best tree."""
    best = viterbi(forest)
    return Reading(forest.sentence, tree_of(forest, best.root, best.choice))


def match_rules(source: Reading, target: Reading, words: WordAlignment, rules: str = "") -> tuple[Correspondence, ...]:
    """Where lines of the paraphrase grammar, and of a user's file, are met in two sentences."""
    links = words.matrix(len(source.sentence), len(target.sentence))
    return find_correspondences(source, target, links, load_rules(rules))


def rule_evidence(correspondences: Sequence[Correspondence]) -> tuple[PhraseEvidence, ...]:
    """What lines say about pairs of phrases; sorted, each pair once."""
    return tuple(sorted({_row(each) for each in correspondences if not each.swapped}))


def _row(each: Correspondence) -> PhraseEvidence:
    relation = OPPOSITE if each.is_opposite else _DIRECTIONS[each.direction]
    has_content = each.source.has_content and each.target.has_content
    return PhraseEvidence(each.source.words, each.target.words, RULE, relation, STRONG if has_content else WEAK)


def block_links(source: Forest, target: Forest, words: WordAlignment, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The links, and those between all words of two expressions that say the same; each word has about one in sum."""
    links = words.matrix(len(source.sentence), len(target.sentence))
    for row in evidence:
        if row.relation not in AGAINST:
            value = min(row.strength, MOST_LINK) / min(len(row.source), len(row.target))
            cells = np.ix_(row.source, row.target)
            links[cells] = np.maximum(links[cells], value)
    return links
