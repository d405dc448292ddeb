"""Evidence that two phrases mean the same, or the opposite, which no word link carries.

Here: the user's phrase lists, acronyms and names, quantities. Lines of the paraphrase grammar are `rule_evidence`,
and what vectors and links say of two spans is `span_scores`. Every source is asked about the two sentences as they
stand, tagged, so a phrase is a set of words, and whether it is a node is for the search to see.

A phrase that stands word for word on the other side is not free: *U.S.* is *United States*, but not where both
sentences have *U.S.* as often; and one *US* beside two *U.S.* is either of them, which the word links may know.

Evidence from the paraphrase grammar: the words of two expressions of one line correspond. That is a link between two
sets of words, adjacent or not. Inside any pair of phrases that holds both sets these words are explained: each word of
the one is linked to all words of the other (`block_links`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from forestalign.arrays import FloatArray
from forestalign.errors import GrammarError, UsageError
from forestalign.forest import Forest, tree_of, viterbi
from forestalign.grammar import grammar_root, read_rows
from forestalign.lexicon.findings import (
    AGAINST,
    EQUAL,
    MORE_GENERAL,
    MORE_SPECIFIC,
    OPPOSITE,
    RELATIONS,
    SIMILAR,
    Finding,
    Parts,
    take_apart,
    turned_relation,
)
from forestalign.lexicon.names import acronym_findings, name_findings, person_titles
from forestalign.lexicon.numbers import same_number
from forestalign.lexicon.pair_lists import PhraseLists
from forestalign.lexicon.quantities import quantity_findings
from forestalign.meaning.matcher import Correspondence, find_correspondences
from forestalign.meaning.readings import Reading
from forestalign.meaning.rules import load_rules
from forestalign.tokens import Sentence
from forestalign.words.alignment import WordAlignment

OPENING, CLOSING = frozenset({"(", "[", "-lrb-", "-LRB-"}), frozenset({")", "]", "-rrb-", "-RRB-"})
Words = tuple[int, ...]
Text = tuple[str, ...]


class OccurrenceShare:
    """How often phrases of two sentences stand on either side; counts are kept, as most are asked for twice."""

    def __init__(self, source: Sentence, target: Sentence):
        self._sides = _folded(source), _folded(target)
        self._counts: tuple[dict[int, Counter[Text]], dict[int, Counter[Text]]] = ({}, {})

    def share(self, source: Words, target: Words) -> float:
        """The chance that of all occurrences these two belong together: 0 where one has a partner of its own words."""
        one, other = self._text(0, source), self._text(1, target)
        counts = self._free(0, one, other), self._free(1, other, one)
        if min(counts) <= 0:
            return 0.0
        return 1.0 / max(self._count(0, one), self._count(1, other), 1)

    def _text(self, side: int, words: Words) -> Text:
        return tuple(self._sides[side][word] for word in words)

    def _free(self, side: int, text: Text, partner: Text) -> int:
        """Occurrences here, less those on the other side that are not inside the partner (*to*, *in order to*)."""
        inside = _occurrences(partner, len(text))[text] * self._count(1 - side, partner)
        return max(self._count(side, text), 1) - (self._count(1 - side, text) - inside)

    def _count(self, side: int, text: Text) -> int:
        """Occurrences of adjacent words; a phrase with a gap has none."""
        known = self._counts[side]
        if len(text) not in known:
            known[len(text)] = _occurrences(self._sides[side], len(text))
        return known[len(text)][text]


def _occurrences(words: Sequence[str], length: int) -> Counter[Text]:
    return Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def _folded(sentence: Sentence) -> Text:
    """Lower case, but for words in capitals: US is not us. A word in brackets only explains what stands before it."""
    words = [word if word.isupper() and len(word) > 1 else word.lower() for word in sentence.words]
    for at in range(1, len(words) - 1):
        if words[at - 1] in OPENING and words[at + 1] in CLOSING:
            words[at] = f"({words[at]})"
    return tuple(words)


# ---- what is found ----


LISTED_KINDS = ("list", "acronym", "name", "quantity")
RULE = "rule"  # lines of the paraphrase grammar, found by `rule_evidence`, which looks at trees and links, too
SPAN = "span"  # stretches of text that are partners, found by `unit_pairs` when the search is done
KINDS = (*LISTED_KINDS, RULE, SPAN)


@dataclass(frozen=True, slots=True, order=True)
class PhraseEvidence:
    """Two phrases, by the sorted numbers of their words (adjacent or not), and what they are to each other.

    `relation` says what the target is beside the source: `equal`, `similar`, `more general`, `more specific`,
    `opposite` or `different value`; the last two are evidence against the pair.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    kind: str
    relation: str
    strength: float

    def swap_sides(self) -> PhraseEvidence:
        """The evidence with source and target swapped: *more general* becomes *more specific*."""
        return PhraseEvidence(self.target, self.source, self.kind, turned_relation(self.relation), self.strength)


