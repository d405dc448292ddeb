"""Relations that rise: what contradicts inside a pair of phrases makes the pair itself contradict, up to the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import AGAINST, SIMILAR
from forestalign.meaning.matcher import Correspondence, SentenceReading, find_correspondences
from forestalign.meaning.roles import RoleFrames
from forestalign.meaning.rules import load_rules
from forestalign.phrases.result.contradictions import ORDER, Contradictions, find_contradictions
from forestalign.phrases.result.role_changes import RoleComparison
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment

if TYPE_CHECKING:
    from forestalign.phrases.result.alignment import PhraseAlignment, PhrasePair


def compare_roles(phrases: PhraseAlignment, source: Sentence, target: Sentence, links: WordAlignment) -> RoleComparison:
    """The predicates and arguments of two sentences by the trees that an alignment chose."""
    frames = RoleFrames.of(source, phrases.source_tree), RoleFrames.of(target, phrases.target_tree)
    return RoleComparison.of(*frames, links, load_wordnet())


def match_trees(comparison: RoleComparison, links: WordAlignment) -> tuple[Correspondence, ...]:
    """What lines of the grammar say under the trees that were chosen, where a result was read from a line."""
    matrix = np.zeros((len(comparison.source.sentence), len(comparison.target.sentence)))
    for link in links:
        matrix[link.source, link.target] = link.score
    sides = [SentenceReading(each.sentence, each.dependencies) for each in (comparison.source, comparison.target)]
    return find_correspondences(sides[0], sides[1], matrix, load_rules())


def contradictions_of(
    phrases: PhraseAlignment,
    source: Sentence,
    target: Sentence,
    links: WordAlignment,
    correspondences: Sequence[Correspondence] | None = None,
) -> Contradictions:
    """All marks of an alignment; without `correspondences`, its trees are matched again.

    They are looked for from one of the sentences to the other, and of many that are alike the first is taken; the order
    of their words decides from which, so that the sentences in the other order have the same marks.
    """
    if source.words <= target.words:
        comparison = compare_roles(phrases, source, target, links)
        matched = match_trees(comparison, links) if correspondences is None else correspondences
        return find_contradictions(comparison, phrases.pairs, matched)
    trees = phrases.target_tree, phrases.source_tree
    turned = replace(phrases, pairs=tuple(map(_turned, phrases.pairs)), source_tree=trees[0], target_tree=trees[1])
    mirrored = None if correspondences is None else [each.mirrored() for each in correspondences]
    return contradictions_of(turned, target, source, links.mirrored(), mirrored).mirrored(source, target)


def _turned(pair: PhrasePair) -> PhrasePair:
    return replace(pair, source=pair.target, target=pair.source)


def risen(
    phrases: PhraseAlignment,
    source: Sentence,
    target: Sentence,
    links: WordAlignment,
    correspondences: Sequence[Correspondence] | None = None,
) -> PhraseAlignment:
    """The alignment with the relations and reasons that contradictions inside its pairs give them."""
    found = contradictions_of(phrases, source, target, links, correspondences)
    return replace(phrases, pairs=tuple([_risen(pair, found) for pair in phrases.pairs]))


def _risen(pair: PhrasePair, found: Contradictions) -> PhrasePair:
    inside = found.inside(pair.source, pair.target)
    if inside:
        relations = {each.relation for each in inside}
        reason = "; ".join(dict.fromkeys(each.reason for each in inside))
        return replace(pair, relation=next(each for each in ORDER if each in relations), reason=reason)
    is_taken_back = pair.relation in AGAINST and bool(pair.supports)
    return replace(pair, relation=SIMILAR) if is_taken_back else pair
