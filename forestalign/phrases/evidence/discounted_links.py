"""Word links that evidence explains away: *did not remember* is *forgot*, so *remember* is not *forgot*.

A link between two words of such a phrase counts the less the stronger the evidence is: in negations; of a light verb
where its phrase is not a node, and so cannot be a seed itself; of numbers inside an equal quantity (*three days*,
*72 hours*); and of a title with a first name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forestalign.arrays import FloatArray
from forestalign.forest import Forest
from forestalign.lexicon.findings import EQUAL, SIMILAR
from forestalign.lexicon.names import person_titles
from forestalign.lexicon.numbers import same_number
from forestalign.phrases.evidence.phrase_evidence import PhraseEvidence
from forestalign.tokens import Token

KINDS = frozenset({"name", "quantity"})
LEAST_STRENGTH = 0.5


def discount_links(links: FloatArray, source: Forest, target: Forest, evidence: Sequence[PhraseEvidence]) -> FloatArray:
    """The probabilities of the links, less what evidence explains."""
    taking = [row for row in evidence if _takes_over(row)]
    if not taking:
        return links
    discounted = links.copy()
    own, other = _spans(source), _spans(target)
    for row in taking:
        is_seed = _extent(row.source) in own and _extent(row.target) in other
        if row.kind != "light verb" or not is_seed:
            for i, j in _alien_pairs(row, source.sentence.tokens, target.sentence.tokens):
                left = 0.0 if row.kind == "negation" else 1.0 - row.strength  # opposites are nobody's partners
                discounted[i, j] = min(discounted[i, j], links[i, j] * left)
    return discounted


def _takes_over(row: PhraseEvidence) -> bool:
    is_several = max(len(row.source), len(row.target)) > 1
    return row.kind in KINDS and is_several and row.relation in {EQUAL, SIMILAR} and row.strength >= LEAST_STRENGTH


def _alien_pairs(row: PhraseEvidence, source: Sequence[Token], target: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Words of both phrases that are not each other's."""
    for i in row.source:
        for j in row.target:
            if source[i].key != target[j].key and _is_alien(row.kind, source[i], target[j]):
                yield i, j


def _is_alien(kind: str, left: Token, right: Token) -> bool:
    if kind == "quantity":
        return left.tag == "CD" == right.tag and not same_number(left.form, right.form)
    if kind == "name":
        return (left.form.lower() in person_titles()) != (right.form.lower() in person_titles())
    is_noun = "NN" in {left.tag[:2], right.tag[:2]}  # which keeps its verb beside a light one
    return kind == "negation" or not is_noun


def _spans(forest: Forest) -> set[tuple[int, int]]:
    return {(node.begin, node.end) for node in forest.nodes}


def _extent(words: Sequence[int]) -> tuple[int, int]:
    is_whole = words[-1] - words[0] + 1 == len(words)
    return (words[0], words[-1] + 1) if is_whole else (-1, -1)