def find_evidence(source: Sentence, target: Sentence, lists: PhraseLists | None = None) -> tuple[PhraseEvidence, ...]:
    """All evidence of two tagged sentences with lemmas, sorted; for two phrases the strongest of each kind.

    Where phrases occur more than once, evidence for a pair is shared among the occurrences; evidence against is not.
    """
    left, right, occurrences = take_apart(source), take_apart(target), OccurrenceShare(source, target)
    best: dict[tuple[tuple[int, ...], tuple[int, ...], str], PhraseEvidence] = {}
    for kind, finding in _findings(source, target, left, right, lists):
        strength = strengths()[kind, finding.relation]
        if strength > 0 and finding.relation not in AGAINST:
            strength *= occurrences.share(finding.source, finding.target)
        evidence = PhraseEvidence(finding.source, finding.target, kind, finding.relation, strength)
        key = (finding.source, finding.target, kind)
        if strength > 0 and (key not in best or _rank(evidence) > _rank(best[key])):
            best[key] = evidence
    return tuple(sorted(best.values()))


def wanted_kinds(setting: str) -> frozenset[str]:
    """The kinds that the setting `evidence` names: `all`, `none`, or names separated by commas."""
    if setting in {"all", "none"}:
        return frozenset(KINDS if setting == "all" else ())
    names = [name.strip() for name in setting.split(",")]
    for name in names:
        if name not in KINDS:
            raise UsageError(f"evidence: found {name!r}; expected all, none, or some of {', '.join(KINDS)}")
    return frozenset(names)


def _rank(evidence: PhraseEvidence) -> tuple[float, int]:
    return evidence.strength, -RELATIONS.index(evidence.relation)


def _findings(
    source: Sentence, target: Sentence, left: Parts, right: Parts, lists: PhraseLists | None
) -> Iterator[tuple[str, Finding]]:
    sources: dict[str, Iterable[Finding]] = {
        "acronym": acronym_findings(source, target),
        "name": name_findings(source, target),
        "quantity": quantity_findings(left, right),
        "list": lists.findings(left, right) if lists is not None else (),
    }
    for kind, findings in sources.items():
        yield from ((kind, finding) for finding in findings)


@cache
def strengths() -> dict[tuple[str, str], float]:
    """Strength by kind and relation."""
    return read_strengths(grammar_root() / "evidence_strengths.tsv")


def read_strengths(path: Path) -> dict[tuple[str, str], float]:
    """Rows KIND, RELATION, STRENGTH."""
    table: dict[tuple[str, str], float] = {}
    for number, (kind, relation, text) in read_rows(path, 3):
        if kind not in LISTED_KINDS or relation not in RELATIONS or (kind, relation) in table:
            raise GrammarError(path, number, f"{kind!r}, {relation!r}: expected a kind and a relation, each pair once")
        if not text.replace(".", "", 1).isdecimal() or float(text) > 1:
            raise GrammarError(path, number, f"{text!r}: expected a strength from 0 to 1")
        table[kind, relation] = float(text)
    missing = [
        pair for pair in ((kind, relation) for kind in LISTED_KINDS for relation in RELATIONS) if pair not in table
    ]
    if missing:
        raise GrammarError(path, None, f"no row for {missing[0]}; expected every kind with every relation")
    return table


# ---- the paraphrase grammar ----


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
