"""Evidence from the paraphrase grammar: the words of two expressions of one line correspond.

A correspondence is a link between two sets of words, adjacent or not. Inside any pair of phrases that holds both sets
these words are explained: each word of the one is linked to all words of the other (`block_links`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.forest import Forest, tree_of, viterbi
from forestalign.lexicon.findings import AGAINST, EQUAL, MORE_GENERAL, MORE_SPECIFIC, OPPOSITE, SIMILAR
from forestalign.lexicon.names import person_titles
from forestalign.lexicon.numbers import same_number
from forestalign.meaning.matcher import Correspondence, find_correspondences
from forestalign.meaning.readings import Reading
from forestalign.meaning.rules import load_rules
from forestalign.phrases.evidence.phrase_evidence import RULE, PhraseEvidence
from forestalign.words.alignment import WordAlignment

STRONG, WEAK = 0.9, 0.5  # with a content word on both sides, or of function words alone
MOST_LINK = 1.0 - 1e-4
LEAST_STRENGTH = 0.5  # of evidence that explains links away
_DIRECTIONS = {1: MORE_GENERAL, 0: EQUAL, -1: MORE_SPECIFIC}


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


def discount_links(links: FloatArray, source: Forest, target: Forest, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The links, less those that evidence explains away: *three days* are *72 hours*, so *three* is not *72*.

    They join other numbers inside an equal quantity, or a title with a first name.
    """
    discounted = links.copy()
    for row in evidence:
        is_several = max(len(row.source), len(row.target)) > 1 and row.strength >= LEAST_STRENGTH
        if row.kind in {"name", "quantity"} and is_several and row.relation in {EQUAL, SIMILAR}:
            for i, j in product(row.source, row.target):
                left, right = source.sentence.tokens[i], target.sentence.tokens[j]
                if row.kind == "quantity":
                    is_alien = left.tag == "CD" == right.tag and not same_number(left.form, right.form)
                else:
                    is_alien = (left.form.lower() in person_titles()) != (right.form.lower() in person_titles())
                if is_alien and left.key != right.key:
                    discounted[i, j] = min(discounted[i, j], links[i, j] * (1.0 - row.strength))
    return discounted


def block_links(source: Forest, target: Forest, words: WordAlignment, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The links, and those between all words of two expressions that say the same; each word has about one in sum."""
    links = words.matrix(len(source.sentence), len(target.sentence))
    for row in evidence:
        if row.relation not in AGAINST:
            value = min(row.strength, MOST_LINK) / min(len(row.source), len(row.target))
            cells = np.ix_(row.source, row.target)
            links[cells] = np.maximum(links[cells], value)
    return links
