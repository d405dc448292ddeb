"""Relations that rise: what contradicts inside a pair of phrases makes the pair itself contradict, up to the root."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forestalign.lexicon import load_wordnet
from forestalign.lexicon.findings import AGAINST, SIMILAR
from forestalign.phrases.result.contradictions import ORDER, Contradictions, find_contradictions
from forestalign.phrases.result.role_changes import RoleComparison
from forestalign.phrases.result.role_frames import RoleFrames
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment

if TYPE_CHECKING:
    from forestalign.phrases.result.alignment import PhraseAlignment, PhrasePair


def compare_roles(phrases: PhraseAlignment, source: Sentence, target: Sentence, links: WordAlignment) -> RoleComparison:
    """The predicates and arguments of two sentences by the trees that an alignment chose."""
    frames = RoleFrames.of(source, phrases.source_tree), RoleFrames.of(target, phrases.target_tree)
    return RoleComparison.of(*frames, links, load_wordnet())


def contradictions_of(
    phrases: PhraseAlignment, source: Sentence, target: Sentence, links: WordAlignment
) -> Contradictions:
    """All marks of an alignment."""
    return find_contradictions(compare_roles(phrases, source, target, links), phrases.pairs)


def risen(phrases: PhraseAlignment, source: Sentence, target: Sentence, links: WordAlignment) -> PhraseAlignment:
    """The alignment with the relations and reasons that contradictions inside its pairs give them."""
    found = contradictions_of(phrases, source, target, links)
    return replace(phrases, pairs=tuple([_risen(pair, found) for pair in phrases.pairs]))


def _risen(pair: PhrasePair, found: Contradictions) -> PhrasePair:
    inside = found.inside(pair.source, pair.target)
    if inside:
        relations = {each.relation for each in inside}
        reason = "; ".join(dict.fromkeys(each.reason for each in inside))
        return replace(pair, relation=next(each for each in ORDER if each in relations), reason=reason)
    is_taken_back = pair.relation in AGAINST and bool(pair.supports)
    return replace(pair, relation=SIMILAR) if is_taken_back else pair
